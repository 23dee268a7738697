import { type Edit, EditError, lineBreakOf, unsafeEdit, verified } from '@unfold-mcp/client/edit'
import { isRecord } from '@unfold-mcp/core'
import { isMap, isScalar, isSeq, type Node, type Pair, parseDocument, stringify, type YAMLMap } from 'yaml'

type Entry = { readonly [key: string]: unknown }

/** Sets entry `name` of mapping `section`; everything else stays byte-identical. */
export const setYaml =
  (section: string, name: string, entry: Entry): Edit =>
  (text) => {
    const line = lineBreakOf(text)
    const block = (indent: string): string => indented(stringify({ [name]: entry }, { lineWidth: 0 }), indent, line)
    return checked(text, setIn(text, { section, name, block, line }), (value) => ({
      ...value,
      [section]: { ...entriesOf(value, section), [name]: entry },
    }))
  }

/** Removes entry `name` of mapping `section`, if present. */
export const removeYaml =
  (section: string, name: string): Edit =>
  (text) => {
    const before = entriesOf(contentOf(text), section)
    if (!Object.hasOwn(before, name)) return text
    const { [name]: _, ...rest } = before
    return checked(text, removedFrom(text, section, name), (value) => ({ ...value, [section]: rest }))
  }

export function yamlEntry(text: string, section: string, name: string): unknown {
  const entries = entriesOf(contentOf(text), section)
  return Object.hasOwn(entries, name) ? entries[name] : undefined
}

/** Sets the list item of `section` with this name; everything else stays byte-identical. */
export const setYamlItem =
  (section: string, name: string, entry: Entry): Edit =>
  (text) => {
    const line = lineBreakOf(text)
    const item = { name, ...entry }
    const block = (indent: string): string => indented(stringify([item], { lineWidth: 0 }), indent, line)
    return checked(text, setItemIn(text, { section, name, block, line }), (value) => {
      const items = itemsOf(value, section)
      const at = items.findIndex((each) => isNamed(each, name))
      return { ...value, [section]: at === -1 ? [...items, item] : items.with(at, item) }
    })
  }

/** Removes the list item of `section` with this name, if present. */
export const removeYamlItem =
  (section: string, name: string): Edit =>
  (text) => {
    const items = itemsOf(contentOf(text), section)
    if (!items.some((each) => isNamed(each, name))) return text
    return checked(text, withoutItem(text, section, name), (value) => ({
      ...value,
      [section]: items.filter((each) => !isNamed(each, name)),
    }))
  }

/** The list item of `section` with this name, without its `name` field. */
export function yamlItem(text: string, section: string, name: string): unknown {
  const found = itemsOf(contentOf(text), section).find((each) => isNamed(each, name))
  if (!isRecord(found)) return undefined
  const { name: _, ...entry } = found
  return entry
}

interface Setting {
  readonly section: string
  readonly name: string
  /** The entry, with every line indented. */
  readonly block: (indent: string) => string
  readonly line: string
}

const indented = (text: string, indent: string, line: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((each) => `${indent}${each}`)
    .join(line)

function setIn(text: string, { section, name, block, line }: Setting): string {
  const found = pairIn(rootOf(text), section)
  if (found === undefined) return appended(text, section, block, line)
  const { value } = found
  if (!isMap<Node, Node>(value) || value.items.length === 0) return filled(text, found, block, line)
  if (value.flow === true) throw unsafeEdit()
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

function setItemIn(text: string, { section, name, block, line }: Setting): string {
  const found = pairIn(rootOf(text), section)
  if (found === undefined) return appended(text, section, block, line)
  const { value } = found
  if (!isSeq<Node>(value) || value.items.length === 0) return filled(text, found, block, line)
  if (value.flow === true) throw unsafeEdit()
  const indent = indentOf(text, dashOf(text, value.items[0] as Node))
  const present = value.items.find((item) => isNamedNode(item, name))
  const { dash, end } = itemExtent(text, present ?? (value.items.at(-1) as Node))
  if (present !== undefined) return `${text.slice(0, dash)}${block(indent).slice(indent.length)}${text.slice(end)}`
  const lineEnd = lineEndFrom(text, end)
  return `${text.slice(0, lineEnd)}${line}${block(indent)}${lineEnd === text.length ? line : ''}${text.slice(lineEnd)}`
}

function appended(text: string, section: string, block: Setting['block'], line: string): string {
  const apart = text === '' || text.endsWith('\n') ? '' : line
  return `${text}${apart}${section}:${line}${block('  ')}${line}`
}

/** Fills an empty section: `section:`, `section: {}` or `section: []`. */
function filled(text: string, found: Pair<Node, Node>, block: Setting['block'], line: string): string {
  const { value } = found
  const isEmpty =
    value === null || (isScalar(value) && value.value === null) || ((isMap(value) || isSeq(value)) && value.items.length === 0)
  if (!isEmpty) throw unsafeEdit()
  const end = endOfKey(found)
  const rest = text.slice(value?.range?.[1] ?? end)
  return `${text.slice(0, end)}:${line}${block('  ')}${/^[\r\n]/u.test(rest) ? '' : line}${rest}`
}

function withoutItem(text: string, section: string, name: string): string {
  const found = pairIn(rootOf(text), section)
  const value = found?.value
  const item = isSeq<Node>(value) && value.flow !== true ? value.items.find((each) => isNamedNode(each, name)) : undefined
  if (found === undefined || item === undefined || !isSeq(value)) throw unsafeEdit()
  const { dash, end } = itemExtent(text, item)
  return withoutLines(text, { start: dash, end, found, rest: value.items.length > 1 ? undefined : '[]' })
}

function removedFrom(text: string, section: string, name: string): string {
  const found = pairIn(rootOf(text), section)
  const value = found?.value
  const present = isMap<Node, Node>(value) && value.flow !== true ? pairIn(value, name) : undefined
  if (found === undefined || present === undefined || !isMap(value)) throw unsafeEdit()
  return withoutLines(text, { ...extentOf(text, present), found, rest: value.items.length > 1 ? undefined : '{}' })
}

interface Lines {
  readonly start: number
  readonly end: number
  readonly found: Pair<Node, Node>
  /** Text for an empty section, when the last entry was removed. */
  readonly rest: string | undefined
}

function withoutLines(text: string, { start, end, found, rest }: Lines): string {
  const from = text.lastIndexOf('\n', start - 1) + 1
  const to = lineEndFrom(text, end)
  const after = text.slice(to).replace(/^\r?\n/u, '')
  if (rest === undefined) return `${text.slice(0, from)}${after}`
  // Keep an empty mapping or list instead of null.
  const key = endOfKey(found)
  return `${text.slice(0, key)}: ${rest}${text.slice(key + 1, from)}${after}`
}

function dashOf(text: string, item: Node): number {
  const at = text.lastIndexOf('-', item.range?.[0] ?? 0)
  if (at === -1 || text.slice(at + 1, item.range?.[0]).trim() !== '') throw unsafeEdit()
  return at
}

function itemExtent(text: string, item: Node): { readonly dash: number; readonly end: number } {
  const start = item.range?.[0] ?? 0
  return { dash: dashOf(text, item), end: start + text.slice(start, item.range?.[1]).trimEnd().length }
}

const isNamedNode = (item: Node, name: string): boolean => isMap(item) && item.get('name') === name

function rootOf(text: string): YAMLMap<Node, Node> | undefined {
  const document = parsed(text)
  const { contents } = document
  if (contents === null) return undefined
  if (!isMap<Node, Node>(contents) || contents.flow === true)
    throw new EditError('The file must contain a mapping in block style.')
  return contents
}

function parsed(text: string) {
  try {
    const document = parseDocument(text)
    if (document.errors.length === 0) return document
  } catch {
    // Nested too deeply.
  }
  throw new EditError('Invalid YAML.')
}

function pairIn(map: YAMLMap<Node, Node> | undefined, name: string): Pair<Node, Node> | undefined {
  return map?.items.find(({ key }) => isScalar(key) && key.value === name)
}

const startOf = ({ key }: Pair<Node, Node>): number => key.range?.[0] ?? 0

/** End of the key; the colon follows. */
const endOfKey = ({ key }: Pair<Node, Node>): number => key.range?.[1] ?? 0

/** Range of an entry without trailing whitespace. */
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
  if (!/^ *$/u.test(indent)) throw unsafeEdit()
  return indent
}

const checked = (before: string, after: string, intended: (value: Entry) => Entry): string =>
  verified(after, contentOf, intended(contentOf(before)))

function contentOf(text: string): Entry {
  const value: unknown = parsed(text).toJS()
  if (value === null) return {}
  if (!isRecord(value)) throw new EditError('The file must contain a mapping.')
  return value
}

function entriesOf(value: Entry, section: string): Entry {
  const found = Object.hasOwn(value, section) ? value[section] : undefined
  return isRecord(found) ? found : {}
}

function itemsOf(value: Entry, section: string): readonly unknown[] {
  const found = Object.hasOwn(value, section) ? value[section] : undefined
  return Array.isArray(found) ? found : []
}

const isNamed = (item: unknown, name: string): boolean => isRecord(item) && item.name === name
