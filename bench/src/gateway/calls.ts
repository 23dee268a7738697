import { type Timing, timingOf } from '../list/rounds.ts'
import { sampleArguments } from './definitions.ts'
import { names, type Running, type RunningUnfold } from './gateways.ts'
import { statelessWire } from './wires/streamable.ts'
import { successful, type Wire } from './wires/wire.ts'

export interface CallPace {
  readonly rounds: number
  readonly sliceMs: number
  /** Warm-up calls: after some thousands, V8 has compiled the server's code. */
  readonly warmUp: number
}

const longestWarmUpMs = 20_000

/** Latency of calls with this many concurrent callers, each with one call at a time. */
export interface CallTiming extends Timing {
  readonly callers: number
  readonly perSecond: number
}

export const callNames = { ...names, stateless: `${names.unfold}, 2026-07-28` } as const

interface Caller {
  readonly name: string
  readonly callers: readonly (() => Promise<unknown>)[]
  readonly times: number[]
  seconds: number
  close(): Promise<void>
}

/** Measures calls of one tool through all gateways in turn. Each caller is a separate client, except over stdio. */
export async function timeCalls(
  all: readonly Running[],
  ours: RunningUnfold,
  { callers, pace }: { readonly callers: number; readonly pace: CallPace },
): Promise<readonly CallTiming[]> {
  const entrants: Caller[] = []
  try {
    for (const running of all) {
      // Over stdio a single client makes all calls.
      const clients = running.name === names.direct ? 1 : callers
      entrants.push(await callerOf(running.name, running, { callers, clients, connect: () => running.client() }))
    }
    const connect = (): Promise<Wire> => statelessWire(ours.url)
    entrants.push(await callerOf(callNames.stateless, ours, { callers, clients: callers, connect }))
    for (const entrant of entrants) await warmedUp(entrant, pace)
    for (let round = 0; round < pace.rounds; round++) for (const entrant of entrants) await slice(entrant, pace.sliceMs)
    return entrants.map(({ name, times, seconds }) => ({
      ...timingOf(name, times),
      callers,
      perSecond: times.length / seconds,
    }))
  } finally {
    for (const entrant of entrants) await entrant.close()
  }
}

async function callerOf(
  name: string,
  { upstreams, toolName }: Running,
  { callers, clients, connect }: { callers: number; clients: number; connect: () => Promise<Wire> },
): Promise<Caller> {
  const wires = await Promise.all(Array.from({ length: clients }, connect))
  const params = { name: toolName(upstreams.names[0] ?? '', 'action_7'), arguments: sampleArguments }
  return {
    name,
    callers: Array.from({ length: callers }, (_, index) => {
      const wire = wires[index % clients]
      return async () => {
        const answer = await wire?.ask('tools/call', params)
        if (answer !== undefined) successful(answer)
      }
    }),
    times: [],
    seconds: 0,
    async close() {
      for (const wire of wires) await wire[Symbol.asyncDispose]()
    },
  }
}

async function warmedUp(entrant: Caller, { warmUp, sliceMs }: CallPace): Promise<void> {
  const end = performance.now() + longestWarmUpMs
  while (entrant.times.length < warmUp && performance.now() < end) await slice(entrant, sliceMs)
  entrant.times.length = 0
  entrant.seconds = 0
}

async function slice(entrant: Caller, forMs: number): Promise<void> {
  const begin = performance.now()
  await Promise.all(
    entrant.callers.map(async (call) => {
      while (performance.now() < begin + forMs) {
        const start = performance.now()
        await call()
        entrant.times.push((performance.now() - start) * 1_000)
      }
    }),
  )
  entrant.seconds += (performance.now() - begin) / 1_000
}
