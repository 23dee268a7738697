import { unfold } from '../commands/command.ts'
import { Badge, type Tone } from '../components/basics.tsx'
import type { Server, ServerState } from '../data/contract.ts'
import { formatDuration, t } from '../locales/translate.ts'

// Red is for failures only. A state that somebody chose is neutral.
const tones: { readonly [S in ServerState | 'not_started']: Tone } = {
  not_started: 'fail',
  ready: 'ok',
  starting: 'info',
  installing: 'info',
  reconnecting: 'warn',
  degraded: 'warn',
  needs_login: 'warn',
  failed: 'fail',
  disabled: 'neutral',
  idle: 'neutral',
  stopped: 'neutral',
}

export const toneOf = (state: ServerState | 'not_started'): Tone => tones[state] ?? 'neutral'

export function State({ state }: { readonly state: ServerState | 'not_started' }) {
  return (
    <Badge tone={toneOf(state)} isDotted>
      {t(`state.${state}`)}
    </Badge>
  )
}

/** Why a server is in its state, in the words of the gateway. */
export function reasonOf({ state, lastError, lastOutput, nextRetryInMs }: Server): string {
  const retry = nextRetryInMs === undefined ? '' : ` ${t('server.retry', { time: formatDuration(nextRetryInMs) })}`
  if (state === 'failed' || state === 'degraded' || state === 'reconnecting' || state === 'needs_login')
    return `${lastError ?? t(`reason.${state}`)}${retry}`
  if ((state === 'starting' || state === 'installing') && lastOutput !== undefined) return lastOutput
  return t(`reason.${state}`)
}

/** The command for the next step. */
export function nextStep({ name, state, address }: Server): string | undefined {
  if (state === 'needs_login') return unfold('login', address ?? name)
  if (state === 'failed' || state === 'degraded') return unfold('restart', name)
  return state === 'disabled' ? unfold('enable', name) : undefined
}
