import { printable } from '@unfold-mcp/core'
import type { Gateway, UpstreamStatus } from '@unfold-mcp/gateway'
import { formatNumber, plural } from '../text/number.ts'
import { safeText } from '../text/safe.ts'
import { formatDuration, toolCount } from './format.ts'
import { signInText } from './sign-in-text.ts'

/** Removes secrets from server output. */
export type Clean = (text: string) => string

/** Status of a server, to print after its name. */
export function serverLine(status: UpstreamStatus, offered: number, clean: Clean = (text) => text): string {
  const { name, address, state, tools } = status
  switch (state) {
    case 'ready':
      return `ready, ${toolCount(offered, tools)}`
    case 'degraded':
      return errorText(status, clean)
    case 'starting':
    case 'installing':
      return progressText(status)
    case 'idle':
      return `idle, starts on first call, ${plural(tools, 'cached tool')}`
    case 'needs_login':
      return `requires authentication; ${signInText({ name, ...(address !== undefined && { address }) })}`
    case 'disabled':
    case 'stopped':
      return state
    default:
      return `${errorText(status, clean)} (${attemptText(status)})`
  }
}

export function progressText({ state, forMs, attempt = 1, isQueued }: UpstreamStatus): string {
  if (isQueued === true) return 'queued until other servers are installed'
  return `${state}, ${formatDuration(Math.max(1_000, forMs))}, attempt ${attempt}`
}

/** The last error without the server name, which precedes it. */
export function errorText(
  { name, lastError = 'failed' }: Pick<UpstreamStatus, 'name' | 'lastError'>,
  clean: Clean = (text) => text,
): string {
  const text = clean(lastError)
    .replace(`server "${printable(name)}" `, '')
    .replace(/^is /u, '')
  return safeText(text, { limit: 600 })
}

export function attemptText({ attempt = 1, nextRetryInMs }: Pick<UpstreamStatus, 'attempt' | 'nextRetryInMs'>): string {
  const next = nextRetryInMs === undefined ? '' : `, next attempt in ${formatDuration(nextRetryInMs)}`
  return `attempt ${attempt}${next}`
}

/** Counts by state, then one line per server. */
export function summaryLines({ upstreams, notStarted, source, trust }: Gateway, clean: Clean): readonly string[] {
  const statuses = upstreams.statuses()
  const width = nameWidth([...statuses.map(({ name }) => name), ...notStarted.keys()])
  const line = (name: string, status: string): string => `  ${safeText(name).padEnd(width)}  ${status}`
  return [
    `Servers: ${countsText(statuses, notStarted.size)}`,
    ...[...notStarted].map(([name, [problem]]) => line(name, notStartedText(problem?.message))),
    ...statuses.map((status) => {
      const held = trust.held(status.name).length
      const review = held === 0 ? '' : `, ${formatNumber(held)} held for review: unfold review ${safeText(status.name)}`
      return line(status.name, `${serverLine(status, source.toolCount(status.name), clean)}${review}`)
    }),
  ]
}

export const notStartedText = (problem = 'incomplete configuration'): string => `not started: ${safeText(problem)}`

export const nameWidth = (names: readonly string[]): number => Math.max(0, ...names.map((name) => safeText(name).length))

/** Names of states in the output, where they differ. */
export const stateLabels: { readonly [state: string]: string } = { needs_login: 'needs sign-in', idle: 'idle' }

function countsText(statuses: readonly UpstreamStatus[], notStarted: number): string {
  const counts = new Map<string, number>()
  for (const { state } of statuses) {
    const label = state === 'reconnecting' ? 'failed' : (stateLabels[state] ?? state)
    counts.set(label, (counts.get(label) ?? 0) + 1)
  }
  if (notStarted > 0) counts.set('not started', notStarted)
  return [...counts].map(([label, count]) => `${formatNumber(count)} ${label}`).join(', ')
}
