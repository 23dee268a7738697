import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import type { Document, Item, Value } from './document.ts'

/** Reads JSON as people write configurations: with comments and trailing commas. */
export function parseJson(text: string): Document {
  const place = placer(text)
  const errors: ParseError[] = []
  let root: Node | undefined
  try {
    root = parseTree(text, errors, { allowTrailingComma: true })
  } catch {
    return { problem: { line: 1, column: 1, message: 'It is nested too deeply to be read.' } }
  }
  const [first] = errors
  if (first !== undefined) {
    const message = `It is not JSON: ${words(printParseErrorCode(first.error))}. Mend it here.`
    return { problem: { ...place(first.offset), message } }
  }
  if (root === undefined) return { problem: { line: 1, column: 1, message: 'It is empty. Write {} at least.' } }
  return { root: itemOf(root, place) }
}

type Placer = (offset: number) => { readonly line: number; readonly column: number }

function itemOf(node: Node, place: Placer): Item {
  let made: Value | undefined
  return {
    ...place(node.offset),
    get value() {
      made ??= contentOf(node, place)
      return made
    },
  }
}

function contentOf(node: Node, place: Placer): Value {
  if (node.type === 'array') return (node.children ?? []).map((child) => itemOf(child, place))
  if (node.type !== 'object') return node.value as Value
  const entries = new Map<string, Item>()
  // The last of two entries with the same key counts, as in JSON.parse.
  for (const { children: [key, value] = [] } of node.children ?? [])
    if (key !== undefined && value !== undefined) entries.set(String(key.value), itemOf(value, place))
  return entries
}

/** Finds the line and column of an offset. */
function placer(text: string): Placer {
  let starts: number[] | undefined
  return (offset) => {
    starts ??= lineStarts(text)
    let low = 0
    for (let high = starts.length - 1; low < high; ) {
      const middle = Math.ceil((low + high) / 2)
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** `CommaExpected` as "comma expected". */
const words = (code: string): string => code.replace(/(?<=[a-z])(?=[A-Z])/gu, ' ').toLowerCase()
