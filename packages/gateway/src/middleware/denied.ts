import { printable } from '@unfold-mcp/core'
import { ToolError } from '@unfold-mcp/server'

/** A call that the policy, or the person who was asked, did not permit. It was not sent to the server. */
export class DeniedError extends ToolError {
  readonly reason = 'denied'
  /** The rule that decided, such as `policy.rules[2]`; `undefined`: the default. */
  readonly rule: string | undefined

  constructor(tool: string, rule: string | undefined, because: string) {
    super(`"${printable(tool)}" was not called: ${because}`)
    this.rule = rule
  }
}
