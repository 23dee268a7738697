import { canonicalJson, isRecord, type Tool } from '@unfold-mcp/core'
import { type Flag, type FlagTable, flagTableOf } from './flags.ts'
import { nameOf, visibleJson } from './name.ts'
import { setProperty } from './property.ts'
import { choiceText } from './validation.ts'
import { jsonValue, type ListField, listIn, listValue, type ValueRead, wordValue } from './value.ts'

/** Writes arguments as command line words; `parseToolArguments` reads them back unchanged. */
export function toArgv(tool: Tool, args: { readonly [name: string]: unknown }): readonly string[] {
  const table = flagTableOf(tool)
  const words: string[] = []
  const others = {}
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined) continue
    const found = wordsAt(table, [name], value)
    if (found === undefined) setProperty(others, name, value)
    else words.push(...found)
  }
  return Object.keys(others).length === 0 ? words : ['--args', visibleJson(others), ...words]
}

/** Undefined when the tool has no flag for this path. */
function wordsAt(table: FlagTable, path: readonly string[], value: unknown): readonly string[] | undefined {
  const flag = table.at(path) ?? otherFlag(table, path)
  if (flag === undefined) return undefined
  return insideWords(table, path, value) ?? plainWords(flag, value) ?? jsonWords(flag, value)
}

/** Flag of a property that the schema does not list but allows. */
function otherFlag(table: FlagTable, path: readonly string[]): Flag | undefined {
  const name = nameOf(path)
  const parameter = table.find(name, true)
  if (parameter === undefined || JSON.stringify(parameter.path) !== JSON.stringify(path)) return undefined
  return { name, text: parameter.text, field: parameter.field }
}

/** An object as flags of its properties, if all of them have flags. */
function insideWords(table: FlagTable, path: readonly string[], value: unknown): readonly string[] | undefined {
  if (!isRecord(value)) return undefined
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  if (entries.length === 0) return undefined
  const words: string[] = []
  for (const [name, inner] of entries) {
    const found = wordsAt(table, [...path, name], inner)
    if (found === undefined) return undefined
    words.push(...found)
  }
  return words
}

function plainWords(flag: Flag, value: unknown): readonly string[] | undefined {
  const { field, text } = flag
  if (value === true && field.kind === 'boolean') return [text]
  if (value === false && field.kind === 'boolean') return [flag.negation ?? `${text}=false`]
  const list = listIn(field)
  if (Array.isArray(value)) return list === undefined ? undefined : listWords(flag, list, value)
  const word = wordFor(value)
  return word !== undefined && means(wordValue(field, word), value) ? flagWords(text, word) : undefined
}

function listWords(flag: Flag, list: ListField, items: readonly unknown[]): readonly string[] | undefined {
  const words = items.flatMap((item) => wordFor(item) ?? [])
  const [first] = words
  if (first === undefined) return undefined
  // For a union, a single word is not read as a list.
  if (flag.field.kind === 'union' && (items.length === 1 || !('value' in wordValue(flag.field, first)))) return undefined
  const read = listValue(list, words)
  if (words.length !== items.length || !('items' in read) || !isSame(read.items, items)) return undefined
  return words.flatMap((word) => flagWords(flag.text, word))
}

/** Undefined for values that a single word cannot express. */
function wordFor(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  const word = typeof value === 'object' && value !== null ? visibleJson(value) : choiceText(value)
  return uncarried.test(word) ? undefined : word
}

// A process argument cannot contain NUL or an unpaired surrogate.
const uncarried = /\0|\p{Cs}/u

// A separate word that begins with a dash would be read as a flag.
const flagWords = (flag: string, word: string): readonly string[] => (word.startsWith('-') ? [`${flag}=${word}`] : [flag, word])

/** Undefined when the schema rejects the value, so that only `--args` can carry it. */
function jsonWords({ name, text, field }: Flag, value: unknown): readonly string[] | undefined {
  const json = visibleJson(value)
  if (!means(jsonValue(field, json), value)) return undefined
  return [`${name.startsWith('-') ? text : name}:=${json}`]
}

const means = (read: ValueRead, value: unknown): boolean => 'value' in read && isSame(read.value, value)

const isSame = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b)
