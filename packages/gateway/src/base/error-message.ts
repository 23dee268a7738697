import { printable } from '@unfold-mcp/core'

/** The message of an error on one line, escaped and shortened. */
export function errorMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return printable(text.replaceAll(/\s*[\r\n]+\s*/gu, ' '), 600)
}
