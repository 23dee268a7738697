import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { type ConfigProblem, pathText } from './problem.ts'

/** A value in a file together with where its parts stand. */
export interface ConfigDocument {
  readonly value: unknown
  /** A problem with what stands at `path`, or with its key, or with whatever of the way there exists. */
  problem(path: readonly PropertyKey[], message: string, at?: 'key' | 'value'): ConfigProblem
}

export type Parsed = { readonly document: ConfigDocument } | { readonly problems: readonly ConfigProblem[] }

// More than anybody writes; what is larger was not meant for us.
const mostCharacters = 4_000_000
const deepest = 50

/** Reads JSON as people write configurations: with comments, trailing commas and a byte-order mark. */
export function parseDocument(file: string, text: string): Parsed {
  const place = placer(text)
  const simple = (offset: number, message: string): Parsed => ({ problems: [{ file, ...place(offset), path: '', message }] })
  if (text.length > mostCharacters) return simple(0, 'is too large for a configuration.')
  const start = text.startsWith('\uFEFF') ? 1 : 0
  if (text.slice(start).trim() === '') return simple(0, 'is empty. Write {} at least.')
  const errors: ParseError[] = []
  const root = tree(` `.repeat(start) + text.slice(start), errors)
  if (root === 'too deep') return simple(0, `is nested more than ${deepest} levels deep.`)
  if (errors.length > 0)
    return {
      problems: errors.slice(0, 20).map(({ error, offset }) => ({
        file,
        ...place(offset),
        path: '',
        message: `is no JSON here: ${words(printParseErrorCode(error))}.`,
      })),
    }
  if (root === undefined) return simple(0, 'holds no value. Write {} at least.')
  const problems: ConfigProblem[] = []
  const problemAt = (node: Node, path: readonly PropertyKey[], message: string): ConfigProblem => ({
    file,
    ...place(node.offset),
    path: pathText(path),
    message,
  })
  const value = contentOf(root, [], (node, path, message) => problems.push(problemAt(node, path, message)))
  if (problems.length > 0) return { problems }
  return { document: { value, problem: (path, message, at) => problemAt(nodeAt(root, path, at), path, message) } }
}

function tree(text: string, errors: ParseError[]): Node | undefined | 'too deep' {
  // The parser calls itself at each level, and a file may hold nothing but brackets.
  if (nesting(text) > deepest) return 'too deep'
  return parseTree(text, errors, { allowTrailingComma: true })
}

/** How deep brackets go, at most: those in texts and comments count too, as long as they are not closed. */
function nesting(text: string): number {
  let now = 0
  let most = 0
  for (const [mark] of text.matchAll(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|[[{\]}]/gu)) {
    if (mark === '[' || mark === '{') most = Math.max(most, ++now)
    else if (mark === ']' || mark === '}') now--
  }
  return most
}

function contentOf(
  node: Node,
  path: readonly PropertyKey[],
  refuse: (node: Node, path: readonly PropertyKey[], message: string) => void,
): unknown {
  if (node.type === 'array') return (node.children ?? []).map((child, index) => contentOf(child, [...path, index], refuse))
  if (node.type !== 'object') return node.value
  const entries = new Map<string, unknown>()
  for (const { children: [key, child] = [] } of node.children ?? []) {
    if (key === undefined || child === undefined) continue
    const name = String(key.value)
    const at = [...path, name]
    if (name === '__proto__') refuse(key, at, 'cannot be a key. Choose another name.')
    else if (entries.has(name)) refuse(key, at, 'is written twice, and only one can count. Remove one.')
    else entries.set(name, contentOf(child, at, refuse))
  }
  return Object.fromEntries(entries)
}

/** What stands at `path`, or the nearest thing around it. */
function nodeAt(root: Node, path: readonly PropertyKey[], at: 'key' | 'value' = 'value'): Node {
  for (let length = path.length; length > 0; length--) {
    const parts = path.slice(0, length).map((part) => (typeof part === 'number' ? part : String(part)))
    const found = findNodeAtLocation(root, parts)
    if (found === undefined) continue
    const key = found.parent?.type === 'property' ? found.parent.children?.[0] : undefined
    return at === 'key' && length === path.length ? (key ?? found) : found
  }
  return root
}

type Placer = (offset: number) => { readonly line: number; readonly column: number }

function placer(text: string): Placer {
  return (offset) => {
    const before = text.slice(0, offset)
    const line = before.split('\n').length
    return { line, column: offset - before.lastIndexOf('\n') - (line === 1 && text.startsWith('\uFEFF') && offset > 0 ? 1 : 0) }
  }
}

/** `CommaExpected` as "comma expected". */
const words = (code: string): string => code.replace(/(?<=[a-z])(?=[A-Z])/gu, ' ').toLowerCase()
