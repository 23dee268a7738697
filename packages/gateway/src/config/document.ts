import { isDeepStrictEqual } from 'node:util'
import { type JsoncProblem, type JsoncTree, parseJsonc } from '@unfold-mcp/client/jsonc'
import { findNodeAtLocation } from 'jsonc-parser'
import { type ConfigProblem, pathText } from './problem.ts'

/** A parsed configuration file that can locate its values. */
export interface ConfigDocument {
  readonly value: unknown
  /** Creates a problem located at the value or key of `path`, or at its nearest existing parent. */
  problem(path: readonly PropertyKey[], message: string, at?: 'key' | 'value'): ConfigProblem
}

type Node = JsoncTree['root']

export type Parsed = { readonly document: ConfigDocument } | { readonly problems: readonly ConfigProblem[] }

const maxCharacters = 4_000_000
const maxDepth = 50

/** Parses JSON with comments, trailing commas and a byte order mark. */
export function parseDocument(file: string, text: string): Parsed {
  const fileProblem = (message: string): Parsed => ({ problems: [{ file, line: 1, column: 1, path: '', message }] })
  if (text.length > maxCharacters) return fileProblem('is too large for a configuration file.')
  const parsed = parseJsonc(text, { maxDepth })
  if ('problems' in parsed) {
    const found = parsed.problems.map((problem) => ({
      file,
      line: problem.line,
      column: problem.column,
      path: '',
      message: messageOf(problem),
    }))
    // Each missing brace at the end of a file is reported there.
    return { problems: found.filter((each, at) => !isDeepStrictEqual(each, found[at - 1])) }
  }
  const { root, positionOf } = parsed
  const problems: ConfigProblem[] = []
  const problemAt = (node: Node, path: readonly PropertyKey[], message: string): ConfigProblem => ({
    file,
    ...positionOf(node.offset),
    path: pathText(path),
    message,
  })
  const value = contentOf(root, [], (node, path, message) => problems.push(problemAt(node, path, message)))
  if (problems.length > 0) return { problems }
  return { document: { value, problem: (path, message, at) => problemAt(nodeAt(root, path, at), path, message) } }
}

function messageOf(problem: JsoncProblem): string {
  if (problem.kind === 'syntax') return `is not valid JSON: ${problem.detail}.`
  return problem.kind === 'empty' ? 'is empty. Write at least {}.' : `is nested more than ${maxDepth} levels deep.`
}

function contentOf(
  node: Node,
  path: readonly PropertyKey[],
  report: (node: Node, path: readonly PropertyKey[], message: string) => void,
): unknown {
  if (node.type === 'array') return (node.children ?? []).map((child, index) => contentOf(child, [...path, index], report))
  if (node.type !== 'object') return node.value
  const entries = new Map<string, unknown>()
  for (const { children: [key, child] = [] } of node.children ?? []) {
    if (key === undefined || child === undefined) continue
    const name = String(key.value)
    const at = [...path, name]
    if (name === '__proto__') report(key, at, 'is not allowed as a key. Choose another name.')
    else if (entries.has(name)) report(key, at, 'is a duplicate key. Remove one of them.')
    else entries.set(name, contentOf(child, at, report))
  }
  return Object.fromEntries(entries)
}

/** Returns the node at `path`, or its nearest existing parent. */
function nodeAt(root: Node, path: readonly PropertyKey[], at: 'key' | 'value' = 'value'): Node {
  for (let length = path.length; length > 0; length--) {
    const parts = path.slice(0, length).map((part) => (typeof part === 'number' ? part : String(part)))
    const node = findNodeAtLocation(root, parts)
    if (node === undefined) continue
    const key = node.parent?.type === 'property' ? node.parent.children?.[0] : undefined
    return at === 'key' && length === path.length ? (key ?? node) : node
  }
  return root
}
