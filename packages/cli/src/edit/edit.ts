export type Edit = (text: string) => string

export class EditError extends Error {
  override readonly name = 'EditError'
}
