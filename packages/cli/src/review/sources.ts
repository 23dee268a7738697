import { definitions } from './definitions.ts'
import type { Access, Decision, ReviewEntry, ReviewSource } from './entry.ts'

/** Everything that `unfold review` shows, in this order. */
const sources: readonly ReviewSource[] = [definitions]

export interface ReviewList {
  readonly entries: readonly ReviewEntry[]
  /** The entries by source, for --json. */
  readonly data: { readonly [source: string]: readonly object[] }
  /** Returns how many entries were still as shown. */
  readonly decide: (decision: Decision, entries: readonly ReviewEntry[]) => Promise<number>
}

export async function loadReview(access: Access, server: string | undefined): Promise<ReviewList> {
  const lists = await Promise.all(
    sources.map(async (source) => {
      const loaded = await source.load(access)
      return { source, entries: loaded.filter((entry) => server === undefined || entry.server === server) }
    }),
  )
  return {
    entries: lists.flatMap(({ entries }) => entries),
    data: Object.fromEntries(lists.map(({ source, entries }) => [source.name, entries.map(({ data }) => data)])),
    async decide(decision, chosen) {
      let decided = 0
      for (const { source, entries } of lists)
        for (const name of new Set(entries.map((entry) => entry.server))) {
          const own = entries.filter((entry) => entry.server === name && chosen.includes(entry))
          if (own.length > 0) decided += await source.decide(access, decision, own)
        }
      return decided
    },
  }
}
