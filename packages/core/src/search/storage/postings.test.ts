import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Postings } from './postings.ts'

const pairsOf = (postings: Postings, term: number): number[] => [
  ...postings.pool.slice(postings.start(term), postings.start(term) + 2 * postings.count(term)),
]

test('documents are sorted, in whatever order they are added', () => {
  const postings = new Postings()
  for (const document of [5, 1, 9, 3]) postings.add(7, document, document * 10)
  expect(pairsOf(postings, 7)).toEqual([1, 10, 3, 30, 5, 50, 9, 90])
  expect(postings.payload(7, 3)).toBe(30)
  expect(postings.payload(7, 4)).toBeUndefined()
})

test('postings contain the same as a map of maps', () => {
  const change = fc.record({ term: fc.nat(300), document: fc.nat(50), payload: fc.nat(0xffffffff), isRemoval: fc.boolean() })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 400 }), (changes) => {
      const postings = new Postings()
      const model = new Map<number, Map<number, number>>()
      const left: [number, number][] = []
      for (const { term, document, payload, isRemoval } of changes) {
        const documents = model.get(term) ?? new Map<number, number>()
        model.set(term, documents)
        if (isRemoval && documents.delete(document)) left.push([postings.remove(term, document), documents.size])
        if (isRemoval || documents.has(document)) continue
        documents.set(document, payload)
        postings.add(term, document, payload)
      }
      expect(left.every(([actual, expected]) => actual === expected)).toBe(true)
      for (const [term, documents] of model) {
        expect(pairsOf(postings, term)).toEqual([...documents].sort(([a], [b]) => a - b).flat())
      }
    }),
  )
})

test('freed space is reused', () => {
  const postings = new Postings()
  const fill = () => {
    for (let document = 0; document < 1_000; document++) postings.add(document % 10, document, 1)
  }
  const empty = () => {
    for (let document = 0; document < 1_000; document++) postings.remove(document % 10, document)
  }
  fill()
  const room = postings.pool.length
  for (let round = 0; round < 20; round++) {
    empty()
    fill()
  }
  expect(postings.pool.length).toBe(room)
})
