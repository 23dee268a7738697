import type { ProxiedCall } from '../middleware/chain.ts'
import { DeniedError } from '../middleware/denied.ts'
import { reasonText, ruleText } from '../policy/middleware.ts'
import type { Verdict } from '../policy/verdict.ts'

export const denied = ({ tool }: ProxiedCall, verdict: Verdict, because: string): DeniedError =>
  new DeniedError(tool, verdict.rule, `${ruleText(verdict)} requires approval, and ${because}.${reasonText(verdict)}`)

export const changed = (call: ProxiedCall, verdict: Verdict): DeniedError =>
  denied(call, verdict, 'the tool or the policy changed meanwhile. Calling again asks the user again')

/** The reply before the host gives up on the call. */
export const pending = ({ tool }: ProxiedCall, { rule }: Verdict): DeniedError =>
  new DeniedError(
    tool,
    rule,
    'it waits for the approval of a person. Ask the user to run "unfold approvals", then call it again with the same arguments.',
    'approval_pending',
  )

export const effectUnknown = ({ tool }: ProxiedCall, { rule }: Verdict, because: string): DeniedError =>
  new DeniedError(tool, rule, because, 'effect_unknown')
