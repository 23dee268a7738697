/** Location of a function. */
export interface Span {
  readonly name: string
  readonly line: number
  readonly endLine: number
  /** The text between the parentheses. */
  readonly parameters: string
  readonly body: readonly [start: number, end: number]
  readonly exported: boolean
  /** True if it returns a value. */
  readonly returns: boolean
}
