import { rmSync } from 'node:fs'
import { countText, sizeText, tableOf } from '../list/table.ts'
import type { AgainstOrder, AgainstResult, VersionCost } from './against-child.ts'
import { compileEarlier } from './earlier.ts'

/** Runs a measurement in a child process. */
export type Measure = (order: AgainstOrder) => Promise<AgainstResult | undefined>

/** Compares the search with that of an earlier commit; both answer each query in turn, so that other load affects both. */
export async function reportAgainst(
  commit: string,
  sizes: readonly number[],
  folder: string | undefined,
  measure: Measure,
): Promise<string> {
  const earlier = compileEarlier(commit)
  try {
    const rows: string[][] = []
    for (const tools of sizes) {
      const order = { module: earlier.module, tools, ...(folder !== undefined && { folder }) }
      const times = await measure({ ...order, measured: 'times' })
      // A process per version: the garbage of one must not count for the other.
      const memoryBefore = await measure({ ...order, measured: 'earlier memory' })
      const memoryNow = await measure({ ...order, measured: 'memory' })
      if (times?.times === undefined || memoryBefore?.bytes === undefined || memoryNow?.bytes === undefined) {
        rows.push([countText(tools), 'did not finish in time'])
        continue
      }
      const { before, now } = times.times
      const row = (what: string, costOf: (cost: VersionCost) => number): string[] => [
        countText(tools),
        what,
        `${costOf(before).toFixed(2)} ms`,
        `${costOf(now).toFixed(2)} ms`,
        changeText(costOf(before), costOf(now)),
      ]
      rows.push(
        row('query p50', ({ p50Ms }) => p50Ms),
        row('query p95', ({ p95Ms }) => p95Ms),
        row('CPU time per query', ({ cpuMs }) => cpuMs),
        [
          countText(tools),
          'memory of the index',
          sizeText(memoryBefore.bytes),
          sizeText(memoryNow.bytes),
          changeText(memoryBefore.bytes, memoryNow.bytes),
        ],
      )
    }
    return `Search compared with ${commit}; queries in turn, best of five per query\n\n${tableOf(['tools', '', 'before', 'now', ''], rows)}`
  } finally {
    rmSync(earlier.folder, { recursive: true, force: true })
  }
}

function changeText(before: number, now: number): string {
  const percent = Math.round((now / before - 1) * 100)
  return `${percent >= 0 ? '+' : '−'}${Math.abs(percent)} %`
}
