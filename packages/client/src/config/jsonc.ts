import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'

/** Line and column, starting at 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

export interface JsoncTree {
  readonly root: Node
  readonly positionOf: (offset: number) => Position
}

/** Reason why a text could not be parsed; `syntax` has a `detail` such as "comma expected". */
export type JsoncProblem = Position &
  ({ readonly kind: 'empty' | 'too deep' } | { readonly kind: 'syntax'; readonly detail: string })

const maxProblems = 20

/**
 * Parses JSON with comments, trailing commas and a byte order mark. Text nested deeper than `maxDepth` is rejected, because the
 * parser is recursive.
 */
export function parseJsonc(
  text: string,
  { maxDepth = 1_000 }: { readonly maxDepth?: number } = {},
): JsoncTree | { readonly problems: readonly [JsoncProblem, ...JsoncProblem[]] } {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text
  const start = { line: 1, column: 1 }
  if (nesting(body) > maxDepth) return { problems: [{ kind: 'too deep', ...start }] }
  const positionOf = createPositionOf(body)
  const errors: ParseError[] = []
  const root = body.trim() === '' ? undefined : parseTree(body, errors, { allowTrailingComma: true })
  const [first, ...more] = errors.slice(0, maxProblems).map(({ error, offset }) => ({
    kind: 'syntax' as const,
    ...positionOf(offset),
    detail: spelled(printParseErrorCode(error)),
  }))
  if (first !== undefined) return { problems: [first, ...more] }
  return root === undefined ? { problems: [{ kind: 'empty', ...start }] } : { root, positionOf }
}

/** Returns the maximum bracket depth; brackets in unterminated strings and comments count. */
function nesting(text: string): number {
  let depth = 0
  let max = 0
  for (const [token] of text.matchAll(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|[[{\]}]/gu)) {
    if (token === '[' || token === '{') max = Math.max(max, ++depth)
    else if (token === ']' || token === '}') depth--
  }
  return max
}

function createPositionOf(text: string): (offset: number) => Position {
  let starts: readonly number[] | undefined
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

function lineStarts(text: string): readonly number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** `CommaExpected` as "comma expected". */
const spelled = (code: string): string => code.replace(/(?<=[a-z])(?=[A-Z])/gu, ' ').toLowerCase()
