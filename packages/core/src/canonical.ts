/**
 * The canonical JSON text of a value (RFC 8785): keys sorted by UTF-16 code units, no white space, numbers and strings as
 * ECMAScript writes them. `undefined`, functions and symbols are left out of objects and become null in arrays, as in
 * `JSON.stringify`. Throws on a value that JSON cannot hold (a cycle, a bigint, a number that is not finite).
 */
export function canonicalJson(value: unknown): string {
  return write(value, new Set()) ?? 'null'
}

function write(value: unknown, above: Set<object>): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value)
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('JSON has no numbers that are not finite')
      return JSON.stringify(value)
    case 'object':
      return value === null ? 'null' : writeObject(value, above)
    case 'bigint':
      throw new TypeError('JSON has no bigint')
    default:
      return undefined
  }
}

function writeObject(value: object, above: Set<object>): string | undefined {
  if (above.has(value)) throw new TypeError('JSON has no cycles')
  if ('toJSON' in value && typeof value.toJSON === 'function') return write(value.toJSON(), above)
  above.add(value)
  const text = Array.isArray(value)
    ? `[${Array.from(value, (item) => write(item, above) ?? 'null').join(',')}]`
    : `{${Object.keys(value)
        .sort()
        .flatMap((key) => {
          const item = write((value as Record<string, unknown>)[key], above)
          return item === undefined ? [] : [`${JSON.stringify(key)}:${item}`]
        })
        .join(',')}}`
  above.delete(value)
  return text
}
