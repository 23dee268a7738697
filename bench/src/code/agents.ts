import type { CallResult, Connection } from '@unfold-mcp/client'
import { listTokens, textOf, tokensOf } from '../tokens/cost.ts'
import type { Outcome, Step, Workflow } from './workflow.ts'

/** How an agent reaches tools. */
export type Way = 'direct' | 'call_tool' | 'run_code'

export const exposures: { readonly [W in Way]: string } = { direct: 'everything', call_tool: 'search', run_code: 'code' }

/** What a task cost, in o200k_base tokens. */
export interface Cost {
  /** Messages of the model, the answer included. */
  readonly turns: number
  /** Read once: the list of tools, the task and all replies. */
  readonly read: number
  /** Written: calls, scripts and the answer. */
  readonly written: number
  /** Without a cache of the provider: the context of each turn. */
  readonly resent: number
  /** Time of all calls; the model takes none. */
  readonly ms: number
}

export interface Solved {
  readonly cost: Cost
  readonly answer: unknown
}

/** Counts what a model reads and writes. */
class Ledger {
  turns = 0
  read = 0
  written = 0
  resent = 0
  ms = 0

  turn(written: number, read: number): void {
    this.turns += 1
    this.resent += this.read + this.written
    this.written += written
    this.read += read
  }

  get cost(): Cost {
    const { turns, read, written, resent, ms } = this
    return { turns, read, written, resent: resent + written, ms }
  }
}

/** Solves a task as a competent agent does that knows nothing of the tools but what it reads. */
export async function solved(way: Way, workflow: Workflow, client: Connection): Promise<Solved> {
  const ledger = new Ledger()
  ledger.read = listTokens(await client.tools()) + tokensOf(client.instructions ?? '') + tokensOf(workflow.task)
  const turn = async (steps: readonly Step[]): Promise<readonly Outcome[]> => {
    const started = performance.now()
    const replies = await Promise.all(steps.map((step) => client.call(step.name, step.arguments, { unlisted: true })))
    ledger.ms += performance.now() - started
    const written = steps.reduce((sum, step) => sum + tokensOf(JSON.stringify(step)), 0)
    ledger.turn(
      written,
      replies.reduce((sum, reply) => sum + tokensOf(textOf(reply as never)), 0),
    )
    return replies.map(outcomeOf)
  }
  const answer = await solvers[way](workflow, turn)
  ledger.turn(tokensOf(JSON.stringify(answer)), 0)
  return { cost: ledger.cost, answer }
}

type Solver = (workflow: Workflow, turn: (steps: readonly Step[]) => Promise<readonly Outcome[]>) => Promise<unknown>

const searches = ({ queries }: Workflow): readonly Step[] =>
  queries.map((query) => ({ name: 'search_tools', arguments: { query } }))

const solvers: { readonly [W in Way]: Solver } = {
  direct: (workflow, turn) => workflow.solve(turn),
  async call_tool(workflow, turn) {
    await turn(searches(workflow))
    return workflow.solve((steps) =>
      turn(steps.map(({ name, arguments: args }) => ({ name: 'call_tool', arguments: { name, arguments: args } }))),
    )
  },
  async run_code(workflow, turn) {
    const { types, probe, code } = workflow
    await turn(searches(workflow))
    if (types.length > 0) await turn([{ name: 'describe_tools', arguments: { names: types, as: 'typescript' } }])
    if (probe !== undefined) await turn([{ name: 'run_code', arguments: { code: probe } }])
    const [outcome] = await turn([{ name: 'run_code', arguments: { code } }])
    if (outcome === undefined || 'error' in outcome) throw new Error(`${workflow.name}: ${outcome?.error}`)
    return outcome.value
  },
}

function outcomeOf(result: CallResult): Outcome {
  const text = textOf(result as never)
  if (result.isError) return { error: text }
  return { value: result.structuredContent ?? jsonOr(text) }
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
