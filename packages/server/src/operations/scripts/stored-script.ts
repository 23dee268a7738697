/** A script with a name, which is called like a tool. */
export interface StoredScript {
  readonly name: string
  /** A module whose default export is a function: it gets the arguments, and its result is that of the tool. */
  readonly code: string
  /** Tools that it may call although its caller may not, by name. */
  readonly grants: (tool: string) => boolean
}
