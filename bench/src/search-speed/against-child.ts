// Compares this search with an earlier one in the same process, or measures the memory of one of them.
import { once } from 'node:events'
import { SearchIndex } from '@unfold-mcp/core'
import { manyOf } from './catalogue.ts'
import { heldBytes, percentile } from './measure.ts'
import { readTask } from './task.ts'

export interface AgainstOrder {
  /** Module of the earlier search. */
  readonly module: string
  readonly tools: number
  readonly measured: 'times' | 'memory' | 'earlier memory'
  readonly folder?: string
}

/** Cost of the queries with one version. */
export interface VersionCost {
  readonly p50Ms: number
  readonly p95Ms: number
  /** Mean CPU time per query, garbage collection included. */
  readonly cpuMs: number
}

export interface AgainstResult {
  readonly times?: { readonly before: VersionCost; readonly now: VersionCost }
  readonly bytes?: number
}

type Index = Pick<SearchIndex, 'set' | 'search'>

const rounds = 5

const [order] = (await once(process, 'message')) as [AgainstOrder]
process.send?.(await resultOf(order))
process.disconnect()

async function resultOf({ module, tools, measured, folder }: AgainstOrder): Promise<AgainstResult> {
  const { real, queries } = readTask(folder)
  const earlier: { readonly SearchIndex: new () => Index } = await import(module)
  const indexOf = (index: Index): Index => {
    for (const document of manyOf(real, tools)) index.set(document)
    return index
  }
  if (measured !== 'times') {
    const before = heldBytes()
    const index = indexOf(measured === 'memory' ? new SearchIndex() : new earlier.SearchIndex())
    const bytes = heldBytes() - before
    index.search('keeps the index alive')
    return { bytes }
  }
  return { times: timesOf(indexOf(new earlier.SearchIndex()), indexOf(new SearchIndex()), queries) }
}

function timesOf(before: Index, now: Index, queries: readonly string[]): NonNullable<AgainstResult['times']> {
  const best = [before, now].map(() => queries.map(() => Number.POSITIVE_INFINITY))
  const cpu = [0, 0]
  for (let round = -1; round < rounds; round++) {
    // Blocks of queries, because the clock of the CPU is coarse; the version that goes first changes.
    for (let start = 0; start < queries.length; start += 20) {
      const versions = (round + start / 20) % 2 === 0 ? [0, 1] : [1, 0]
      for (const version of versions) {
        const index = version === 0 ? before : now
        const used = process.cpuUsage()
        for (let at = start; at < Math.min(queries.length, start + 20); at++) {
          const started = performance.now()
          index.search(queries[at] ?? '', { limit: 10 })
          const took = performance.now() - started
          // The first round is a warm-up.
          if (round >= 0) (best[version] as number[])[at] = Math.min(took, best[version]?.[at] ?? took)
        }
        const { user, system } = process.cpuUsage(used)
        if (round >= 0) cpu[version] = (cpu[version] ?? 0) + user + system
      }
    }
  }
  const costOf = (version: number): VersionCost => ({
    p50Ms: percentile(best[version] ?? [], 0.5),
    p95Ms: percentile(best[version] ?? [], 0.95),
    cpuMs: (cpu[version] ?? 0) / 1_000 / rounds / queries.length,
  })
  return { before: costOf(0), now: costOf(1) }
}
