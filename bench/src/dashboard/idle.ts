import { execFileSync } from 'node:child_process'
import type { ListeningServer } from '@unfold-mcp/server'
import { streamableWire } from '../gateway/wires/streamable.ts'
import { startGateway } from './gateway.ts'

/** Costs of a gateway whose dashboard nobody opens. */
interface Idle {
  readonly startMs: number
  readonly bytes: number
}

export interface IdleCosts {
  readonly with: Idle
  readonly without: Idle
}

const servers = 20
const lists = 200

/** Starts gateways with and without the dashboard in turn, so that other load affects both equally. Returns medians. */
export async function measureIdle(played: ListeningServer, rounds: number): Promise<IdleCosts> {
  const [on, off]: [Idle[], Idle[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    // The first start of a round has colder caches.
    const order = [true, false]
    for (const hasDashboard of round % 2 === 0 ? order : order.toReversed())
      (hasDashboard ? on : off).push(await once(played, hasDashboard))
  }
  return { with: medianOf(on), without: medianOf(off) }
}

async function once(played: ListeningServer, hasDashboard: boolean): Promise<Idle> {
  await using gateway = await startGateway({ servers, played, hasDashboard })
  await using wire = await streamableWire(gateway.url)
  for (let list = 0; list < lists; list++) await wire.ask('tools/list')
  const { pid, startMs } = gateway
  return { startMs, bytes: 1_024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) }
}

const medianOf = (all: readonly Idle[]): Idle => ({
  startMs: median(all.map(({ startMs }) => startMs)),
  bytes: median(all.map(({ bytes }) => bytes)),
})

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
