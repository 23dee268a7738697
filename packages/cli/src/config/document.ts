import { readText } from './formats/text.ts'

/** A value in a file, and where it stands. What an object or array holds is looked at when it is asked for. */
export interface Item {
  readonly line: number
  readonly column: number
  readonly value: Value
}

export type Value = string | number | boolean | null | readonly Item[] | ReadonlyMap<string, Item>

/** A file that was read: its content, or what is wrong with it and where. */
export type Document = { readonly root: Item } | { readonly problem: { line: number; column: number; message: string } }

/** How a file is written, by its name. */
export function formatOf(file: string): 'json' | 'toml' | 'yaml' {
  if (/\.toml$/iu.test(file)) return 'toml'
  return /\.ya?ml$/iu.test(file) ? 'yaml' : 'json'
}

/** Reads a file of JSON (comments, trailing commas and a byte-order mark allowed), TOML or YAML; nothing when there is none. */
export async function readDocument(file: string): Promise<Document | undefined> {
  const read = await readText(file)
  if (read === undefined) return undefined
  if ('problem' in read) return { problem: { line: 1, column: 1, message: read.problem } }
  // Loaded when there is something to read: most folders have files of one kind only.
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

/** What kind of value it is, in words. */
export function typeName(value: Value): string {
  if (value === null) return 'null'
  if (isList(value)) return 'a list'
  return isTable(value) ? 'an object' : `a ${typeof value}`
}

const maxDepth = 100

/** The value without locations, as `JSON.parse` would give it; throws for one that is nested too deeply to be meant. */
export function toPlain({ value }: Item, depth = 0): unknown {
  if (depth > maxDepth) throw new RangeError('nested too deeply')
  if (isList(value)) return value.map((item) => toPlain(item, depth + 1))
  if (isTable(value)) return Object.fromEntries([...value].map(([key, item]) => [key, toPlain(item, depth + 1)]))
  return value
}
