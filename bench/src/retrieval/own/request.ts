/** A request for our own catalogue. */
export interface OwnRequest {
  readonly query: string
  /** Ids of all acceptable tools. */
  readonly tools: readonly string[]
}
