import { isRecord } from '../base/record.ts'
import type { JsonSchema } from '../tool/tool.ts'
import { listOf } from './form/reader.ts'
import { acceptsText, patternExample } from './pattern/example.ts'

const maxDepth = 6

/** Generates a small value for a schema without a validator, to show how a tool is called. */
export function exampleOf(schema: unknown, depth = 0): unknown {
  if (!isRecord(schema) || depth > maxDepth) return null
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  const [given] = listOf(schema.examples)
  if (given !== undefined) return given
  const [allowed] = listOf(schema.enum)
  if (allowed !== undefined) return allowed
  const [branch] = listOf(schema.anyOf ?? schema.oneOf)
  if (branch !== undefined && schema.type === undefined) return exampleOf(branch, depth + 1)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  const make = typeof type === 'string' && Object.hasOwn(makers, type) ? makers[type] : undefined
  return make?.(schema, depth) ?? (type === undefined && isRecord(schema.properties) ? objectExample(schema, depth) : null)
}

/**
 * Corrects arguments for an object schema: keeps valid ones, fills missing ones with examples, and drops or replaces the rest.
 */
export function correctArguments(
  schema: JsonSchema,
  given: unknown,
  wrong: ReadonlySet<string>,
): { readonly [name: string]: unknown } {
  const properties = propertiesOf(schema)
  const source = isRecord(given) ? given : {}
  const kept = Object.keys(source).filter(
    (name) => Object.hasOwn(properties, name) || (schema.additionalProperties !== false && !wrong.has(name)),
  )
  const entries = kept.map((name) => [name, wrong.has(name) ? exampleOf(properties[name]) : source[name]] as const)
  const missing = requiredOf(schema).filter((name) => !Object.hasOwn(source, name))
  return Object.fromEntries([...entries, ...missing.map((name) => [name, exampleOf(properties[name])] as const)])
}

const makers: { readonly [type: string]: (schema: JsonSchema, depth: number) => unknown } = {
  string: (schema) => stringExample(schema),
  integer: (schema) => Math.ceil(numberExample(schema)),
  number: (schema) => numberExample(schema),
  boolean: () => true,
  null: () => null,
  array: (schema, depth) => (schema.minItems === undefined && depth > 1 ? [] : [exampleOf(schema.items, depth + 1)]),
  object: (schema, depth) => objectExample(schema, depth),
}

function objectExample(schema: JsonSchema, depth: number): unknown {
  const properties = propertiesOf(schema)
  return Object.fromEntries(requiredOf(schema).map((name) => [name, exampleOf(properties[name], depth + 1)]))
}

const formats: { readonly [format: string]: string } = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  duration: 'P1D',
  email: 'name@example.com',
  'idn-email': 'name@example.com',
  uri: 'https://example.com/',
  iri: 'https://example.com/',
  url: 'https://example.com/',
  'uri-reference': '/path',
  'iri-reference': '/path',
  'uri-template': 'https://example.com/{id}',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  'json-pointer': '/name',
  'relative-json-pointer': '0/name',
  regex: '^text$',
}

const maxPadding = 1_000
const maxShownPattern = 100

function stringExample({ format, pattern, minLength, maxLength }: JsonSchema): string {
  const min = typeof minLength === 'number' && minLength <= maxPadding ? minLength : 0
  const max = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY
  const known = typeof format === 'string' && Object.hasOwn(formats, format) ? formats[format] : undefined
  if (typeof pattern !== 'string') return known ?? 'text'.padEnd(min, 'x').slice(0, Math.max(0, max))
  // A pattern that is not supported here usually describes the format.
  if (known !== undefined && acceptsText(pattern, known) !== false) return known
  return patternExample(pattern, { min, max }) ?? `<matches ${cut(pattern)}>`
}

// Shows the pattern instead of a value that would be wrong.
const cut = (pattern: string): string => (pattern.length > maxShownPattern ? `${pattern.slice(0, maxShownPattern)}…` : pattern)

function numberExample({ minimum, exclusiveMinimum, maximum, multipleOf }: JsonSchema): number {
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : undefined
  const from = (min: number): number => (step === undefined ? min : Math.ceil(min / step) * step)
  if (typeof minimum === 'number') return from(minimum)
  if (typeof exclusiveMinimum === 'number') return from(exclusiveMinimum + 1)
  return typeof maximum === 'number' && maximum < (step ?? 1) ? maximum : (step ?? 1)
}

const propertiesOf = ({ properties }: JsonSchema): { readonly [name: string]: unknown } =>
  isRecord(properties) ? properties : {}

const requiredOf = ({ required }: JsonSchema): readonly string[] => listOf(required).filter((name) => typeof name === 'string')
