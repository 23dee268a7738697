import { printable } from '@unfold-mcp/core'

/** A problem in a configuration file. Lines and columns start at 1. */
export interface Problem {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
  /** Name of the affected server in its file. */
  readonly server?: string
  /** The unset variable, if that is the only problem. */
  readonly unset?: string
}

export function problemText({ file, line, column, message }: Problem): string {
  return `${printable(file, 500)}:${line}:${column}: ${message}`
}
