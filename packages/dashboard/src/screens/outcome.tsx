import { Badge } from '../components/basics.tsx'
import type { Call } from '../data/contract.ts'

const intended = new Set(['ok', 'cancelled', 'denied', 'rejected', 'held', 'blocked', 'asked'])

/** A denied or cancelled call did what somebody decided: it is no failure. */
export const isFailure = ({ outcome }: Pick<Call, 'outcome'>): boolean => !intended.has(outcome)

export function Outcome({ call }: { readonly call: Pick<Call, 'outcome'> }) {
  const tone = call.outcome === 'ok' ? 'ok' : isFailure(call) ? 'fail' : 'neutral'
  return <Badge tone={tone}>{call.outcome}</Badge>
}
