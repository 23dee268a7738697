import { expect, test } from 'vitest'
import { RecordRing } from './record-ring.ts'

const ringOf = (entries: number, count: number) => {
  const ring = new RecordRing<{ readonly seq: number }>({ entries, bytes: 1_000 }, () => 1)
  for (let seq = 1; seq <= count; seq++) ring.push({ seq })
  return ring
}

test('iterating backwards starts before a sequence number', () => {
  const ring = ringOf(5, 8)
  expect([...ring.backwards(7)].map(({ seq }) => seq)).toEqual([6, 5, 4])
  expect([...ring.backwards(4)]).toEqual([])
})

test('the sequence number of the newest dropped record is known', () => {
  expect(ringOf(5, 5).lastEvicted).toBe(0)
  expect(ringOf(5, 8).lastEvicted).toBe(3)
})

test('cleared records do not count as dropped', () => {
  const ring = ringOf(5, 8)
  ring.clear()
  expect(ring.lastEvicted).toBe(3)
})
