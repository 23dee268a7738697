import { Failure } from '../base/failure.ts'
import { isRecord } from '../base/record.ts'
import type { JsonSchema } from './tool.ts'

/** Parameter that 2026-07-28 clients repeat in `Mcp-Param-<header>`, so that proxies can route without reading the body. */
export interface HeaderParameter {
  readonly path: readonly string[]
  readonly header: string
  readonly type: 'string' | 'integer' | 'boolean'
}

const keyword = 'x-mcp-header'
// RFC 9110, `token`.
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/u
const types: readonly unknown[] = ['string', 'integer', 'boolean'] satisfies readonly HeaderParameter['type'][]
/** Keywords whose value maps names to schemas: a definition or property may itself be named `x-mcp-header`. */
const maps = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'])
/** Keywords whose value is data and not a schema. */
const literals = new Set(['const', 'enum', 'default', 'examples'])

const known = new WeakMap<JsonSchema, readonly HeaderParameter[]>()

/** Returns the parameters of a tool that have a header; throws `invalid_schema` where a declaration breaks the protocol's rules. */
export function headerParameters(tool: string, schema: JsonSchema): readonly HeaderParameter[] {
  const found = known.get(schema)
  if (found !== undefined) return found
  const scanned = scan(schema)
  if ('problem' in scanned)
    throw new Failure('invalid_schema', `Tool "${tool}": ${scanned.problem}.`, { tool, problem: scanned.problem })
  const parameters = scanned.declared.map(({ place, header, type }) => ({ path: pathOf(place), header, type }))
  known.set(schema, parameters)
  return parameters
}

/** Returns the first violation of the `x-mcp-header` rules in a schema. Over HTTP, clients must not offer a tool that has one. */
export function headerProblem(schema: JsonSchema): string | undefined {
  const scanned = scan(schema)
  return 'problem' in scanned ? scanned.problem : undefined
}

/** Returns the first disagreement between the headers and the arguments of a call. */
export function headerMismatch(
  parameters: readonly HeaderParameter[],
  args: unknown,
  header: (name: string) => string | undefined,
): { readonly header: string; readonly problem: string } | undefined {
  for (const { path, header: suffix, type } of parameters) {
    const value = valueAt(args, path)
    if (value === undefined || value === null || typeof value === 'object') continue
    const name = `Mcp-Param-${suffix}`
    const sent = header(name)
    const where = `arguments.${path.join('.')}`
    if (sent === undefined) {
      // Clients send no header for an integer that loses digits in a double.
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) continue
      return { header: name, problem: `the body has ${where} but the header ${name} is missing` }
    }
    const decoded = decodeHeader(sent)
    if (decoded === undefined) return { header: name, problem: `the header ${name} is not valid Base64` }
    if (!isEqual(decoded, value, type)) return { header: name, problem: `the header ${name} and ${where} differ` }
  }
  return undefined
}

const base64 = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/u

/** Decodes a header value, plain or `=?base64?…?=`; returns `undefined` for invalid Base64 or UTF-8. */
export function decodeHeader(value: string): string | undefined {
  if (!value.startsWith('=?base64?') || !value.endsWith('?=')) return value
  const encoded = base64.exec(value)?.[1]
  try {
    // Rejects invalid UTF-8, and unlike `TextDecoder` keeps a leading U+FEFF.
    return encoded === undefined ? undefined : decodeURIComponent(percentEncoded(encoded))
  } catch {
    return undefined
  }
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

function percentEncoded(encoded: string): string {
  let text = ''
  let bits = 0
  let count = 0
  for (const char of encoded.replace(/=+$/u, '')) {
    bits = ((bits << 6) | alphabet.indexOf(char)) & 0xfff
    count += 6
    if (count < 8) continue
    count -= 8
    text += `%${((bits >> count) & 0xff).toString(16).padStart(2, '0')}`
  }
  return text
}

/** Position in a schema, linked to its parent: copying paths would be quadratic for a deeply nested schema. */
interface Place {
  readonly parent?: Place
  readonly name: string
}

interface Declared {
  readonly place: Place
  readonly header: string
  readonly type: HeaderParameter['type']
}

function scan(schema: JsonSchema): { readonly declared: readonly Declared[] } | { readonly problem: string } {
  const declared: Declared[] = []
  if (!mentionsKeyword(schema, 0)) return { declared }
  const names = new Set<string>()
  // Iterative, because the nesting depth of the schema is untrusted.
  const open: { readonly node: unknown; readonly place?: Place; readonly isReachable: boolean }[] = [
    { node: schema, isReachable: true },
  ]
  for (const { node, place, isReachable } of open) {
    if (typeof node !== 'object' || node === null) continue
    if (Object.hasOwn(node, keyword)) {
      const { [keyword]: header, type } = node as Readonly<Record<string, unknown>>
      const where = place === undefined ? 'the root' : `"${pathOf(place).join('.')}"`
      if (!isReachable || place === undefined) return { problem: `${keyword} at ${where} is not on a property of an object` }
      if (typeof header !== 'string' || !token.test(header))
        return { problem: `${keyword} of ${where} is not a valid header name` }
      if (!types.includes(type)) return { problem: `${keyword} of ${where} needs a type of string, integer or boolean` }
      const name = header.toLowerCase()
      if (names.has(name)) return { problem: `two parameters have the header ${name}` }
      names.add(name)
      declared.push({ place, header, type: type as HeaderParameter['type'] })
    }
    for (const [key, child] of Object.entries(node)) {
      if (maps.has(key) && !Array.isArray(node) && isRecord(child)) {
        const isProperties = key === 'properties'
        for (const [name, inner] of Object.entries(child))
          open.push({
            node: inner,
            ...(isProperties ? { place: { name, ...(place && { parent: place }) } } : place && { place }),
            isReachable: isReachable && isProperties,
          })
      } else if (!literals.has(key)) open.push({ node: child, ...(place && { place }), isReachable: false })
    }
  }
  return { declared }
}

const shallow = 50

/** Fast path: nearly every schema lacks the keyword. */
function mentionsKeyword(node: object, depth: number): boolean {
  if (depth > shallow || Object.hasOwn(node, keyword)) return true
  return Object.values(node).some(
    (child: unknown) => typeof child === 'object' && child !== null && mentionsKeyword(child, depth + 1),
  )
}

function pathOf(place: Place): readonly string[] {
  const path: string[] = []
  for (let at: Place | undefined = place; at !== undefined; at = at.parent) path.push(at.name)
  return path.reverse()
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  let node = root
  for (const key of path) {
    if (!isRecord(node) || !Object.hasOwn(node, key)) return undefined
    node = node[key]
  }
  return node
}

function isEqual(sent: string, value: unknown, type: HeaderParameter['type']): boolean {
  // `42.0` and `42` are the same integer.
  if (type === 'integer' && typeof value === 'number' && /^-?\d+(\.\d+)?$/u.test(sent)) return Number(sent) === value
  return sent === String(value)
}
