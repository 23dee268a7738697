/** A server of our own catalogue. */
export interface OwnServer {
  readonly name: string
  readonly description: string
  readonly tools: readonly OwnTool[]
}

export interface OwnTool {
  readonly name: string
  readonly description: string
  /** Descriptions by parameter. */
  readonly parameters: { readonly [name: string]: string }
}
