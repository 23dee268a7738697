import { type JsoncProblem, type JsoncTree, parseJsonc } from '@unfold-mcp/client/jsonc'
import type { Document, Item, Value } from '../document.ts'

type Node = JsoncTree['root']
type Placer = JsoncTree['positionOf']

export function parseJson(text: string): Document {
  const parsed = parseJsonc(text)
  if ('root' in parsed) return { root: itemOf(parsed.root, parsed.positionOf) }
  const [first] = parsed.problems
  return { problem: { line: first.line, column: first.column, message: messageOf(first) } }
}

function messageOf(problem: JsoncProblem): string {
  if (problem.kind === 'syntax') return `Invalid JSON: ${problem.detail}.`
  return problem.kind === 'empty' ? 'The file is empty.' : 'Nested too deeply.'
}

function itemOf(node: Node, place: Placer): Item {
  let content: Value | undefined
  return {
    ...place(node.offset),
    get value() {
      content ??= contentOf(node, place)
      return content
    },
  }
}

function contentOf(node: Node, place: Placer): Value {
  if (node.type === 'array') return (node.children ?? []).map((child) => itemOf(child, place))
  if (node.type !== 'object') return node.value as Value
  const entries = new Map<string, Item>()
  // The last duplicate key wins, as in JSON.parse, which the programs that own these files use.
  for (const { children: [key, value] = [] } of node.children ?? [])
    if (key !== undefined && value !== undefined) entries.set(String(key.value), itemOf(value, place))
  return entries
}
