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

/** The values of calls that must succeed. */
export function resultsIn<T>(outcomes: readonly Outcome[]): T[] {
  return outcomes.map((outcome) => {
    if ('error' in outcome) throw new Error(outcome.error.slice(0, 500))
    return outcome.value as T
  })
}

/** Makes one call in one turn. */
export async function one<T>(turn: Turn, name: string, args: Step['arguments'] = {}): Promise<T> {
  const [value] = resultsIn<T>(await turn([{ name, arguments: args }]))
  return value as T
}
