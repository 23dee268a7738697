import { readFileSync } from 'node:fs'
import { code, plain, table } from './markdown.ts'

/** The keywords of JSON Schema that `unfold.schema.json` uses. */
interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: { readonly [key: string]: Schema }
  readonly additionalProperties?: Schema | boolean
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly default?: unknown
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
}

interface Row {
  readonly key: string
  readonly schema: Schema
  readonly isRequired: boolean
}

/** The page about `unfold.json`, from its JSON schema. */
export function configurationPage(schemaFile: string): string {
  const schema: Schema = JSON.parse(readFileSync(schemaFile, 'utf8'))
  const keys = Object.entries(schema.properties ?? {}).filter(([key]) => key !== '$schema')
  return `# Configuration

Every key of \`unfold.json\`, from its [JSON schema](../../packages/gateway/unfold.schema.json).
[The gateway](../../docs/guides/gateway.md) explains how the keys work together. Comments and trailing commas are allowed.

${table(
  ['Key', 'Type', 'Default'],
  keys.map(([key, each]) => [`[${code(key)}](#${key.toLowerCase()})`, code(typeText(each)), defaultText(each)]),
)}

${keys.map(([key, each]) => sectionOf(key, each)).join('\n\n')}
`
}

function sectionOf(key: string, schema: Schema): string {
  const { items, additionalProperties } = schema
  const entry = typeof additionalProperties === 'object' ? additionalProperties : undefined
  const head = [`## \`${key}\``, paragraph(schema)]
  if (entry !== undefined) return joined([...head, ...tablesOf(`${key}.<name>`, entry)])
  if (items?.properties !== undefined) return joined([...head, ...tablesOf(`${key}[]`, items)])
  return joined([...head, ...tablesOf(key, schema)])
}

function paragraph(schema: Schema): string {
  const facts = [`Type: ${code(typeText(schema))}`]
  const value = defaultText(schema)
  if (value !== '') facts.push(`default: ${value}`)
  return `${schema.description === undefined ? '' : `${plain(schema.description)}. `}${facts.join(', ')}.`
}

/** The keys of an object, named from where the section is; objects of several variants have a table for each. */
function tablesOf(key: string, schema: Schema): string[] {
  const variants = (schema.anyOf ?? schema.oneOf ?? []).filter(({ properties }) => properties !== undefined)
  if (variants.length > 1) return variantTables(key, variants)
  const rows = rowsOf('', variants[0] ?? schema)
  const isNested = /[\]>]$/u.test(key)
  return rows.length > 0 && isNested ? [`### \`${key}\``, keyTable(rows)] : [keyTable(rows)]
}

/** A table for each variant, and one for the keys that all of them share. */
function variantTables(key: string, variants: readonly Schema[]): string[] {
  const own = variants.map((variant) => rowsOf('', variant))
  const isShared = (row: Row): boolean =>
    own.every((rows) => rows.some((each) => each.key === row.key && JSON.stringify(each.schema) === JSON.stringify(row.schema)))
  const shared = own[0]?.filter(isShared) ?? []
  const tables = own.flatMap((rows, index) => [
    `### ${variantTitle(key, variants[index] ?? {})}`,
    keyTable(rows.filter((row) => !isShared(row))),
  ])
  return shared.length === 0 ? tables : [...tables, `### \`${key}\`: keys of every variant`, keyTable(shared)]
}

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n\n')

/** Names a variant after the constant that selects it, or else after the key that it requires. */
function variantTitle(key: string, { properties = {}, required = [] }: Schema): string {
  const [name = '', chosen] =
    Object.entries(properties).find(([, each]) => each.const !== undefined && each.const !== 'stdio') ?? []
  return chosen === undefined
    ? `\`${key}\` with \`${required[0]}\``
    : `\`${key}\` with \`${name}: ${JSON.stringify(chosen.const)}\``
}

function keyTable(rows: readonly Row[]): string {
  if (rows.length === 0) return ''
  return table(
    ['Key', 'Type', 'Default', 'Description'],
    rows.map(({ key, schema, isRequired }) => [
      code(key),
      code(typeText(schema)),
      isRequired ? 'required' : defaultText(schema),
      plain(schema.description ?? ''),
    ]),
  )
}

/** The keys below a key, at every depth. */
function rowsOf(prefix: string, schema: Schema): Row[] {
  const { properties = {}, required = [], additionalProperties, items, anyOf = [], oneOf = [] } = schema
  const own = Object.entries(properties).flatMap(([name, each]) => {
    const key = prefix === '' ? name : `${prefix}.${name}`
    return [{ key, schema: each, isRequired: required.includes(name) }, ...rowsOf(key, each)]
  })
  const entries = typeof additionalProperties === 'object' ? rowsOf(`${prefix}.<name>`, additionalProperties) : []
  const elements = items === undefined ? [] : rowsOf(`${prefix}[]`, items)
  return [...own, ...entries, ...elements, ...[...anyOf, ...oneOf].flatMap((each) => rowsOf(prefix, each))]
}

function typeText({ type, enum: values, const: constant, anyOf, oneOf, items, additionalProperties, ...range }: Schema): string {
  if (constant !== undefined) return JSON.stringify(constant)
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ')
  const alternatives = anyOf ?? oneOf
  if (alternatives !== undefined) return [...new Set(alternatives.map(typeText))].join(' | ')
  if (items !== undefined) return `${typeText(items)}[]`
  if (typeof additionalProperties === 'object') return `{ <name>: ${typeText(additionalProperties)} }`
  return `${type ?? 'any'}${rangeText(range)}`
}

function rangeText({ minimum, maximum }: Schema): string {
  // Limits that only keep numbers within what JavaScript and its timers can represent say nothing to a reader.
  const most = maximum !== undefined && maximum < 2 ** 31 - 1 ? maximum : undefined
  if (minimum !== undefined && most !== undefined) return ` (${minimum} to ${most})`
  if (most !== undefined) return ` (up to ${most})`
  return minimum === undefined ? '' : ` (at least ${minimum})`
}

function defaultText({ default: value, properties }: Schema): string {
  // The default of an object with keys only repeats the defaults of its keys.
  return value === undefined || properties !== undefined ? '' : code(JSON.stringify(value))
}
