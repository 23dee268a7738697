import { setTimeout as pause } from 'node:timers/promises'
import { type Timing, timingOf } from '../list/rounds.ts'
import { lateName } from './definitions.ts'
import { profiles, type Running, type RunningUnfold } from './gateways.ts'
import { streamableWire } from './wires/streamable.ts'
import type { Wire } from './wires/wire.ts'

/** Latency of a tool change. */
export interface Freshness {
  readonly name: string
  /** Until the client is notified. */
  readonly notified: Timing
  /** Until a list requested after the notification contains the change. */
  readonly listed: Timing
}

const timeoutMs = 5_000
// Long enough for all gateways to be idle, and not aligned with their timers.
const restMs = (number: number): number => 90 + ((number * 37) % 60)

let late = 0
const nextName = (): string => lateName(++late)

/** Changes an upstream repeatedly, in turn for each gateway; its client re-lists when notified. */
export async function timeChanges(all: readonly Running[], times: number): Promise<readonly Freshness[]> {
  const watchers = await Promise.all(
    all.map(async (running) => ({ running, wire: await running.client(), notified: [] as number[], listed: [] as number[] })),
  )
  try {
    for (const { wire } of watchers) await wire.ask('tools/list')
    for (let time = 0; time < times; time++) {
      for (const { running, wire, notified, listed } of watchers) {
        const found = await followed(running, wire)
        notified.push(found.notifiedUs)
        listed.push(found.listedUs)
        await pause(restMs(time))
      }
    }
    return watchers.map(({ running: { name }, notified, listed }) => ({
      name,
      notified: timingOf(name, notified),
      listed: timingOf(name, listed),
    }))
  } finally {
    for (const { wire } of watchers) await wire[Symbol.asyncDispose]()
  }
}

async function followed({ upstreams, name }: Running, wire: Wire): Promise<{ notifiedUs: number; listedUs: number }> {
  const tool = nextName()
  const notification = new Promise<void>((resolve) => {
    wire.noticed = resolve
  })
  const begin = performance.now()
  upstreams.add(upstreams.names[0] ?? '', [tool])
  await inTime(notification, name)
  const notifiedUs = (performance.now() - begin) * 1_000
  while (!(await wire.ask('tools/list')).includes(tool)) {
    if (performance.now() > begin + timeoutMs) throw new Error(`${name} announced a change but did not list it.`)
  }
  return { notifiedUs, listedUs: (performance.now() - begin) * 1_000 }
}

/** Measures the time until search finds a new tool, by searching continuously. */
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
        if (performance.now() > begin + timeoutMs) throw new Error(`${name} did not find the new tool.`)
      }
      found.push((performance.now() - begin) * 1_000)
      await pause(restMs(time))
    }
    return timingOf(name, found)
  } finally {
    await wire[Symbol.asyncDispose]()
  }
}

/** Maximum number of notifications to a client and of tools/list requests to the upstream for a burst of changes. */
export interface Burst {
  readonly name: string
  readonly gapMs: number
  readonly notifications: number
  readonly lists: number
}

const burstSize = 20
const settledMs = 700

/** Changes an upstream many times at once; each gateway's client re-lists when notified. */
export async function countBursts(all: readonly Running[], gapMs: number, times: number): Promise<readonly Burst[]> {
  const bursts: Burst[] = []
  for (const { name, upstreams, client } of all) {
    const wire = await client()
    try {
      let [notifications, lists] = [0, 0]
      for (let time = 0; time < times; time++) {
        const before = upstreams.lists
        let notification = 0
        wire.noticed = () => {
          notification++
          void wire.ask('tools/list').catch(() => undefined)
        }
        upstreams.add(upstreams.names[0] ?? '', Array.from({ length: burstSize }, nextName), gapMs)
        await pause(burstSize * gapMs + settledMs)
        notifications = Math.max(notifications, notification)
        lists = Math.max(lists, upstreams.lists - before)
      }
      bursts.push({ name, gapMs, notifications, lists })
    } finally {
      await wire[Symbol.asyncDispose]()
    }
  }
  return bursts
}

async function inTime(notification: Promise<void>, name: string): Promise<void> {
  const stop = new AbortController()
  const tooLate = pause(timeoutMs, 'late' as const, { signal: stop.signal }).catch(() => undefined)
  const first = await Promise.race([notification, tooLate])
  stop.abort()
  if (first === 'late') throw new Error(`${name} did not announce a change.`)
}
