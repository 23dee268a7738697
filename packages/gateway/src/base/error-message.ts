import { printable } from '@unfold-mcp/core'

/** What an error says, safe to show and short enough to be part of a line. */
export function errorMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return printable(text.replaceAll(/\s*[\r\n]+\s*/gu, ' '), 600)
}
