import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { FairQueue } from './fair-queue.ts'

const path = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'y'))
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('add' as const), path }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('take' as const), blocked: fc.constantFrom('', '', 'a', 'b') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), at: fc.nat(20) }) },
)

interface Queued {
  readonly id: number
  readonly path: readonly [string, string]
  readonly remove: () => boolean
}

/** Counts how often other keys were served while a key was waiting for its turn. */
class Turns {
  readonly #served = new Map<string, Map<string, number>>()

  /** Forgets the keys that no longer wait. */
  retain(waiting: ReadonlySet<string>): void {
    for (const each of [...this.#served.keys()]) if (!waiting.has(each)) this.#served.delete(each)
  }

  /** Records a turn, and returns the largest count. */
  record(key: string, waiting: ReadonlySet<string>): number {
    this.#served.delete(key)
    this.retain(waiting)
    let most = 0
    for (const each of waiting) {
      if (each === key) continue
      const counts = this.#served.get(each) ?? new Map<string, number>()
      counts.set(key, (counts.get(key) ?? 0) + 1)
      this.#served.set(each, counts)
      most = Math.max(most, counts.get(key) ?? 0)
    }
    return most
  }
}

test('nobody waits for more than one turn of each other key, nothing is lost, and what was removed is never taken', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      const queue = new FairQueue<number>()
      const outer = new Turns()
      const inner = new Map(['a', 'b', 'c'].map((key) => [key, new Turns()]))
      let queued: Queued[] = []
      let lastId = 0
      for (const each of steps) {
        if (each.do === 'add') {
          const id = ++lastId
          queued.push({ id, path: each.path, remove: queue.add(each.path, id) })
        } else if (each.do === 'remove') {
          const gone = queued[each.at]
          if (gone === undefined) continue
          queued = queued.filter(({ id }) => id !== gone.id)
          expect([gone.remove(), gone.remove()]).toEqual([true, false])
        } else {
          const eligible = queued.filter((item) => item.path[0] !== each.blocked)
          const id = queue.take(([key]) => key !== each.blocked)
          const taken = queued.find((item) => item.id === id)
          expect(taken === undefined).toBe(eligible.length === 0)
          if (taken === undefined) continue
          const [key, part] = taken.path
          // First come, first served within a key.
          expect(eligible.find((item) => item.path[0] === key && item.path[1] === part)?.id).toBe(id)
          queued = queued.filter((item) => item.id !== id)
          expect(taken.remove()).toBe(false)
          const waiting = new Set(eligible.filter((item) => item.id !== id).map((item) => item.path[0]))
          const parts = new Set(queued.filter((item) => item.path[0] === key).map((item) => item.path[1]))
          // A blocked key keeps its place, but its wait does not count: it could not be served.
          expect(outer.record(key, waiting)).toBeLessThanOrEqual(1)
          expect(inner.get(key)?.record(part, parts)).toBeLessThanOrEqual(1)
        }
        expect(queue.size).toBe(queued.length)
        outer.retain(new Set(queued.map((item) => item.path[0])))
        for (const [key, turns] of inner)
          turns.retain(new Set(queued.filter((item) => item.path[0] === key).map((item) => item.path[1])))
      }
    }),
    propertyRuns({ long: 5_000, sample: 300 }),
  )
})

test('a key with one value comes after one of each other, however many those have', () => {
  const queue = new FairQueue<string>()
  for (let each = 0; each < 100; each++) queue.add(['greedy'], `g${each}`)
  queue.add(['modest'], 'm')
  expect([queue.take(), queue.take(), queue.take()]).toEqual(['g0', 'm', 'g1'])
})
