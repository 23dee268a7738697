import { isDeepStrictEqual } from 'node:util'
import { isMap, isScalar, type Node, type Pair, parseDocument, stringify, type YAMLMap } from 'yaml'
import { isRecord } from '../record.ts'
import { type Edit, EditError } from './edit.ts'

type Entry = { readonly [key: string]: unknown }

/** Sets the entry `name` in the object `section`. All else stays as it is, to the byte. */
export const setYaml =
  (section: string, name: string, entry: Entry): Edit =>
  (text) => {
    const line = lineBreak(text)
    const block = (indent: string): string =>
      stringify({ [name]: entry }, { lineWidth: 0 })
        .trimEnd()
        .split('\n')
        .map((each) => `${indent}${each}`)
        .join(line)
    return checked(text, setIn(text, { section, name, block, line }), (value) => ({
      ...value,
      [section]: { ...entriesOf(value, section), [name]: entry },
    }))
  }

/** Removes the entry `name` from the object `section`; a file without it stays as it is. */
export const removeYaml =
  (section: string, name: string): Edit =>
  (text) => {
    const before = entriesOf(contentOf(text), section)
    if (!Object.hasOwn(before, name)) return text
    const { [name]: _, ...rest } = before
    return checked(text, removedFrom(text, section, name), (value) => ({ ...value, [section]: rest }))
  }

/** The entry `name` in the object `section` of a text, if it has one. */
export function yamlEntry(text: string, section: string, name: string): unknown {
  const entries = entriesOf(contentOf(text), section)
  return Object.hasOwn(entries, name) ? entries[name] : undefined
}

interface Setting {
  readonly section: string
  readonly name: string
  /** The entry with every line indented. */
  readonly block: (indent: string) => string
  readonly line: string
}

function setIn(text: string, { section, name, block, line }: Setting): string {
  const found = pairIn(rootOf(text), section)
  if (found === undefined) {
    const apart = text === '' || text.endsWith('\n') ? '' : line
    return `${text}${apart}${section}:${line}${block('  ')}${line}`
  }
  const { value } = found
  if (!isMap<Node, Node>(value) || value.items.length === 0) {
    // `section:` or `section: {}`, either of them with nothing in it.
    const end = endOfKey(found)
    const rest = text.slice(value?.range?.[1] ?? end)
    const isEmpty = value === null || (isScalar(value) && value.value === null) || isMap(value)
    if (!isEmpty) throw harmful()
    return `${text.slice(0, end)}:${line}${block('  ')}${rest.startsWith('\n') || rest.startsWith('\r') ? '' : line}${rest}`
  }
  if (value.flow === true) throw harmful()
  const present = pairIn(value, name)
  const indent = indentOf(text, startOf(value.items[0] as Pair<Node, Node>))
  if (present !== undefined) {
    const { start, end } = extentOf(text, present)
    return `${text.slice(0, start)}${block(indent).slice(indent.length)}${text.slice(end)}`
  }
  const { end } = extentOf(text, value.items.at(-1) as Pair<Node, Node>)
  const lineEnd = lineEndFrom(text, end)
  return `${text.slice(0, lineEnd)}${line}${block(indent)}${lineEnd === text.length ? line : ''}${text.slice(lineEnd)}`
}

function removedFrom(text: string, section: string, name: string): string {
  const found = pairIn(rootOf(text), section)
  const value = found?.value
  const present = isMap<Node, Node>(value) && value.flow !== true ? pairIn(value, name) : undefined
  if (found === undefined || present === undefined || !isMap(value)) throw harmful()
  const { start, end } = extentOf(text, present)
  const from = text.lastIndexOf('\n', start - 1) + 1
  const to = lineEndFrom(text, end)
  const after = text.slice(/\r?\n/uy.test(text.slice(to, to + 2)) ? to + (text[to] === '\r' ? 2 : 1) : to)
  if (value.items.length > 1) return `${text.slice(0, from)}${after}`
  // An object with nothing in it, and not no object.
  const key = endOfKey(found)
  return `${text.slice(0, key)}: {}${text.slice(key + 1, from)}${after}`
}

function rootOf(text: string): YAMLMap<Node, Node> | undefined {
  const document = parsed(text)
  const { contents } = document
  if (contents === null) return undefined
  if (!isMap<Node, Node>(contents) || contents.flow === true) throw new EditError('It holds no object in block style.')
  return contents
}

function parsed(text: string) {
  try {
    const document = parseDocument(text)
    if (document.errors.length === 0) return document
  } catch {
    // Nested too deeply to be read.
  }
  throw new EditError('It is not YAML.')
}

function pairIn(map: YAMLMap<Node, Node> | undefined, name: string): Pair<Node, Node> | undefined {
  return map?.items.find(({ key }) => isScalar(key) && key.value === name)
}

const startOf = ({ key }: Pair<Node, Node>): number => key.range?.[0] ?? 0

/** Where the name of an entry ends; the colon follows. */
const endOfKey = ({ key }: Pair<Node, Node>): number => key.range?.[1] ?? 0

/** Where an entry begins, and where the last character of it is that is not white space. */
function extentOf(text: string, pair: Pair<Node, Node>): { readonly start: number; readonly end: number } {
  const start = startOf(pair)
  const end = pair.value?.range?.[1] ?? endOfKey(pair) + 1
  return { start, end: start + text.slice(start, end).trimEnd().length }
}

function lineEndFrom(text: string, from: number): number {
  const [rest = ''] = /^[^\r\n]*/u.exec(text.slice(from)) ?? []
  return from + rest.length
}

function indentOf(text: string, offset: number): string {
  const indent = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  if (!/^ *$/u.test(indent)) throw harmful()
  return indent
}

const lineBreak = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

// An edit is judged by its result: what was to change did, and nothing else.
function checked(before: string, after: string, expected: (value: Entry) => Entry): string {
  let made: unknown
  try {
    made = contentOf(after)
  } catch {
    // As below: it was well-formed before.
  }
  if (!isDeepStrictEqual(made, expected(contentOf(before)))) throw harmful()
  return after
}

function contentOf(text: string): Entry {
  const value: unknown = parsed(text).toJS()
  if (value === null) return {}
  if (!isRecord(value)) throw new EditError('It holds no object.')
  return value
}

function entriesOf(value: Entry, section: string): Entry {
  const found = Object.hasOwn(value, section) ? value[section] : undefined
  return isRecord(found) ? found : {}
}

const harmful = (): EditError => new EditError('It is written in a way that cannot be edited without harm.')
