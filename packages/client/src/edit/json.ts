import { isRecord } from '@unfold-mcp/core'
// Not `modify`: it reformats the lines around the edit, moves or deletes comments, and breaks `{"a":1,}` and `[1, 2]` on removal.
import { createScanner, findNodeAtLocation, type Node } from 'jsonc-parser'
import { type JsoncProblem, parseJsonc } from '../config/jsonc.ts'
import { type Edit, EditError, lineBreakOf, verified } from './edit.ts'

export type Path = readonly string[]

/** Sets the value at `path`; everything else, including comments and formatting, stays byte-identical. */
export const setJson =
  (path: Path, value: unknown): Edit =>
  (text) =>
    checked(text, (given, root) => setIn(given, root, path, value), withValue(path, value))

/** Appends a value to the list at `path`, creating the list if needed. */
export const appendJson =
  (path: Path, value: unknown): Edit =>
  (text) => {
    const present = valueAt(plainOf(rootOf(text)), path)
    if (present === undefined) return setJson(path, [value])(text)
    if (!Array.isArray(present)) throw new EditError(`"${path.join('.')}" is not a list.`)
    return checked(
      text,
      (given, root) => {
        const list = nodeAt(root, path)
        return inserted(given, list, valueText(given, value, childIndent(given, list)))
      },
      withValue(path, [...present, value]),
    )
  }

/** Removes the value at `path`, if present. */
export const removeJson =
  (path: Path): Edit =>
  (text) => {
    const root = rootOf(text)
    if (findNodeAtLocation(root, [...path]) === undefined) return text
    return checked(text, () => removed(text, nodeAt(root, path)), withoutValue(path))
  }

/** Removes an item of the list at `path`, and the list with its last item. */
export const removeItemJson =
  (path: Path, index: number): Edit =>
  (text) => {
    const present = valueAt(plainOf(rootOf(text)), path)
    if (!Array.isArray(present)) throw new EditError(`"${path.join('.')}" is not a list.`)
    if (present.length === 1 && index === 0) return removeJson(path)(text)
    return checked(
      text,
      (given, root) => {
        const item = nodeAt(root, path).children?.[index]
        return item === undefined ? given : removed(given, item)
      },
      withValue(path, present.toSpliced(index, 1)),
    )
  }

export function jsonAt(text: string, path: Path): unknown {
  return valueAt(plainOf(rootOf(text)), path)
}

function checked(text: string, edit: (given: string, root: Node) => string, intended: (before: unknown) => unknown): string {
  const given = text.trim() === '' ? '{}\n' : text
  const root = rootOf(given)
  return verified(edit(given, root), (after) => plainOf(rootOf(after)), intended(plainOf(root)))
}

function rootOf(text: string): Node {
  const parsed = parseJsonc(text.trim() === '' ? '{}' : text, { maxDepth: 100 })
  if ('problems' in parsed) throw new EditError(problemText(parsed.problems[0]))
  if (parsed.root.type !== 'object') throw new EditError('The file must contain an object.')
  return parsed.root
}

function problemText(problem: JsoncProblem): string {
  if (problem.kind !== 'syntax') return 'Nested too deeply.'
  return `Invalid JSON at ${problem.line}:${problem.column}: ${problem.detail}. Fix it, then try again.`
}

/** Duplicate keys are rejected, since programs disagree on which one wins. */
function plainOf(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(plainOf)
  if (node.type !== 'object') return node.value
  const entries = (node.children ?? []).map(
    ({ children: [key, value] = [] }) => [String(key?.value), value && plainOf(value)] as const,
  )
  if (new Set(entries.map(([key]) => key)).size < entries.length) throw new EditError('An object has duplicate keys.')
  return Object.fromEntries(entries)
}

function valueAt(value: unknown, [first, ...rest]: Path): unknown {
  if (first === undefined) return value
  return isRecord(value) && Object.hasOwn(value, first) ? valueAt(value[first], rest) : undefined
}

const withValue =
  ([first, ...rest]: Path, value: unknown) =>
  (before: unknown): unknown => {
    if (first === undefined) return value
    const object = isRecord(before) ? before : {}
    return { ...object, [first]: withValue(rest, value)(Object.hasOwn(object, first) ? object[first] : undefined) }
  }

const withoutValue =
  ([first = '', ...rest]: Path) =>
  (before: unknown): unknown => {
    if (!isRecord(before)) return before
    if (rest.length > 0) return { ...before, [first]: withoutValue(rest)(before[first]) }
    return Object.fromEntries(Object.entries(before).filter(([key]) => key !== first))
  }

function nodeAt(root: Node, path: Path): Node {
  const node = findNodeAtLocation(root, [...path])
  if (node === undefined) throw new EditError(`Missing "${path.join('.')}".`)
  return node
}

function setIn(text: string, root: Node, path: Path, value: unknown): string {
  const present = findNodeAtLocation(root, [...path])
  if (present !== undefined) {
    const replaced = valueText(text, value, indentOf(text, present))
    return text.slice(0, present.offset) + replaced + text.slice(endOf(present))
  }
  // Insert into the deepest existing object on the path.
  const known = path.findLastIndex((_, length) => findNodeAtLocation(root, path.slice(0, length)) !== undefined)
  const parent = nodeAt(root, path.slice(0, known))
  if (parent.type !== 'object') throw new EditError(`"${path.slice(0, known).join('.')}" is not an object.`)
  const [key = '', ...rest] = path.slice(known)
  const whole = rest.reduceRight((inner: unknown, name) => ({ [name]: inner }), value)
  const indent = childIndent(text, parent)
  return inserted(text, parent, `${JSON.stringify(key)}: ${valueText(text, whole, indent)}`)
}

const endOf = ({ offset, length }: Node): number => offset + length

/** One level of indentation in this file. */
function unitOf(text: string): string {
  const [, indent = '  '] = /\n([ \t]+)(?=["{[}\]])/u.exec(text) ?? []
  return indent
}

function indentOf(text: string, { offset }: Node): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/u.exec(text.slice(start, offset))?.[0] ?? ''
}

function childIndent(text: string, parent: Node): string {
  const [first] = parent.children ?? []
  const isOwnLine = first !== undefined && /\n[ \t]*$/u.test(text.slice(0, first.offset))
  return isOwnLine ? indentOf(text, first) : indentOf(text, parent) + unitOf(text)
}

const valueText = (text: string, value: unknown, indent: string): string =>
  written(value, unitOf(text)).replaceAll('\n', `${lineBreakOf(text)}${indent}`)

const maxLineLength = 80

/** Short lists of scalars stay on one line. */
function written(value: unknown, unit: string): string {
  const nested = (items: readonly string[], open: string, close: string): string =>
    items.length === 0
      ? open + close
      : `${open}\n${items.map((item) => unit + item.replaceAll('\n', `\n${unit}`)).join(',\n')}\n${close}`
  if (Array.isArray(value)) {
    const items = value.map((item) => written(item, unit))
    const line = `[${items.join(', ')}]`
    const isShort = line.length <= maxLineLength && !value.some((item) => typeof item === 'object' && item !== null)
    return isShort ? line : nested(items, '[', ']')
  }
  if (!isRecord(value)) return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  return nested(
    entries.map(([key, each]) => `${JSON.stringify(key)}: ${written(each, unit)}`),
    '{',
    '}',
  )
}

function inserted(text: string, parent: Node, item: string): string {
  const close = endOf(parent) - 1
  const last = parent.children?.at(-1)
  const line = lineBreakOf(text)
  const inner = childIndent(text, parent)
  if (last === undefined) {
    const body = text.slice(0, close).trimEnd()
    return `${body}${line}${inner}${item}${line}${indentOf(text, parent)}${text.slice(close)}`
  }
  const { comma, lineEnd } = afterItem(text, endOf(last), close)
  if (lineEnd === undefined) {
    // Keep everything on one line.
    const short = item.replaceAll(/\r?\n[ \t]*/gu, ' ')
    return comma === undefined
      ? `${text.slice(0, endOf(last))}, ${short}${text.slice(endOf(last))}`
      : `${text.slice(0, comma + 1)} ${short},${text.slice(comma + 1)}`
  }
  const before =
    comma === undefined ? `${text.slice(0, endOf(last))},${text.slice(endOf(last), lineEnd)}` : text.slice(0, lineEnd)
  return `${before}${line}${inner}${item}${comma === undefined ? '' : ','}${text.slice(lineEnd)}`
}

function removed(text: string, value: Node): string {
  const item = value.parent?.type === 'property' ? value.parent : value
  const parent = item.parent
  if (parent === undefined) throw new EditError('The root cannot be removed.')
  const close = endOf(parent) - 1
  const all = parent.children ?? []
  const previous = all[all.indexOf(item) - 1]
  const { comma, lineEnd } = afterItem(text, endOf(item), all[all.indexOf(item) + 1]?.offset ?? close)
  const isLast = item === all.at(-1)
  let start = item.offset
  let end = comma === undefined ? endOf(item) : comma + 1
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const isOwnLine = lineStart > 0 && text.slice(lineStart, start).trim() === ''
  if (isOwnLine && lineEnd !== undefined) {
    // A trailing comment is removed with its item.
    start = text[lineStart - 2] === '\r' ? lineStart - 2 : lineStart - 1
    end = lineEnd
  } else if (!isLast) end += /^[ \t]*/u.exec(text.slice(end))?.[0].length ?? 0
  if (!isLast || comma !== undefined || previous === undefined) return text.slice(0, start) + text.slice(end)
  // The previous item is now the last one.
  const extra = afterItem(text, endOf(previous), item.offset).comma
  if (extra === undefined) return text.slice(0, start) + text.slice(end)
  return text.slice(0, extra) + text.slice(extra + 1, Math.max(start, extra + 1)) + text.slice(end)
}

/** Position of the comma after an item, and end of its line, including a trailing comment. */
function afterItem(text: string, from: number, to: number): { readonly comma?: number; readonly lineEnd?: number } {
  const scanner = createScanner(text, false)
  scanner.setPosition(from)
  let comma: number | undefined
  while (scanner.getPosition() < to) {
    scanner.scan()
    const offset = scanner.getTokenOffset()
    if (text[offset] === ',') comma ??= offset
    // A comma on a later line still belongs to the item.
    const isPast = comma !== undefined || !isComma(text, scanner.getPosition(), to)
    if (isPast && offset < to && /^[\r\n]/u.test(text.slice(offset, offset + 1)))
      return { ...(comma !== undefined && { comma }), lineEnd: offset }
  }
  return comma === undefined ? {} : { comma }
}

/** Whether the next token other than comments is a comma. */
function isComma(text: string, from: number, to: number): boolean {
  const scanner = createScanner(text, true)
  scanner.setPosition(from)
  scanner.scan()
  return scanner.getTokenOffset() < to && text[scanner.getTokenOffset()] === ','
}
