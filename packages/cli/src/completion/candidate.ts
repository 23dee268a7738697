/** One thing that a word may become. The description is what the server wrote until it is shown. */
export interface Candidate {
  readonly value: string
  readonly description?: string | undefined
}

/** What completion needs to know of a parameter. */
export interface KnownFlag {
  /** As it is typed, such as `--title`. */
  readonly text: string
  /** As it stands in `name=value`. */
  readonly name: string
  readonly negation?: string | undefined
  readonly description?: string | undefined
  readonly isRequired?: boolean
  readonly isList?: boolean
  /** Whether it stands without a value. */
  readonly isSwitch?: boolean
  readonly values?: readonly Candidate[]
}

/** What completion needs to know of a tool. */
export interface KnownTool {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema?: { readonly [keyword: string]: unknown }
  /** Its parameters, where they were worked out before; otherwise the schema is read. */
  readonly flags?: readonly KnownFlag[]
}
