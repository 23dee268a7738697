import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Vectors } from './vectors.ts'

test('a full cache refuses new vectors rather than forget those in use', () => {
  const vectors = new Vectors(4)
  expect(vectors.set('a', new Float32Array(2), 0)).toBe(true)
  expect(vectors.set('b', new Float32Array(2), 0)).toBe(true)
  expect(vectors.set('c', new Float32Array(2), 0)).toBe(false)
  vectors.get('a', 10)
  vectors.forgetUnusedSince(5)
  expect(vectors.get('b', 10)).toBeUndefined()
  expect(vectors.set('c', new Float32Array(2), 10)).toBe(true)
  expect(vectors.get('a', 10)).toHaveLength(2)
})

test('it never holds more numbers than it may, whatever is done to it', () => {
  const content = fc.constantFrom('a', 'b', 'c', 'd')
  const step = fc.oneof(
    fc.record({ set: content, length: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ forget: content }),
    fc.record({ since: fc.integer({ min: 0, max: 50 }) }),
  )
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const vectors = new Vectors(8)
      for (const [now, each] of steps.entries()) {
        if ('set' in each) vectors.set(each.set, new Float32Array(each.length), now)
        else if ('forget' in each) vectors.delete(each.forget)
        else vectors.forgetUnusedSince(each.since)
        const held = ['a', 'b', 'c', 'd'].reduce((sum, one) => sum + (vectors.get(one, now)?.length ?? 0), 0)
        expect(held).toBeLessThanOrEqual(8)
      }
      for (const one of ['a', 'b', 'c', 'd']) vectors.delete(one)
      expect(vectors.set('e', new Float32Array(8), 0)).toBe(true)
    }),
  )
})
