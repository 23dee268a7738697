/** A call that an agent makes. */
export interface Step {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** Value of a call, or why it failed. */
export type Outcome = { readonly value: unknown } | { readonly error: string }

/** Makes calls in one model turn and returns their outcomes. */
export type Turn = (steps: readonly Step[]) => Promise<readonly Outcome[]>

/** A task, and how a competent agent solves it with calls and with a script. */
export interface Workflow {
  readonly name: string
  /** Whether its tools are those of a server from npm. */
  readonly isReal: boolean
  readonly task: string
  /** Searches that find its tools, made in one turn. */
  readonly queries: readonly string[]
  /** Tools whose result types the script needs; none if it returns the result as it is. */
  readonly types: readonly string[]
  /** A first script that looks at results without a type. */
  readonly probe?: string
  /** Solves the task one turn at a time, and returns the answer that the model writes. */
  readonly solve: (turn: Turn) => Promise<unknown>
  /** The script that returns the same answer. */
  readonly code: string
}

/** The value of a call that must succeed. */
export function resultIn<T>(outcome: Outcome | undefined): T {
  if (outcome !== undefined && 'value' in outcome) return outcome.value as T
  throw new Error(outcome === undefined ? 'There is no result.' : outcome.error.slice(0, 500))
}

/** Makes one call in one turn. */
export async function one<T>(turn: Turn, name: string, args: Step['arguments'] = {}): Promise<T> {
  const [outcome] = await turn([{ name, arguments: args }])
  return resultIn<T>(outcome)
}
