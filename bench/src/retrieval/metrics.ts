import type { RetrievalQuery } from './sets.ts'

/** Quality of a result list; each metric from 0 to 1. */
export interface Quality {
  /** Share of the needed tools among the first one, five and ten. */
  readonly recall1: number
  readonly recall5: number
  readonly recall10: number
  /** Reciprocal rank of the first needed tool. */
  readonly mrr: number
  readonly ndcg5: number
  readonly ndcg10: number
  /** 1 if all needed tools are among the first ten. */
  readonly complete10: number
}

export const qualities = ['recall1', 'recall5', 'recall10', 'mrr', 'ndcg5', 'ndcg10', 'complete10'] as const

export function qualityOf(found: readonly string[], { needs }: RetrievalQuery): Quality {
  const ranks = needs.map((ids) => found.findIndex((id) => ids.includes(id))).filter((rank) => rank !== -1)
  const within = (count: number): number => ranks.filter((rank) => rank < count).length / needs.length
  const gainWithin = (count: number): number =>
    gain(ranks.filter((rank) => rank < count)) / gain(needs.slice(0, count).map((_, rank) => rank))
  const first = Math.min(...ranks)
  return {
    recall1: within(1),
    recall5: within(5),
    recall10: within(10),
    mrr: Number.isFinite(first) ? 1 / (first + 1) : 0,
    ndcg5: gainWithin(5),
    ndcg10: gainWithin(10),
    complete10: within(10) === 1 ? 1 : 0,
  }
}

/** Discounted gain of needed tools at these ranks; a tool that serves two needs counts for both. */
const gain = (ranks: readonly number[]): number => ranks.reduce((sum, rank) => sum + 1 / Math.log2(rank + 2), 0)

export function meanOf(each: readonly Quality[]): Quality {
  const mean = (key: keyof Quality): number => each.reduce((sum, quality) => sum + quality[key], 0) / each.length
  return {
    recall1: mean('recall1'),
    recall5: mean('recall5'),
    recall10: mean('recall10'),
    mrr: mean('mrr'),
    ndcg5: mean('ndcg5'),
    ndcg10: mean('ndcg10'),
    complete10: mean('complete10'),
  }
}
