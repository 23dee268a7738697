/** One thing that is wrong with a tool's arguments. */
export interface ArgumentProblem {
  readonly kind: 'unknown' | 'value' | 'missing' | 'syntax' | 'source'
  /** What is wrong and what to do, in one sentence or two. */
  readonly message: string
  /** The index of the word at fault; none for what is missing. */
  readonly position?: number
  /** The parameter, as it is typed. */
  readonly flag?: string
  /** What may have been meant, as it is typed. */
  readonly nearest: readonly string[]
}
