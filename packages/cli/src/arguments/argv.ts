import { canonicalJson, isRecord, type Tool } from '@unfold-mcp/core'
import { type Flag, type FlagTable, flagTableOf } from './flags.ts'
import { nameOf, visibleJson } from './name.ts'
import { setProperty } from './property.ts'
import { choiceText } from './validation.ts'
import { jsonValue, type ListField, listIn, listValue, type ValueRead, wordValue } from './value.ts'

/** The words that say these arguments on the command line. `parseToolArguments` reads them back as exactly what they were. */
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

/** Undefined when the tool has no name for what is at this path. */
function wordsAt(table: FlagTable, path: readonly string[], value: unknown): readonly string[] | undefined {
  const flag = table.at(path) ?? otherFlag(table, path)
  if (flag === undefined) return undefined
  return insideWords(table, path, value) ?? plainWords(flag, value) ?? jsonWords(flag, value)
}

/** A property that the schema does not list, where it takes any. */
function otherFlag(table: FlagTable, path: readonly string[]): Flag | undefined {
  const name = nameOf(path)
  const parameter = table.find(name, true)
  if (parameter === undefined || JSON.stringify(parameter.path) !== JSON.stringify(path)) return undefined
  return { name, text: parameter.text, field: parameter.field }
}

/** An object by what is in it, when all of that has names of its own. */
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
  // The first word for a field that may also be no list is read as that, until the second comes.
  if (flag.field.kind === 'union' && (items.length === 1 || !('value' in wordValue(flag.field, first)))) return undefined
  const read = listValue(list, words)
  if (words.length !== items.length || !('items' in read) || !isSame(read.items, items)) return undefined
  return words.flatMap((word) => flagWords(flag.text, word))
}

/** A value as one would type it; undefined when a command line cannot carry it so. */
function wordFor(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  const word = typeof value === 'object' && value !== null ? visibleJson(value) : choiceText(value)
  return uncarried.test(word) ? undefined : word
}

// No process can be given a null character or half of a pair.
const uncarried = /\0|\p{Cs}/u

// A word that begins with a dash could be taken for a flag.
const flagWords = (flag: string, word: string): readonly string[] => (word.startsWith('-') ? [`${flag}=${word}`] : [flag, word])

/** Undefined when the schema does not take the value, so that only all arguments together can carry it. */
function jsonWords({ name, text, field }: Flag, value: unknown): readonly string[] | undefined {
  const json = visibleJson(value)
  if (!means(jsonValue(field, json), value)) return undefined
  return [`${name.startsWith('-') ? text : name}:=${json}`]
}

const means = (read: ValueRead, value: unknown): boolean => 'value' in read && isSame(read.value, value)

const isSame = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b)
