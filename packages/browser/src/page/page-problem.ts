/** Reason why a page could not be inspected. */
export type PageProblemReason =
  | 'closed'
  | 'crashed'
  | 'navigated'
  | 'busy'
  | 'slow'
  | 'cancelled'
  | 'selector'
  | 'frame'
  | 'option'
  | 'script'

/** A page could not be inspected. The message says why, and what to do next. */
export class PageProblem extends Error {
  override readonly name = 'PageProblem'
  readonly reason: PageProblemReason

  constructor(reason: PageProblemReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
