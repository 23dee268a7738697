/** An expected failure with a message for the model. Unlike other errors, it is not reported to the author. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}
