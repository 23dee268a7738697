import type { ToolReason } from '@unfold-mcp/core'

export interface ToolErrorOptions extends ErrorOptions {
  /** Reason in the result, for programs; default: `tool_failed`. */
  readonly reason?: ToolReason
}

/** An expected failure with a message for the model. Unlike other errors, it is not reported to the author. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly reason: ToolReason

  constructor(message: string, { reason = 'tool_failed', ...options }: ToolErrorOptions = {}) {
    super(message, options)
    this.reason = reason
  }
}
