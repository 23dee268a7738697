/** A text with something changed. */
export type Edit = (text: string) => string

/** A file that cannot be edited, and why. */
export class EditError extends Error {
  override readonly name = 'EditError'
}
