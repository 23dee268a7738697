import { type Engine, plainOf } from './engine.ts'

/** Textbook BM25 over the concatenated texts of a tool, as a baseline. */
export const bm25: Engine = {
  name: 'plain BM25',
  async build(documents) {
    const ids: string[] = []
    const lengths: number[] = []
    const postings = new Map<string, Map<number, number>>()
    for (const document of documents) {
      const { id, name, server, description, parameters } = plainOf(document)
      const words = wordsOf(`${name} ${server} ${description} ${parameters}`)
      for (const word of words) {
        const holders = postings.get(word) ?? new Map<number, number>()
        holders.set(ids.length, (holders.get(ids.length) ?? 0) + 1)
        postings.set(word, holders)
      }
      ids.push(id)
      lengths.push(words.length)
    }
    const usual = lengths.reduce((sum, length) => sum + length, 0) / lengths.length
    return {
      search(query, limit) {
        const scores = new Map<number, number>()
        for (const word of new Set(wordsOf(query))) {
          const holders = postings.get(word) ?? new Map<number, number>()
          const rarity = Math.log(1 + (ids.length - holders.size + 0.5) / (holders.size + 0.5))
          for (const [document, count] of holders) {
            const length = (lengths[document] ?? 0) / usual
            const score = (rarity * count * (k1 + 1)) / (count + k1 * (1 - b + b * length))
            scores.set(document, (scores.get(document) ?? 0) + score)
          }
        }
        const best = [...scores].sort(([, a], [, other]) => other - a)
        return best.slice(0, limit).map(([document]) => ids[document] ?? '')
      },
    }
  },
}

const k1 = 1.2
const b = 0.75

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
