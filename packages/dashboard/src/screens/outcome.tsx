import { Badge } from '../components/basics.tsx'
import type { Call } from '../data/contract.ts'

// Outcomes that a client, a person or the configuration decided. All others are failures, such as `error`, `timeout` and `died`.
const intended = new Set([
  'ok',
  'input_required',
  'cancelled',
  'denied',
  'approval_pending',
  'disabled',
  'rate_limited',
  'shutting_down',
])

/** A denied or cancelled call did what somebody decided: it is no failure. */
export const isFailure = ({ outcome }: Pick<Call, 'outcome'>): boolean => !intended.has(outcome)

/** `approval_pending` is written "approval pending". */
export const outcomeText = (outcome: string): string => outcome.replaceAll('_', ' ')

export function Outcome({ call }: { readonly call: Pick<Call, 'outcome'> }) {
  const tone = call.outcome === 'ok' ? 'ok' : isFailure(call) ? 'fail' : 'neutral'
  return (
    <Badge tone={tone} isDotted>
      {outcomeText(call.outcome)}
    </Badge>
  )
}
