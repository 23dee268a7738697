/** Text of a TypeScript type, and how tightly it binds. */
export interface Type {
  readonly text: string
  readonly kind: 'atom' | 'intersection' | 'union'
}

export const atom = (text: string): Type => ({ text, kind: 'atom' })

export const unknown = atom('unknown')
export const never = atom('never')

/** A value of any of the types. */
export function union(types: readonly Type[]): Type {
  const distinct = distinctTypes(types).filter(({ text }) => text !== never.text)
  if (distinct.some(({ text }) => text === unknown.text)) return unknown
  const [only = never] = distinct
  if (distinct.length < 2) return only
  return { text: distinct.map(({ text }) => text).join(' | '), kind: 'union' }
}

/** A value of all the types at once. */
export function intersection(types: readonly Type[]): Type {
  const distinct = distinctTypes(types).filter(({ text }) => text !== unknown.text)
  if (distinct.some(({ text }) => text === never.text)) return never
  const [only = unknown] = distinct
  if (distinct.length < 2) return only
  return {
    text: distinct.map((type) => (type.kind === 'union' ? `(${type.text})` : type.text)).join(' & '),
    kind: 'intersection',
  }
}

/** A list of the type. */
export const listOfType = ({ text, kind }: Type): Type => atom(kind === 'atom' ? `${text}[]` : `(${text})[]`)

function distinctTypes(types: readonly Type[]): readonly Type[] {
  return [...new Map(types.map((type) => [type.text, type])).values()]
}
