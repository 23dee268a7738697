import { type Contestant, inRounds, type Pace, type Timing } from '../list/rounds.ts'
import { names, profiles, type Running, type RunningUnfold } from './gateways.ts'
import { statelessWire, streamableWire } from './wires/streamable.ts'
import type { Wire } from './wires/wire.ts'

/** Latency of tools/list. */
export interface ListTiming extends Timing {
  /** Number of upstream tools. */
  readonly size: number
  /** Number of listed tools, including the gateway's own. */
  readonly listed: number
  readonly bytes: number
}

export const listNames = {
  ...names,
  stateless: `${names.unfold}, 2026-07-28`,
  usual: `${names.unfold}, as by default`,
} as const

/** Measures `tools/list` of all gateways, in turn. */
export async function timeLists(all: readonly Running[], ours: RunningUnfold, pace: Pace): Promise<readonly ListTiming[]> {
  const wires: { readonly name: string; readonly wire: Wire; readonly size: number }[] = []
  try {
    for (const each of all) wires.push({ name: each.name, wire: await each.client(), size: each.upstreams.tools })
    const size = ours.upstreams.tools
    wires.push({ name: listNames.stateless, wire: await statelessWire(ours.url), size })
    wires.push({ name: listNames.usual, wire: await streamableWire(`${ours.url}/${profiles.usual}`), size })
    const answers = new Map<string, Buffer>()
    for (const { name, wire, size: expected } of wires) {
      const answer = await wire.ask('tools/list')
      if (name !== listNames.usual && upstreamToolsIn(answer) !== expected)
        throw new Error(`${name} lists ${upstreamToolsIn(answer)} tools, expected ${expected}.`)
      answers.set(name, answer)
    }
    const contestants = wires.map(({ name, wire }): Contestant => ({ name, run: () => wire.ask('tools/list') }))
    const timings = await inRounds(contestants, pace)
    return timings.map((timing) => {
      const answer = answers.get(timing.name) ?? Buffer.alloc(0)
      return { ...timing, size, listed: toolsIn(answer), bytes: answer.length }
    })
  } finally {
    for (const { wire } of wires) await wire[Symbol.asyncDispose]()
  }
}

/** Counts the tools in a result. */
const toolsIn = (answer: Buffer): number => occurrences(answer, /"inputSchema":/gu)

/** Counts the initial upstream tools in a result. */
export const upstreamToolsIn = (answer: Buffer): number => occurrences(answer, /"name":"[^"]*action_\d+"/gu)

const occurrences = (answer: Buffer, what: RegExp): number => answer.toString('latin1').match(what)?.length ?? 0
