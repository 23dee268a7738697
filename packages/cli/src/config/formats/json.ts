import { type JsoncProblem, type JsoncTree, parseJsonc } from '@unfold-mcp/client/jsonc'
import type { Document, Item, Value } from '../document.ts'

type Node = JsoncTree['root']
type Placer = JsoncTree['positionOf']

/** Reads JSON with comments and trailing commas. */
export function parseJson(text: string): Document {
  const parsed = parseJsonc(text)
  if ('root' in parsed) return { root: itemOf(parsed.root, parsed.positionOf) }
  const [first] = parsed.problems
  return { problem: { line: first.line, column: first.column, message: messageOf(first) } }
}

function messageOf(problem: JsoncProblem): string {
  if (problem.kind === 'syntax') return `It is not JSON: ${problem.detail}. Fix it here.`
  return problem.kind === 'empty' ? 'It is empty. Write {} at least.' : 'It is nested too deeply to be read.'
}

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
  // The last of two entries with the same key counts, as in JSON.parse: other programs wrote the file and read it that way.
  for (const { children: [key, value] = [] } of node.children ?? [])
    if (key !== undefined && value !== undefined) entries.set(String(key.value), itemOf(value, place))
  return entries
}
