import { printable, type Reason } from '@unfold-mcp/core'

/** Something the author or operator should know; the server goes on. */
export interface Report {
  readonly reason: Reason
  readonly message: string
  readonly error?: unknown
}

export type Reporter = (report: Report) => void

const longest = 10_000

/** What was thrown, in words: anything can be, so this never throws itself, and gives nothing for what says nothing. */
export function errorMessage(thrown: unknown): string {
  try {
    const said = typeof thrown === 'object' && thrown !== null && 'message' in thrown ? thrown.message : thrown
    const words = isWord(said) ? String(said) : ''
    return words.length > longest ? `${words.slice(0, longest)}…` : words
  } catch {
    return ''
  }
}

const isWord = (value: unknown): value is string | number | bigint | boolean | symbol =>
  !['object', 'function', 'undefined'].includes(typeof value)

/** Writes each distinct report once to standard error, so a predicate that always throws does not flood it. */
export function stderrReporter(): Reporter {
  const seen = new Set<string>()
  return ({ reason, message, error }) => {
    const line = `[unfold] ${reason}: ${printable(message, 500)}`
    if (seen.has(line) || seen.size > 1_000) return
    seen.add(line)
    const words = error instanceof Error ? errorMessage(error) : ''
    const why = message.includes(words) ? [] : [`(${printable(words)})`]
    console.error(line, ...why)
  }
}
