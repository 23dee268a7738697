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

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

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

/** A queue next to a plain list of its expected contents. Each method returns the discrepancies. */
class Model {
  readonly #queue = new FairQueue<number>()
  readonly #outer = new Turns()
  readonly #inner = new Map(['a', 'b', 'c'].map((key) => [key, new Turns()]))
  #queued: readonly Queued[] = []
  #lastId = 0

  step(each: Step): readonly string[] {
    const problems = this.#done(each)
    this.#outer.retain(new Set(this.#queued.map(({ path: [key] }) => key)))
    for (const [key, turns] of this.#inner) turns.retain(this.#partsOf(key))
    return this.#queue.size === this.#queued.length ? problems : [...problems, 'the size is wrong']
  }

  #done(each: Step): readonly string[] {
    if (each.do === 'add') return this.#add(each.path)
    return each.do === 'remove' ? this.#remove(each.at) : this.#take(each.blocked)
  }

  #add(to: readonly [string, string]): readonly string[] {
    const id = ++this.#lastId
    this.#queued = [...this.#queued, { id, path: to, remove: this.#queue.add(to, id) }]
    return []
  }

  #remove(at: number): readonly string[] {
    const gone = this.#queued[at]
    if (gone === undefined) return []
    this.#forget(gone)
    return [gone.remove() ? '' : 'it was not removed', gone.remove() ? 'it was removed twice' : ''].filter(Boolean)
  }

  #take(blocked: string): readonly string[] {
    const eligible = this.#queued.filter((item) => item.path[0] !== blocked)
    const id = this.#queue.take(([key]) => key !== blocked)
    const taken = this.#queued.find((item) => item.id === id)
    if (taken === undefined) return id === undefined && eligible.length === 0 ? [] : ['a value is lost, or was taken twice']
    const [key, part] = taken.path
    const first = eligible.find((item) => item.path[0] === key && item.path[1] === part)
    this.#forget(taken)
    // A blocked key keeps its place, but its wait does not count: it could not be served.
    const waiting = new Set(eligible.filter((item) => item.id !== id).map((item) => item.path[0]))
    return [
      first?.id === id ? '' : 'it was not the first of its key',
      taken.remove() ? 'a taken value was removed' : '',
      this.#outer.record(key, waiting) > 1 ? 'a key waited for two turns of another' : '',
      (this.#inner.get(key)?.record(part, this.#partsOf(key)) ?? 0) > 1 ? 'a part waited for two turns of another' : '',
    ].filter(Boolean)
  }

  #partsOf(key: string): ReadonlySet<string> {
    return new Set(this.#queued.filter((item) => item.path[0] === key).map((item) => item.path[1]))
  }

  #forget({ id }: Queued): void {
    this.#queued = this.#queued.filter((item) => item.id !== id)
  }
}

test('no key waits for more than one turn of each other key, nothing is lost, and removed values are never taken', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      const model = new Model()
      expect(steps.flatMap((each) => model.step(each))).toEqual([])
    }),
    propertyRuns({ long: 5_000, sample: 300 }),
  )
})

test('a key with one value waits for at most one value of each other key', () => {
  const queue = new FairQueue<string>()
  for (let each = 0; each < 100; each++) queue.add(['greedy'], `g${each}`)
  queue.add(['modest'], 'm')
  expect([queue.take(), queue.take(), queue.take()]).toEqual(['g0', 'm', 'g1'])
})
