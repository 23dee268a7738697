import { expect, test } from 'vitest'
import { RecordRing } from './record-ring.ts'

const ringOf = (entries: number, count: number) => {
  const ring = new RecordRing<{ readonly seq: number }>({ entries, bytes: 1_000 }, () => 1)
  for (let seq = 1; seq <= count; seq++) ring.push({ seq })
  return ring
}

test('going backwards begins before a place', () => {
  const ring = ringOf(5, 8)
  expect([...ring.backwards(7)].map(({ seq }) => seq)).toEqual([6, 5, 4])
  expect([...ring.backwards(4)]).toEqual([])
})

test('the newest record that was dropped is known by its number', () => {
  expect(ringOf(5, 5).lastEvicted).toBe(0)
  expect(ringOf(5, 8).lastEvicted).toBe(3)
})

test('clearing drops nothing because of the limits', () => {
  const ring = ringOf(5, 8)
  ring.clear()
  expect(ring.lastEvicted).toBe(3)
})
