import { setTimeout as pause } from 'node:timers/promises'
import { type Timing, timingOf } from '../list/rounds.ts'
import { lateName } from './definitions.ts'
import { profiles, type Running, type RunningUnfold } from './gateways.ts'
import { streamableWire } from './wires/streamable.ts'
import type { Wire } from './wires/wire.ts'

/** How long it takes until a client knows of a change. */
export interface Freshness {
  readonly name: string
  /** Until it is told. */
  readonly heard: Timing
  /** Until a list that it asked for then has it. */
  readonly seen: Timing
}

const giveUpMs = 5_000
// Long enough for everybody to have come to rest, and never in step with anybody's timer.
const restMs = (number: number): number => 90 + ((number * 37) % 60)

let late = 0
const nextName = (): string => lateName(++late)

/** Makes an upstream change again and again; the client of each asks for the list when it is told. By turns. */
export async function timeChanges(all: readonly Running[], times: number): Promise<readonly Freshness[]> {
  const watchers = await Promise.all(
    all.map(async (running) => ({ running, wire: await running.client(), heard: [] as number[], seen: [] as number[] })),
  )
  try {
    for (const { wire } of watchers) await wire.ask('tools/list')
    for (let time = 0; time < times; time++) {
      for (const { running, wire, heard, seen } of watchers) {
        const found = await followed(running, wire)
        heard.push(found.heardUs)
        seen.push(found.seenUs)
        await pause(restMs(time))
      }
    }
    return watchers.map(({ running: { name }, heard, seen }) => ({
      name,
      heard: timingOf(name, heard),
      seen: timingOf(name, seen),
    }))
  } finally {
    for (const { wire } of watchers) await wire[Symbol.asyncDispose]()
  }
}

async function followed({ upstreams, name }: Running, wire: Wire): Promise<{ heardUs: number; seenUs: number }> {
  const tool = nextName()
  const told = new Promise<void>((resolve) => {
    wire.noticed = resolve
  })
  const begin = performance.now()
  upstreams.add(upstreams.names[0] ?? '', [tool])
  await inTime(told, name)
  const heardUs = (performance.now() - begin) * 1_000
  while (!(await wire.ask('tools/list')).includes(tool)) {
    if (performance.now() > begin + giveUpMs) throw new Error(`${name} told of a change and never listed it.`)
  }
  return { heardUs, seenUs: (performance.now() - begin) * 1_000 }
}

/** How long it takes until searching finds a tool that is new: asked for without a pause until it is there. */
export async function timeSearches({ url, upstreams, name }: RunningUnfold, times: number): Promise<Timing> {
  const wire = await streamableWire(`${url}/${profiles.searching}`)
  const found: number[] = []
  try {
    for (let time = 0; time < times; time++) {
      const tool = nextName()
      const params = { name: 'search_tools', arguments: { query: tool.replaceAll('_', ' ') } }
      await wire.ask('tools/call', params)
      const begin = performance.now()
      upstreams.add(upstreams.names[0] ?? '', [tool])
      while (!(await wire.ask('tools/call', params)).includes(tool)) {
        if (performance.now() > begin + giveUpMs) throw new Error(`${name} never found a new tool.`)
      }
      found.push((performance.now() - begin) * 1_000)
      await pause(restMs(time))
    }
    return timingOf(name, found)
  } finally {
    await wire[Symbol.asyncDispose]()
  }
}

/** What many changes at once cost: notices to a client, and lists that the upstream was asked for. The most that was seen. */
export interface Burst {
  readonly name: string
  readonly gapMs: number
  readonly notices: number
  readonly lists: number
}

const burstSize = 20
const settledMs = 700

/** Makes an upstream change many times at once; the client of each asks for the list whenever it is told. */
export async function countBursts(all: readonly Running[], gapMs: number, times: number): Promise<readonly Burst[]> {
  const bursts: Burst[] = []
  for (const { name, upstreams, client } of all) {
    const wire = await client()
    try {
      let [notices, lists] = [0, 0]
      for (let time = 0; time < times; time++) {
        const before = upstreams.lists
        let told = 0
        wire.noticed = () => {
          told++
          void wire.ask('tools/list').catch(() => undefined)
        }
        upstreams.add(upstreams.names[0] ?? '', Array.from({ length: burstSize }, nextName), gapMs)
        await pause(burstSize * gapMs + settledMs)
        notices = Math.max(notices, told)
        lists = Math.max(lists, upstreams.lists - before)
      }
      bursts.push({ name, gapMs, notices, lists })
    } finally {
      await wire[Symbol.asyncDispose]()
    }
  }
  return bursts
}

async function inTime(told: Promise<void>, name: string): Promise<void> {
  const stop = new AbortController()
  const tooLate = pause(giveUpMs, 'late' as const, { signal: stop.signal }).catch(() => undefined)
  const first = await Promise.race([told, tooLate])
  stop.abort()
  if (first === 'late') throw new Error(`${name} was silent about a change.`)
}
