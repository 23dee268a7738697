import { printable } from '@unfold-mcp/core'
import { ToolError } from '@unfold-mcp/server'

/** `approval_pending`: a person may still approve it. `effect_unknown`: an earlier, identical call may have had an effect. */
export type DenialReason = 'denied' | 'approval_pending' | 'effect_unknown'

/** A call that the policy, or the person who was asked, did not permit. It was not sent to the server. */
export class DeniedError extends ToolError {
  /** The rule that decided, such as `policy.rules[2]`; `undefined`: the default. */
  readonly rule: string | undefined

  constructor(tool: string, rule: string | undefined, because: string, reason: DenialReason = 'denied') {
    super(`"${printable(tool)}" was not called: ${because}`, { reason })
    this.rule = rule
  }
}
