import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import type { Document, Item, Value } from '../document.ts'

/** Aliases are not resolved: no program writes servers with them. */
export function parseYaml(text: string): Document {
  const lines = new LineCounter()
  try {
    const { contents, errors } = parseDocument(text, { lineCounter: lines, prettyErrors: false })
    const [first] = errors
    if (first !== undefined) {
      const { line, col } = lines.linePos(first.pos[0])
      return { problem: { line, column: col, message: `Invalid YAML: ${first.message}.` } }
    }
    if (contents === null) return { root: { line: 1, column: 1, value: new Map() } }
    return { root: itemOf(contents, lines) }
  } catch {
    return { problem: { line: 1, column: 1, message: 'Nested too deeply.' } }
  }
}

function itemOf(node: Node, lines: LineCounter): Item {
  const { line, col } = lines.linePos(node.range?.[0] ?? 0)
  return { line, column: col, value: contentOf(node, lines) }
}

function contentOf(node: Node, lines: LineCounter): Value {
  if (isSeq<Node>(node)) return node.items.map((item) => itemOf(item, lines))
  if (isMap<Node, Node | null>(node))
    return new Map(
      node.items.map(({ key, value }) => [
        isScalar(key) ? String(key.value) : String(key),
        value === null ? { line: 1, column: 1, value: null } : itemOf(value, lines),
      ]),
    )
  const value = isScalar(node) ? node.value : undefined
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null) return value
  return String(node)
}
