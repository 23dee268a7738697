import { printable, type Reason } from '@unfold-mcp/core'

/** Something the author or operator should know; the server goes on. */
export interface Report {
  readonly reason: Reason | 'name_clash'
  readonly message: string
  readonly error?: unknown
}

export type Reporter = (report: Report) => void

/** Writes each distinct report once to standard error, so a predicate that always throws does not flood it. */
export function stderrReporter(): Reporter {
  const seen = new Set<string>()
  return ({ reason, message, error }) => {
    const line = `[unfold] ${reason}: ${printable(message, 500)}`
    if (seen.has(line) || seen.size > 1_000) return
    seen.add(line)
    console.error(line, ...(error instanceof Error ? [`(${printable(error.message)})`] : []))
  }
}
