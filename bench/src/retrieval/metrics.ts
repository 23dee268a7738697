import type { RetrievalQuery } from './sets.ts'

/** How well a list of tools answers; each from 0 to 1. */
export interface Quality {
  /** The share of the needed tools among the first one, five and ten. */
  readonly recall1: number
  readonly recall5: number
  readonly recall10: number
  /** One over the place of the first needed tool. */
  readonly mrr: number
  readonly ndcg10: number
  /** Whether all needed tools are among the first ten. */
  readonly complete10: number
}

export const qualities = ['recall1', 'recall5', 'recall10', 'mrr', 'ndcg10', 'complete10'] as const

export function qualityOf(found: readonly string[], { needs }: RetrievalQuery): Quality {
  const places = needs.map((ids) => found.findIndex((id) => ids.includes(id))).filter((place) => place !== -1)
  const within = (count: number): number => places.filter((place) => place < count).length / needs.length
  const first = Math.min(...places)
  return {
    recall1: within(1),
    recall5: within(5),
    recall10: within(10),
    mrr: Number.isFinite(first) ? 1 / (first + 1) : 0,
    ndcg10: gain(places.filter((place) => place < 10)) / gain(needs.slice(0, 10).map((_, place) => place)),
    complete10: within(10) === 1 ? 1 : 0,
  }
}

/** Discounted gain of needed tools at these places; a tool that serves two needs counts for both. */
const gain = (places: readonly number[]): number => places.reduce((sum, place) => sum + 1 / Math.log2(place + 2), 0)

export function meanOf(each: readonly Quality[]): Quality {
  const mean = (key: keyof Quality): number => each.reduce((sum, quality) => sum + quality[key], 0) / each.length
  return {
    recall1: mean('recall1'),
    recall5: mean('recall5'),
    recall10: mean('recall10'),
    mrr: mean('mrr'),
    ndcg10: mean('ndcg10'),
    complete10: mean('complete10'),
  }
}
