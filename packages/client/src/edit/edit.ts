import { isDeepStrictEqual } from 'node:util'

export type Edit = (text: string) => string

export class EditError extends Error {
  override readonly name = 'EditError'
}

/** Returns the edited text if it parses to exactly the intended value; throws `EditError` otherwise. */
export function verified(after: string, parse: (text: string) => unknown, intended: unknown): string {
  let value: unknown
  try {
    value = parse(after)
  } catch {
    // Reported below.
  }
  if (!isDeepStrictEqual(value, intended)) throw unsafeEdit()
  return after
}

export const unsafeEdit = (): EditError => new EditError('The edit would change more than intended.')

export const lineBreakOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')
