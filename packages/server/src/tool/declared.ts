import { Failure, nearest, printable } from '@unfold-mcp/core'

/** Alternative keys, and the keys that the code uses. */
const synonyms = { description: 'about', inputSchema: 'input', outputSchema: 'output' } as const

type Synonym = keyof typeof synonyms

/** A declaration with canonical keys only. */
export type Declared<T> = Omit<T, Synonym>

/** Every key that a declaration may have. */
export type Keys<T> = { readonly [K in keyof T]-?: true }

/**
 * Returns a declaration with canonical keys, and throws for unknown keys. Every declaration passes through here, so no other code
 * has to know two names. Returns the same object if no key differs.
 */
export function declared<T extends object>(what: string, given: T, known: NoInfer<Keys<T>>): Declared<T> {
  const names = Object.keys(known)
  const keys = Object.keys(given).filter((key) => given[key as keyof T] !== undefined)
  const stranger = keys.find((key) => !Object.hasOwn(known, key))
  if (stranger !== undefined) throw unknownKey(what, stranger, names)
  const differing = Object.keys(synonyms).filter((key): key is Synonym => Object.hasOwn(given, key) && Object.hasOwn(known, key))
  if (differing.length === 0) return given
  const made = { ...given } as Record<string, unknown>
  for (const key of differing) {
    const own = synonyms[key]
    const value = made[key]
    if (value !== undefined && made[own] !== undefined && made[own] !== value) throw twice(what, key, own)
    if (value !== undefined) made[own] = value
    delete made[key]
  }
  return made as Declared<T>
}

function unknownKey(what: string, key: string, known: readonly string[]): Failure {
  // In a short word, two other letters make a different word.
  const closest = nearest(key, known).find((each) => key.length > 4 || each[0] === key[0])
  const remedy = closest === undefined ? `Known keys: ${known.join(', ')}.` : `Did you mean "${closest}"?`
  return new Failure('invalid_declaration', `Unknown key "${printable(key)}" in ${what}. ${remedy}`, { what: `${what}.${key}` })
}

function twice(what: string, key: string, own: string): Failure {
  const message = `"${key}" and "${own}" in ${what} differ, but are two names of one option. Keep "${key}".`
  return new Failure('invalid_declaration', message, { what: `${what}.${key}` })
}
