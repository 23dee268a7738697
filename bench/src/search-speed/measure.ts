import type { SearchDocument } from '@unfold-mcp/core'
import type { Engine } from '../retrieval/engine.ts'
import { manyOf } from './catalogue.ts'

/** How fast one engine is at one size. Times in milliseconds, sizes in bytes. */
export interface Speed {
  readonly engine: string
  readonly tools: number
  readonly indexMs: number
  readonly queries: number
  /** Nothing when not one query was answered in time. */
  readonly p50Ms?: number
  readonly p95Ms?: number
  /** What the index keeps after garbage collection. */
  readonly keptBytes: number
  /** The most memory the whole process had. */
  readonly peakBytes: number
  /** One tool changed and indexed again: the 95th percentile. */
  readonly changeP95Ms?: number
}

/** Each query runs this often and its best time counts: what else the machine does is not the engine's. */
const runs = 3

export async function measure(
  engine: Engine,
  real: readonly SearchDocument[],
  queries: readonly string[],
  { tools, mostMs }: { readonly tools: number; readonly mostMs: number },
): Promise<Speed> {
  const before = heldBytes()
  const started = performance.now()
  const searcher = await engine.build(manyOf(real, tools))
  const indexMs = performance.now() - started
  const keptBytes = heldBytes() - before
  const end = performance.now() + mostMs
  const warm = performance.now() + mostMs / 10
  for (const query of queries.slice(0, 50)) if (performance.now() < warm) await searcher.search(query, 10)
  const times: number[] = []
  for (const query of queries) {
    if (performance.now() > end) break
    let best = Number.POSITIVE_INFINITY
    for (let run = 0; run < runs; run++) {
      const start = performance.now()
      await searcher.search(query, 10)
      best = Math.min(best, performance.now() - start)
    }
    times.push(best)
  }
  const { change } = searcher
  return {
    engine: engine.name,
    tools,
    indexMs,
    queries: times.length,
    ...(times.length > 0 && { p50Ms: percentile(times, 0.5), p95Ms: percentile(times, 0.95) }),
    keptBytes,
    peakBytes: process.resourceUsage().maxRSS * 1_024,
    ...(change !== undefined && { changeP95Ms: timeChanges(change, real) }),
  }
}

function timeChanges(change: (document: SearchDocument) => void, real: readonly SearchDocument[]): number {
  const some = real.filter((_, index) => index % Math.ceil(real.length / 300) === 0)
  const times = some.map((document, index) => {
    const changed = { ...document, description: `${document.description ?? ''} Changed ${index} times` }
    const start = performance.now()
    change(changed)
    return performance.now() - start
  })
  return percentile(times, 0.95)
}

function heldBytes(): number {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
