export const recordOf = (value: unknown): { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as { readonly [name: string]: unknown }) : {}

export const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Sets a key, or removes it for `undefined`; the order of the others stays. */
export function withKey(
  object: { readonly [name: string]: unknown },
  name: string,
  value: unknown,
): { readonly [name: string]: unknown } {
  if (value !== undefined) return { ...object, [name]: value }
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))
}

export const isEmptyObject = (object: { readonly [name: string]: unknown }): boolean => Object.keys(object).length === 0
