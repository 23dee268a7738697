import { printable, type Reason } from '@unfold-mcp/core'

/** A problem that the author or operator should know about; the server keeps running. */
export interface Report {
  readonly reason: Reason
  readonly message: string
  readonly error?: unknown
}

export type Reporter = (report: Report) => void

const longest = 10_000

/** The message of anything that was thrown. Never throws; returns an empty string if there is no message. */
export function errorMessage(thrown: unknown): string {
  try {
    const message = typeof thrown === 'object' && thrown !== null && 'message' in thrown ? thrown.message : thrown
    const words = isWord(message) ? String(message) : ''
    return words.length > longest ? `${words.slice(0, longest)}…` : words
  } catch {
    return ''
  }
}

const isWord = (value: unknown): value is string | number | bigint | boolean | symbol =>
  !['object', 'function', 'undefined'].includes(typeof value)

/** Writes each distinct report to standard error once, so that a predicate that always throws does not flood it. */
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
