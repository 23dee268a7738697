import { printable } from '@unfold-mcp/core'

/** Something in a configuration that keeps it, or one of its servers, from being used. Lines and columns count from 1. */
export interface Problem {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
  /** The server that it is about, as its file calls it. */
  readonly server?: string
  /** The variable that is not set, where that is all there is to it. */
  readonly unset?: string
}

/** The problem in one line: where it is, and what to do about it. */
export function problemText({ file, line, column, message }: Problem): string {
  return `${printable(file, 500)}:${line}:${column}: ${message}`
}
