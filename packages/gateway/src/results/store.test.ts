import { expect, test } from 'vitest'
import { SimulatedClock } from '../../test/simulated-clock.ts'
import { ResultStore, type StoredText } from './store.ts'

const textOf = (characters: number): StoredText => ({ kind: 'text', text: 'x'.repeat(characters), characters, sent: 0 })

test('a result is kept for its owner alone, and for a time', async () => {
  const clock = new SimulatedClock()
  const store = new ResultStore(clock, { keepMs: 1_000 })
  const first = store.add('ada', textOf(10)) ?? ''
  await clock.run(500)
  const second = store.add('ada', textOf(10)) ?? ''
  expect(first).not.toBe(second)
  expect(store.get('ada', first)).toEqual(textOf(10))
  expect(store.get('bob', first)).toBeUndefined()
  await clock.run(1_000)
  expect([store.get('ada', first), store.get('ada', second)]).toEqual([undefined, textOf(10)])
  await clock.run()
  expect(store.get('ada', second)).toBeUndefined()
})

test('the oldest results of a client are evicted at its limit, and no others', () => {
  const store = new ResultStore(new SimulatedClock(), { bytesPerClient: 10_000, bytes: 100_000 })
  const others = store.add('bob', textOf(2_000)) ?? ''
  const handles = [1, 2, 3].map(() => store.add('ada', textOf(2_000)) ?? '')
  expect(handles.map((handle) => store.get('ada', handle) !== undefined)).toEqual([false, true, true])
  expect(store.get('bob', others)).toBeDefined()
})

test('the oldest results are evicted at the total limit', () => {
  const store = new ResultStore(new SimulatedClock(), { bytesPerClient: 10_000, bytes: 20_000 })
  const kept = Array.from(
    { length: 8 },
    (_, client) => [`client ${client}`, store.add(`client ${client}`, textOf(2_000)) ?? ''] as const,
  )
  expect(kept.filter(([owner, handle]) => store.get(owner, handle) !== undefined).map(([owner]) => owner)).toEqual(
    [3, 4, 5, 6, 7].map((client) => `client ${client}`),
  )
})

test('a result above the limit is not stored and evicts nothing', () => {
  const store = new ResultStore(new SimulatedClock(), { bytesPerClient: 10_000 })
  const kept = store.add('ada', textOf(1_000)) ?? ''
  expect(store.add('ada', textOf(store.maxCharacters + 1))).toBeUndefined()
  expect(store.get('ada', kept)).toBeDefined()
})
