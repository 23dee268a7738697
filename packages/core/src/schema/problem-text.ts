import { printable } from '../base/names.ts'

const maxListed = 20

/** Values of `enum` for a message, of bounded length. */
export function allowedValues(values: readonly unknown[]): string {
  const listed = values.slice(0, maxListed).map(literalText).join(', ')
  return values.length > maxListed ? `${listed}, … (${values.length} in all)` : listed
}

/** A JSON value for a message, of bounded length. */
export const literalText = (value: unknown): string => printable(JSON.stringify(value) ?? 'nothing', 80)
