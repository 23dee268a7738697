/** A possible completion. The description is not yet safe for a terminal. */
export interface Candidate {
  readonly value: string
  readonly description?: string | undefined
}

/** Parameter of a tool. */
export interface KnownFlag {
  /** Spelling, such as `--title`. */
  readonly text: string
  /** Name in `name=value`. */
  readonly name: string
  readonly negation?: string | undefined
  readonly description?: string | undefined
  readonly isRequired?: boolean
  readonly isList?: boolean
  /** Whether it needs no value. */
  readonly isSwitch?: boolean
  readonly values?: readonly Candidate[]
}

export interface KnownTool {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema?: { readonly [keyword: string]: unknown }
  /** Precomputed flags; otherwise derived from the schema. */
  readonly flags?: readonly KnownFlag[]
}
