/**
 * Serializes a value as canonical JSON (RFC 8785): keys sorted by UTF-16 code units, no white space, numbers and strings as in
 * ECMAScript. `undefined`, functions and symbols are treated as in `JSON.stringify`. Throws for a cycle, a bigint or a number that
 * is not finite.
 */
export function canonicalJson(value: unknown): string {
  return write(value, []) ?? 'null'
}

function write(value: unknown, above: object[]): string | undefined {
  switch (typeof value) {
    case 'string':
      return quoted(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('JSON has no numbers that are not finite')
      return `${value}`
    case 'object':
      return value === null ? 'null' : writeObject(value, above)
    case 'bigint':
      throw new TypeError('JSON has no bigint')
    default:
      return undefined
  }
}

function writeObject(value: object, above: object[]): string | undefined {
  if (above.includes(value)) throw new TypeError('JSON has no cycles')
  if ('toJSON' in value && typeof value.toJSON === 'function') return write(value.toJSON(), above)
  above.push(value)
  const text = Array.isArray(value) ? writeArray(value, above) : writeMembers(value as Members, above)
  above.pop()
  return text
}

function writeArray(items: readonly unknown[], above: object[]): string {
  let text = ''
  for (let i = 0; i < items.length; i++) text += `${i === 0 ? '' : ','}${write(items[i], above) ?? 'null'}`
  return `[${text}]`
}

type Members = { readonly [key: string]: unknown }

function writeMembers(members: Members, above: object[]): string {
  let text = ''
  for (const key of sorted(Object.keys(members))) {
    const item = write(members[key], above)
    if (item !== undefined) text += (text === '' ? '{' : ',') + named(key) + item
  }
  return text === '' ? '{}' : `${text}}`
}

// With more keys, `Array.sort` is faster.
const maxInsertionSortKeys = 24

/** Insertion sort in place: most objects have few keys, often sorted already. */
function sorted(keys: string[]): string[] {
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] ?? ''
    let at = i
    for (; at > 0 && (keys[at - 1] ?? '') > key; at--) {
      if (keys.length > maxInsertionSortKeys) return keys.sort()
      keys[at] = keys[at - 1] ?? ''
    }
    keys[at] = key
  }
  return keys
}

// Text that needs no escaping.
const plain = /^[ !#-[\]-\ud7ff]*$/

const quoted = (text: string): string => (plain.test(text) ? `"${text}"` : JSON.stringify(text))

// Schemas repeat the same few keywords.
const names = new Map<string, string>()
const maxCachedNames = 1_000
const maxCachedLength = 32

function named(key: string): string {
  const found = names.get(key)
  if (found !== undefined) return found
  const made = `${quoted(key)}:`
  if (names.size < maxCachedNames && key.length <= maxCachedLength) names.set(key, made)
  return made
}
