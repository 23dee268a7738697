import { setTimeout as pause } from 'node:timers/promises'
import { type Timing, timingOf } from '../list/rounds.ts'
import { sampleArguments, slowTool } from './definitions.ts'
import type { RunningUnfold } from './gateways.ts'
import { statelessWire } from './wires/streamable.ts'
import { successful, type Wire } from './wires/wire.ts'

/** Latency of one client's calls, alone and while another client is at its limits. */
export interface Fairness {
  readonly alone: Timing
  readonly crowded: Timing
  /** Concurrent slow calls of the other client, and how many of them were refused at least once. */
  readonly slowCalls: number
  readonly refused: number
}

export interface FairnessPace {
  readonly rounds: number
  readonly sliceMs: number
  readonly warmUp: number
}

const slowCalls = 330
const retryMs = 1_000
const limitsTimeoutMs = 20_000

/** Measures both in turn, so that other load on the machine affects both. */
export async function timeFairness(ours: RunningUnfold, { rounds, sliceMs, warmUp }: FairnessPace): Promise<Fairness> {
  await using quick = await ours.client()
  const server = ours.upstreams.names[0] ?? ''
  const params = { name: ours.toolName(server, 'action_7'), arguments: sampleArguments }
  const call = async (): Promise<unknown> => successful(await quick.ask('tools/call', params))
  for (let calls = 0; calls < warmUp; calls++) await call()
  const [alone, crowded]: [number[], number[]] = [[], []]
  let refused = 0
  for (let round = 0; round < rounds; round++) {
    await timed(call, sliceMs, alone)
    await using greedy = await Greedy.start(ours)
    await timed(call, sliceMs, crowded)
    refused = greedy.refused
  }
  return { alone: timingOf('alone', alone), crowded: timingOf('crowded', crowded), slowCalls, refused }
}

async function timed(call: () => Promise<unknown>, forMs: number, times: number[]): Promise<void> {
  const end = performance.now() + forMs
  while (performance.now() < end) {
    const start = performance.now()
    await call()
    times.push((performance.now() - start) * 1_000)
  }
}

/** A client that always has as many slow calls as it may, and tries more. Closing its connections cancels them. */
class Greedy implements AsyncDisposable {
  readonly #wires: readonly Wire[]
  readonly #refused = new Set<Wire>()
  #isOver = false

  static async start(ours: RunningUnfold): Promise<Greedy> {
    const greedy = new Greedy(await Promise.all(Array.from({ length: slowCalls }, () => statelessWire(ours.url))))
    const params = { name: ours.toolName(ours.upstreams.names[0] ?? '', slowTool), arguments: sampleArguments }
    for (const wire of greedy.#wires) void greedy.#call(wire, params)
    const until = performance.now() + limitsTimeoutMs
    while (greedy.refused === 0 && performance.now() < until) await pause(10)
    if (greedy.refused === 0) throw new Error('The gateway refused none of the slow calls.')
    return greedy
  }

  private constructor(wires: readonly Wire[]) {
    this.#wires = wires
  }

  get refused(): number {
    return this.#refused.size
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    for (const wire of this.#wires) await wire[Symbol.asyncDispose]()
  }

  async #call(wire: Wire, params: object): Promise<void> {
    while (!this.#isOver) {
      try {
        successful(await wire.ask('tools/call', params))
      } catch {
        if (this.#isOver) return
        this.#refused.add(wire)
        await pause(retryMs)
      }
    }
  }
}
