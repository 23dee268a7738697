import { isRecord } from '../base/record.ts'
import { truncate } from '../base/truncate.ts'
import type { JsonSchema, Tool } from './tool.ts'

/** Formats a tool on one line: `create_issue(repo: string, title: string, body?: string) — Open an issue`. */
export function signature(tool: Tool, limit = 240): string {
  const call = `${tool.name}(${parameters(tool.inputSchema)})`
  const about = firstSentence(tool.description ?? tool.title ?? '')
  const line = about === '' ? call : `${call} — ${about}`
  return truncate(line.replaceAll(/[\r\n\v\f\u2028\u2029]+/gu, ' '), limit)
}

function parameters(schema: JsonSchema, depth = 0): string {
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  const names = Object.keys(properties)
  const ordered = [...names.filter((name) => required.has(name)), ...names.filter((name) => !required.has(name))]
  return ordered.map((name) => `${name}${required.has(name) ? '' : '?'}: ${typeText(properties[name], depth)}`).join(', ')
}

/** Formats the type of a schema, truncated. */
export function typeText(schema: unknown, depth = 0): string {
  if (!isRecord(schema)) return 'any'
  if ('const' in schema) return literal(schema.const)
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return enumText(schema.enum)
  const branches = schema.anyOf ?? schema.oneOf
  if (Array.isArray(branches)) return depth > 2 ? 'any' : union(branches.map((branch) => typeText(branch, depth + 1)))
  if (Array.isArray(schema.type)) return union(schema.type.filter((type) => typeof type === 'string'))
  if (schema.type === 'array') return depth > 2 ? 'array' : `${wrapped(typeText(schema.items, depth + 1))}[]`
  if (schema.type === 'object' && isRecord(schema.properties) && depth < 1) return `{ ${parameters(schema, depth + 1)} }`
  return typeof schema.type === 'string' ? schema.type : 'any'
}

function enumText(values: readonly unknown[]): string {
  const shown = values.slice(0, 6).map(literal)
  return values.length > shown.length ? [...shown, `… ${values.length - shown.length} more`].join(' | ') : shown.join(' | ')
}

function union(texts: readonly string[]): string {
  if (texts.length === 0) return 'any'
  const distinct = [...new Set(texts)]
  const shown = distinct.slice(0, 4)
  return distinct.length > shown.length ? `${shown.join(' | ')} | …` : shown.join(' | ')
}

/** Formats a value as JSON; objects and arrays only by their type, since they may be large. */
function literal(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'array' : 'object'
  return truncate(JSON.stringify(value), 60)
}

const wrapped = (text: string): string => (text.includes(' ') && !text.startsWith('{') ? `(${text})` : text)

/** Returns the first sentence or line of a text. */
export function firstSentence(text: string): string {
  const line = text.trim().split('\n', 1)[0]?.trim() ?? ''
  const end = line.search(/[.!?](\s|$)/u)
  return (end === -1 ? line : line.slice(0, end)).replaceAll(/\s+/gu, ' ')
}
