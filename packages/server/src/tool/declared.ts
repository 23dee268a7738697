import { Failure, nearest, printable } from '@unfold-mcp/core'

/** Former names of keys. Authors may still write them; the code uses the current names only. */
const formerNames = { about: 'description', input: 'inputSchema', output: 'outputSchema' } as const

type FormerName = keyof typeof formerNames

/** A declaration with current keys only. */
export type Declared<T> = Omit<T, FormerName>

/** Every key that a declaration may have. */
export type Keys<T> = { readonly [K in keyof T]-?: true }

/**
 * Returns a declaration with current keys, and throws for unknown keys. Every declaration passes through here, so no other code
 * has to know two names. Returns the same object if no key differs.
 */
export function declared<T extends object>(what: string, given: T, known: NoInfer<Keys<T>>): Declared<T> {
  const keys = Object.keys(given).filter((key) => given[key as keyof T] !== undefined)
  const stranger = keys.find((key) => !Object.hasOwn(known, key))
  if (stranger !== undefined) throw unknownKey(what, stranger, Object.keys(known))
  const former = Object.keys(given).filter(isFormerName)
  if (former.length === 0) return given
  const made = { ...given } as Record<string, unknown>
  for (const key of former) {
    const current = formerNames[key]
    const value = made[key]
    if (value !== undefined && made[current] !== undefined && made[current] !== value) throw declaredTwice(what, current, key)
    if (value !== undefined) made[current] = value
    delete made[key]
  }
  return made as Declared<T>
}

const isFormerName = (key: string): key is FormerName => Object.hasOwn(formerNames, key)

const currentName = (key: string): string => (isFormerName(key) ? formerNames[key] : key)

function unknownKey(what: string, key: string, known: readonly string[]): Failure {
  // In a short word, two other letters make a different word.
  const closest = nearest(key, known).find((each) => key.length > 4 || each[0] === key[0])
  const remedy =
    closest === undefined
      ? `Known keys: ${[...new Set(known.map(currentName))].join(', ')}.`
      : `Did you mean "${currentName(closest)}"?`
  return new Failure('invalid_declaration', `Unknown key "${printable(key)}" in ${what}. ${remedy}`, { what: `${what}.${key}` })
}

function declaredTwice(what: string, current: string, former: string): Failure {
  const message = `"${current}" and "${former}" in ${what} differ, but are two names of one option. Keep "${current}".`
  return new Failure('invalid_declaration', message, { what: `${what}.${current}` })
}
