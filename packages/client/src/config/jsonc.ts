import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'

/** Line and column, both from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

export interface JsoncTree {
  readonly root: Node
  /** Returns where an offset of the tree is in the text. */
  readonly place: (offset: number) => Place
}

/** Reason why a text could not be parsed; `syntax` has a `detail` such as "comma expected". */
export type JsoncProblem = Place &
  ({ readonly kind: 'empty' | 'too deep' } | { readonly kind: 'syntax'; readonly detail: string })

const mostProblems = 20

/**
 * Parses JSON as people write it in configuration files: with comments, trailing commas and a byte order mark. A text nested
 * deeper than `deepest` is refused, because the parser calls itself at each level.
 */
export function parseJsonc(
  text: string,
  { deepest = 1_000 }: { readonly deepest?: number } = {},
): JsoncTree | { readonly problems: readonly [JsoncProblem, ...JsoncProblem[]] } {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text
  const start = { line: 1, column: 1 }
  if (nesting(body) > deepest) return { problems: [{ kind: 'too deep', ...start }] }
  const place = placer(body)
  const errors: ParseError[] = []
  const root = body.trim() === '' ? undefined : parseTree(body, errors, { allowTrailingComma: true })
  const [first, ...more] = errors.slice(0, mostProblems).map(({ error, offset }) => ({
    kind: 'syntax' as const,
    ...place(offset),
    detail: spelled(printParseErrorCode(error)),
  }))
  if (first !== undefined) return { problems: [first, ...more] }
  return root === undefined ? { problems: [{ kind: 'empty', ...start }] } : { root, place }
}

/** Returns how deep brackets go, at most: those in strings and comments that do not end count too. */
function nesting(text: string): number {
  let now = 0
  let most = 0
  for (const [mark] of text.matchAll(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|[[{\]}]/gu)) {
    if (mark === '[' || mark === '{') most = Math.max(most, ++now)
    else if (mark === ']' || mark === '}') now--
  }
  return most
}

function placer(text: string): (offset: number) => Place {
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
