import { Failure, type JsonSchema } from '@unfold-mcp/core'

/** A parameter that 2026-07-28 clients repeat in a header, so that whoever routes the request need not read its body. */
interface HeaderParameter {
  readonly path: readonly string[]
  readonly header: string
  readonly type: 'string' | 'integer' | 'boolean'
}

const keyword = 'x-mcp-header'
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const known = new WeakMap<JsonSchema, readonly HeaderParameter[]>()

/** The parameters of this schema that have a header; throws `invalid_schema` where the declaration breaks the protocol's rules. */
export function headerParameters(tool: string, schema: JsonSchema): readonly HeaderParameter[] {
  const found = known.get(schema)
  if (found !== undefined) return found
  const made = JSON.stringify(schema).includes(`"${keyword}"`) ? collect(tool, schema) : []
  known.set(schema, made)
  return made
}

/** What is wrong between the headers and the arguments, if anything is. */
export function headerMismatch(
  parameters: readonly HeaderParameter[],
  args: unknown,
  header: (name: string) => string | undefined,
): { readonly header: string; readonly problem: string } | undefined {
  for (const parameter of parameters) {
    const value = valueAt(args, parameter.path)
    if (value === undefined || value === null || typeof value === 'object') continue
    const name = `Mcp-Param-${parameter.header}`
    const sent = header(name)
    const where = `arguments.${parameter.path.join('.')}`
    if (sent === undefined) return { header: name, problem: `the body has ${where} but the header ${name} is missing` }
    const decoded = decodedHeader(sent)
    if (decoded === undefined) return { header: name, problem: `the header ${name} is not valid Base64` }
    if (!agrees(decoded, value, parameter.type)) return { header: name, problem: `the header ${name} and ${where} differ` }
  }
  return undefined
}

function collect(tool: string, schema: JsonSchema): readonly HeaderParameter[] {
  const found: HeaderParameter[] = []
  const visit = (node: unknown, path: readonly string[], reachable: boolean): void => {
    if (typeof node !== 'object' || node === null) return
    if (!Array.isArray(node) && keyword in node) found.push(declared(tool, node, path, reachable))
    for (const [key, child] of Object.entries(node)) {
      if (key === 'properties' && !Array.isArray(node) && typeof child === 'object' && child !== null) {
        for (const [name, property] of Object.entries(child)) visit(property, [...path, name], reachable)
      } else if (!['const', 'enum', 'default', 'examples'].includes(key)) {
        visit(child, path, false)
      }
    }
  }
  visit(schema, [], true)
  const names = found.map(({ header }) => header.toLowerCase())
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw invalid(tool, `two parameters share the header "${twice}"`)
  return found
}

function declared(tool: string, node: object, path: readonly string[], reachable: boolean): HeaderParameter {
  const { [keyword]: header, type } = node as { [keyword]?: unknown; type?: unknown }
  const where = path.join('.')
  if (!reachable || path.length === 0)
    throw invalid(tool, `${keyword} may only stand on properties, not under ${where || 'the root'}`)
  if (typeof header !== 'string' || !token.test(header))
    throw invalid(tool, `${keyword} of "${where}" must be a header name without spaces`)
  if (type !== 'string' && type !== 'integer' && type !== 'boolean') {
    throw invalid(tool, `${keyword} of "${where}" needs a property of type string, integer or boolean`)
  }
  return { path, header, type }
}

function agrees(sent: string, value: unknown, type: HeaderParameter['type']): boolean {
  if (type === 'integer' && typeof value === 'number' && /^-?\d+(\.\d+)?$/u.test(sent)) return Number(sent) === value
  return sent === String(value)
}

/** The text that a header carries, plain or in Base64; `undefined` for Base64 that is not valid. */
export function decodedHeader(value: string): string | undefined {
  if (!value.startsWith('=?base64?') || !value.endsWith('?=')) return value
  const encoded = value.slice('=?base64?'.length, -2)
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u.test(encoded)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0)))
  } catch {
    return undefined
  }
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  let node = root
  for (const key of path) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined
    node = (node as Record<string, unknown>)[key]
  }
  return node
}

function invalid(tool: string, problem: string): Failure {
  return new Failure('invalid_schema', `Tool "${tool}": ${problem}.`, { tool, problem })
}
