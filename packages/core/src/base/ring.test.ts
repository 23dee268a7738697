import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Ring, type RingLimits } from './ring.ts'

interface Value {
  readonly seq: number
  readonly size: number
}

const sizeOf = ({ size }: Value): number => size
const ringOf = (limits: RingLimits): Ring<Value> => new Ring(limits, sizeOf)

const limits = fc.record({ entries: fc.integer({ min: 1, max: 12 }), bytes: fc.integer({ min: 1, max: 200 }) })
const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant('push' as const), size: fc.integer({ min: 0, max: 60 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('limit' as const), limits }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('replace' as const), by: fc.integer({ min: -5, max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
)

test('for any pushes, limits, replacements and clears, a ring contains the same as a plain list that drops its oldest items', () => {
  fc.assert(
    fc.property(limits, fc.array(step, { maxLength: 60, size: 'max' }), (first, steps) => {
      const removed: number[] = []
      const ring = new Ring<Value>(first, sizeOf, ({ seq }) => removed.push(seq))
      let model: Value[] = []
      let now = first
      let seq = 0
      let evicted = 0
      const gone: number[] = []
      const bytes = (): number => model.reduce((sum, { size }) => sum + size, 0)
      const drop = (isFull: () => boolean): void => {
        while (model.length > 0 && isFull()) {
          gone.push(model[0]?.seq ?? 0)
          model = model.slice(1)
          evicted++
        }
      }
      for (const each of steps) {
        if (each.do === 'push') {
          const value = { seq: ++seq, size: each.size }
          drop(() => model.length >= now.entries || bytes() + value.size > now.bytes)
          model = [...model, value]
          ring.push(value)
        } else if (each.do === 'limit') {
          now = each.limits
          drop(() => model.length > now.entries || bytes() > now.bytes)
          ring.limit(now)
        } else if (each.do === 'replace') {
          const change = (value: Value): Value => ({ ...value, size: Math.max(0, value.size + each.by) })
          model = model.map(change)
          drop(() => model.length > now.entries || bytes() > now.bytes)
          ring.replace(change)
        } else {
          gone.push(...model.map((value) => value.seq))
          model = []
          ring.clear()
        }
        expect([...ring]).toEqual(model)
        expect([...ring.backwards()]).toEqual(model.toReversed())
        expect(ring).toMatchObject({ length: model.length, bytes: bytes(), evicted, pushed: seq, newest: model.at(-1) })
        expect(removed).toEqual(gone)
      }
    }),
    { numRuns: 300 },
  )
})

test('a ring is within its limits after every push, except for a single item that exceeds them', () => {
  const ring = ringOf({ entries: 10, bytes: 100 })
  for (let seq = 1; seq <= 50; seq++) ring.push({ seq, size: 30 })
  expect(ring).toMatchObject({ length: 3, bytes: 90, evicted: 47 })
  ring.push({ seq: 51, size: 500 })
  expect([...ring].map(({ seq }) => seq)).toEqual([51])
  ring.push({ seq: 52, size: 1 })
  expect([...ring].map(({ seq }) => seq)).toEqual([52])
})

test('the last matches are returned in order, up to the limit', () => {
  const ring = new Ring<number>({ entries: 5 })
  expect(ring.last(3)).toEqual([])
  for (let each = 1; each <= 8; each++) ring.push(each)
  expect(ring.last(2)).toEqual([7, 8])
  expect(ring.last(9)).toEqual([4, 5, 6, 7, 8])
  expect(ring.last(2, (each) => each % 2 === 0)).toEqual([6, 8])
})

test('a million pushes do not exceed the limits', () => {
  const ring = ringOf({ entries: 1_000, bytes: 50_000 })
  let most = { length: 0, bytes: 0 }
  for (let seq = 1; seq <= 1_000_000; seq++) {
    ring.push({ seq, size: seq % 100 })
    most = { length: Math.max(most.length, ring.length), bytes: Math.max(most.bytes, ring.bytes) }
  }
  expect(most.length).toBeLessThanOrEqual(1_000)
  expect(most.bytes).toBeLessThanOrEqual(50_000)
  expect([...ring]).toHaveLength(ring.length)
  expect(ring.evicted).toBe(1_000_000 - ring.length)
})
