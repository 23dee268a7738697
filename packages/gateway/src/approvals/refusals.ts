import { printable } from '@unfold-mcp/core'
import { ToolError } from '@unfold-mcp/server'
import type { ProxiedCall } from '../middleware/chain.ts'
import { DeniedError } from '../middleware/denied.ts'
import { reasonText, ruleText } from '../policy/middleware.ts'
import type { Verdict } from '../policy/verdict.ts'

/** A call that waits for a person, or whose earlier attempt may have had an effect. It was not sent now. */
export class ApprovalError extends ToolError {
  readonly reason: 'approval_pending' | 'effect_unknown'

  constructor(tool: string, reason: ApprovalError['reason'], because: string) {
    super(`"${printable(tool)}" was not called: ${because}`)
    this.reason = reason
  }
}

export const denied = ({ tool }: ProxiedCall, verdict: Verdict, because: string): DeniedError =>
  new DeniedError(tool, verdict.rule, `${ruleText(verdict)} requires approval, and ${because}.${reasonText(verdict)}`)

export const changed = (call: ProxiedCall, verdict: Verdict): DeniedError =>
  denied(call, verdict, 'the tool or the policy changed meanwhile. Calling again asks the user again')

/** The reply before the host gives up on the call. */
export const pending = ({ tool }: ProxiedCall): ApprovalError =>
  new ApprovalError(
    tool,
    'approval_pending',
    'it waits for the approval of a person. Ask the user to run "unfold approvals", then call it again with the same arguments.',
  )

export const effectUnknown = ({ tool }: ProxiedCall, because: string): ApprovalError =>
  new ApprovalError(tool, 'effect_unknown', because)
