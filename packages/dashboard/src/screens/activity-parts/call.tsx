import { unfold } from '../../commands/command.ts'
import { Command } from '../../components/command.tsx'
import { Dialog } from '../../components/dialog.tsx'
import type { Call } from '../../data/contract.ts'
import { formatDate, formatDuration, formatNumber, type MessageKey, t } from '../../locales/translate.ts'
import { href } from '../../router/route.ts'
import { Outcome } from '../outcome.tsx'

const maxParts = 20

/** A call with the requests before and after it: a client that is asked for input answers with a new request. Oldest first. */
function partsOf(call: Call, calls: readonly Call[]): readonly Call[] {
  const parts = [call]
  for (let first = call; parts.length < maxParts; first = parts[0] ?? first) {
    const before = first.continues === undefined ? undefined : calls.find(({ asked }) => asked === first.continues)
    if (before === undefined || parts.includes(before)) break
    parts.unshift(before)
  }
  for (let last = call; parts.length < maxParts; last = parts.at(-1) ?? last) {
    const after = last.asked === undefined ? undefined : calls.find(({ continues }) => continues === last.asked)
    if (after === undefined || parts.includes(after)) break
    parts.push(after)
  }
  return parts
}

const steps: { readonly [step: string]: MessageKey | undefined } = {
  approval_asked: 'step.approval_asked',
  approval_granted: 'step.approval_granted',
  approval_refused: 'step.approval_refused',
  sent: 'step.sent',
  question_asked: 'step.question_asked',
  question_answered: 'step.question_answered',
  question_refused: 'step.question_refused',
}

interface CallDetailProps {
  readonly call: Call
  readonly calls: readonly Call[]
  readonly onClose: () => void
}

/** One call as a timeline. */
export function CallDetail({ call, calls, onClose }: CallDetailProps) {
  const { upstream, tool, client, rule } = call
  const parts = partsOf(call, calls)
  return (
    <Dialog title={`${upstream}: ${tool}`} onClose={onClose}>
      <dl class="facts">
        <dt>{t('clients.name')}</dt>
        <dd class="break">{client}</dd>
        <dt>{t('server')}</dt>
        <dd>
          <a href={href(['servers', upstream])}>{upstream}</a>
        </dd>
        {rule !== undefined && (
          <>
            <dt>{t('call.rule')}</dt>
            <dd class="break">{rule}</dd>
          </>
        )}
      </dl>
      <ol class="timeline">
        {parts.map((part, index) => (
          <Part key={part.id} part={part} isRepeated={index > 0} />
        ))}
      </ol>
      <Command text={unfold('logs', upstream)} />
    </Dialog>
  )
}

function Part({ part, isRepeated }: { readonly part: Call; readonly isRepeated: boolean }) {
  const endedAt = new Date(part.at)
  const startedAt = new Date(endedAt.getTime() - part.ms).toISOString()
  return (
    <>
      <li>
        <strong>{t(isRepeated ? 'call.repeated' : 'call.started')}</strong> <span class="muted">{formatDate(startedAt)}</span>
        <div class="small muted">{t('call.sent', { count: part.sentCharacters })}</div>
      </li>
      {(part.steps ?? []).map(({ step, ms }, index) => {
        const key = steps[step]
        return (
          <li key={`${index}`}>
            {key === undefined ? step : t(key)} <span class="muted">{t('call.after', { time: formatDuration(ms) })}</span>
          </li>
        )
      })}
      <li>
        <Outcome call={part} /> <span class="muted">{t('call.after', { time: formatDuration(part.ms) })}</span>
        <div class="small muted">
          {part.asked === undefined ? t('call.received', { count: formatNumber(part.receivedCharacters) }) : t('call.asked')}
        </div>
      </li>
    </>
  )
}
