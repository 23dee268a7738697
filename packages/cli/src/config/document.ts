import { readText } from './formats/text.ts'

/** A value with its position. Children are converted on access. */
export interface Item {
  readonly line: number
  readonly column: number
  readonly value: Value
}

export type Value = string | number | boolean | null | readonly Item[] | ReadonlyMap<string, Item>

export type Document = { readonly root: Item } | { readonly problem: { line: number; column: number; message: string } }

export function formatOf(file: string): 'json' | 'toml' | 'yaml' {
  if (/\.toml$/iu.test(file)) return 'toml'
  return /\.ya?ml$/iu.test(file) ? 'yaml' : 'json'
}

/** Reads a JSON (with comments and trailing commas), TOML or YAML file; undefined if it does not exist. */
export async function readDocument(file: string): Promise<Document | undefined> {
  const read = await readText(file)
  if (read === undefined) return undefined
  if ('problem' in read) return { problem: { line: 1, column: 1, message: read.problem } }
  // Parsers are loaded on demand.
  const format = formatOf(file)
  if (format === 'json') return (await import('./formats/json.ts')).parseJson(read.text)
  if (format === 'toml') return (await import('./formats/toml.ts')).parseToml(read.text)
  return (await import('./formats/yaml.ts')).parseYaml(read.text)
}

export function isList(value: Value): value is readonly Item[] {
  return Array.isArray(value)
}

export function isTable(value: Value): value is ReadonlyMap<string, Item> {
  return value instanceof Map
}

export function typeName(value: Value): string {
  if (value === null) return 'null'
  if (isList(value)) return 'a list'
  return isTable(value) ? 'an object' : `a ${typeof value}`
}

const maxDepth = 100

/** The value as `JSON.parse` would return it; throws if nested too deeply. */
export function toPlain({ value }: Item, depth = 0): unknown {
  if (depth > maxDepth) throw new RangeError('nested too deeply')
  if (isList(value)) return value.map((item) => toPlain(item, depth + 1))
  if (isTable(value)) return Object.fromEntries([...value].map(([key, item]) => [key, toPlain(item, depth + 1)]))
  return value
}
