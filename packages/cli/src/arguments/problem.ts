/** A problem with the arguments of a tool. */
export interface ArgumentProblem {
  readonly kind: 'unknown' | 'value' | 'missing' | 'syntax' | 'source'
  /** What is wrong and how to fix it. */
  readonly message: string
  /** Index of the word; absent for missing parameters. */
  readonly position?: number
  /** Flag as typed. */
  readonly flag?: string
  /** Suggestions, as typed. */
  readonly nearest: readonly string[]
}
