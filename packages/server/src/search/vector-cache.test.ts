import fc from 'fast-check'
import { expect, test } from 'vitest'
import { VectorCache } from './vector-cache.ts'

test('a full cache rejects new vectors instead of evicting vectors in use', () => {
  const vectors = new VectorCache(4)
  expect(vectors.set('a', new Float32Array(2), 0)).toBe(true)
  expect(vectors.set('b', new Float32Array(2), 0)).toBe(true)
  expect(vectors.set('c', new Float32Array(2), 0)).toBe(false)
  vectors.get('a', 10)
  vectors.deleteUnusedSince(5)
  expect(vectors.get('b', 10)).toBeUndefined()
  expect(vectors.set('c', new Float32Array(2), 10)).toBe(true)
  expect(vectors.get('a', 10)).toHaveLength(2)
})

test('it never exceeds its limit, whatever the operations', () => {
  const hash = fc.constantFrom('a', 'b', 'c', 'd')
  const step = fc.oneof(
    fc.record({ set: hash, length: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ delete: hash }),
    fc.record({ since: fc.integer({ min: 0, max: 50 }) }),
  )
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const vectors = new VectorCache(8)
      for (const [now, each] of steps.entries()) {
        if ('set' in each) vectors.set(each.set, new Float32Array(each.length), now)
        else if ('delete' in each) vectors.delete(each.delete)
        else vectors.deleteUnusedSince(each.since)
        const size = ['a', 'b', 'c', 'd'].reduce((sum, one) => sum + (vectors.get(one, now)?.length ?? 0), 0)
        expect(size).toBeLessThanOrEqual(8)
      }
      for (const one of ['a', 'b', 'c', 'd']) vectors.delete(one)
      expect(vectors.set('e', new Float32Array(8), 0)).toBe(true)
    }),
  )
})
