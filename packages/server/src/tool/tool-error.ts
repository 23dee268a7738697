/** A failure that a handler foresaw, in words for the model. Throwing it is an answer, not a fault to report to the author. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}
