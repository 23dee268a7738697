import { setTimeout as pause } from 'node:timers/promises'
import { closeConnections } from './clients.ts'
import { type GatewayProcess, isRunning, startGatewayProcess } from './gateway-process.ts'
import type { Measurement } from './probe.ts'
import { type Counts, work } from './workload.ts'

export interface SoakOptions {
  readonly minutes: number
  readonly seed: number
  /** Maximum number of actions between two measurements. Default: no limit. */
  readonly maxActions?: number
  readonly onSample?: (sample: Sample) => void
}

/** A measurement between two rounds, while no client is connected. */
export interface Sample extends Measurement {
  readonly minute: number
  /** Completed actions since the start. */
  readonly actions: number
  /** Running server processes. */
  readonly servers: number
}

export interface Soak {
  readonly samples: readonly Sample[]
  readonly counts: Counts
  /** Server processes that outlived the gateway. */
  readonly leftServers: readonly number[]
}

// For what the gateway does after the last response, such as ending sessions.
const idleMs = 2_000

/** Runs clients against a gateway process for some minutes at most, with pauses in which it is measured. */
export async function soak({ minutes, seed, maxActions = Infinity, onSample }: SoakOptions): Promise<Soak> {
  const random = randomFrom(seed)
  const samples: Sample[] = []
  const counts: Record<string, number> = {}
  const rounds = Math.max(6, Math.round(minutes))
  const roundMs = (minutes * 60_000) / rounds
  const start = Date.now()
  let gateway: GatewayProcess | undefined
  let pids: readonly number[] = []
  try {
    gateway = await startGatewayProcess()
    for (let round = 1; round <= rounds; round++) {
      const end = start + round * roundMs - Math.min(idleMs, roundMs / 2)
      const done = await work(gateway, random, { end, maxActions })
      for (const [name, count] of Object.entries(done)) counts[name] = (counts[name] ?? 0) + count
      closeConnections()
      await pause(idleMs)
      pids = gateway.servers()
      const actions = Object.values(counts).reduce((sum, count) => sum + count, 0)
      const sample = { ...(await gateway.measure()), minute: (Date.now() - start) / 60_000, actions, servers: pids.length }
      samples.push(sample)
      onSample?.(sample)
    }
    pids = gateway.servers()
  } finally {
    await gateway?.[Symbol.asyncDispose]()
  }
  return { samples, counts, leftServers: pids.filter(isRunning) }
}

/** Mulberry32: small, fast, and the same on every machine. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
