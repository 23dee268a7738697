import type { SearchDocument } from '@unfold-mcp/core'
import type { Engine } from '../retrieval/engine.ts'
import { manyOf } from './catalogue.ts'

/** Speed of one engine at one size. Times in milliseconds, sizes in bytes. */
export interface Speed {
  readonly engine: string
  readonly tools: number
  readonly indexMs: number
  readonly queries: number
  /** `undefined` if no query finished in time. */
  readonly p50Ms?: number
  readonly p95Ms?: number
  /** Memory of the index after garbage collection. */
  readonly keptBytes: number
  /** Peak memory of the process. */
  readonly peakBytes: number
  /** Time to re-index one changed tool, 95th percentile. */
  readonly changeP95Ms?: number
}

/** Runs per query; the best time counts, to reduce the effect of other load. */
const runs = 3

export async function measure(
  engine: Engine,
  real: readonly SearchDocument[],
  queries: readonly string[],
  { tools, maxMs }: { readonly tools: number; readonly maxMs: number },
): Promise<Speed> {
  const before = heldBytes()
  const started = performance.now()
  const searcher = await engine.build(manyOf(real, tools))
  const indexMs = performance.now() - started
  const keptBytes = heldBytes() - before
  const end = performance.now() + maxMs
  const warm = performance.now() + maxMs / 10
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

/** Memory in use after garbage collection. */
export function heldBytes(): number {
  // Once is not enough: code and caches that nobody uses survive the first collections.
  for (let i = 0; i < 6; i++) globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

export function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
