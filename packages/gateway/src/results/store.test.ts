import { expect, test } from 'vitest'
import { SimulatedClock } from '../../test/simulated-clock.ts'
import { ownerOf, type ResultOwner } from './owner.ts'
import { ResultStore, type StoredText } from './store.ts'

const owner = (token: string, session = 'one'): ResultOwner =>
  ownerOf({ principal: { id: `token:${token}`, token }, era: 'session', scope: `session:${session}` })
const [ada, bob] = [owner('ada'), owner('bob')]

const textOf = (characters: number): StoredText => ({ kind: 'text', text: 'x'.repeat(characters), characters, sent: 0 })

test('a result is available to its owner only, for a limited time', async () => {
  const clock = new SimulatedClock()
  const store = new ResultStore(clock, { keepMs: 1_000 })
  const first = store.add(ada, textOf(10)) ?? ''
  await clock.run(500)
  const second = store.add(ada, textOf(10)) ?? ''
  expect(first).not.toBe(second)
  expect(store.get(ada, first)).toEqual(textOf(10))
  expect(store.get(bob, first)).toBeUndefined()
  await clock.run(1_000)
  expect([store.get(ada, first), store.get(ada, second)]).toEqual([undefined, textOf(10)])
  await clock.run()
  expect(store.get(ada, second)).toBeUndefined()
})

test('the oldest results of a client are evicted at its limit, and no others', () => {
  const store = new ResultStore(new SimulatedClock(), { bytesPerClient: 10_000, bytes: 100_000 })
  const others = store.add(bob, textOf(2_000)) ?? ''
  const handles = [1, 2, 3].map(() => store.add(ada, textOf(2_000)) ?? '')
  expect(handles.map((handle) => store.get(ada, handle) !== undefined)).toEqual([false, true, true])
  expect(store.get(bob, others)).toBeDefined()
})

test('the oldest result of the principal that has the most is evicted at the total limit', () => {
  const store = new ResultStore(new SimulatedClock(), { bytesPerClient: 10_000, bytes: 20_000 })
  const handles = Array.from({ length: 5 }, (_, index) => store.add(index < 2 ? ada : bob, textOf(2_000)) ?? '')
  // Bob has the most, so his oldest result is evicted.
  const added = store.add(owner('cleo'), textOf(2_000))
  expect(added).toBeDefined()
  expect(handles.map((handle, index) => store.get(index < 2 ? ada : bob, handle) !== undefined)).toEqual([
    true,
    true,
    false,
    true,
    true,
  ])
})

test('AT-R08-3: a principal cannot evict the results of others who have less, with any number of sessions', () => {
  const store = new ResultStore(new SimulatedClock(), { bytesPerClient: 8_000, bytesPerPrincipal: 16_000, bytes: 20_000 })
  const kept = store.add(bob, textOf(2_000)) ?? ''
  for (let session = 0; session < 50; session++) store.add(owner('ada', `${session}`), textOf(1_000))
  expect(store.get(bob, kept)).toBeDefined()
  expect(store.size.bytes).toBe(20_000)
  // If everyone has a little, a large result is not stored at all.
  const full = new ResultStore(new SimulatedClock(), { bytesPerClient: 8_000, bytesPerPrincipal: 16_000, bytes: 20_000 })
  const handles = Array.from({ length: 10 }, (_, index) => full.add(owner(`user${index}`), textOf(1_000)) ?? '')
  expect(full.add(ada, textOf(4_000))).toBeUndefined()
  expect(handles.every((handle, index) => full.get(owner(`user${index}`), handle) !== undefined)).toBe(true)
})

test('a session of a principal evicts its own results first, then those of the session that has the most', () => {
  const store = new ResultStore(new SimulatedClock(), { bytesPerClient: 12_000, bytesPerPrincipal: 16_000 })
  const [small, large, third] = [owner('ada', 'small'), owner('ada', 'large'), owner('ada', 'third')]
  const first = store.add(small, textOf(1_000)) ?? ''
  const largest = [1, 2, 3].map(() => store.add(large, textOf(2_000)) ?? '')
  expect(store.add(third, textOf(2_000))).toBeDefined()
  expect(store.get(small, first)).toBeDefined()
  expect(largest.map((handle) => store.get(large, handle) !== undefined)).toEqual([false, true, true])
})

test('a released result says why, to its owner, and after the session to the same principal', async () => {
  const clock = new SimulatedClock()
  const store = new ResultStore(clock, { bytesPerClient: 10_000, keepMs: 1_000 })
  const [evicted, expired] = [1, 2, 3].map(() => store.add(ada, textOf(2_000)) ?? '')
  expect(store.releaseOf(ada, evicted ?? '')).toBe('evicted')
  await clock.run()
  expect(store.releaseOf(ada, expired ?? '')).toBe('expired')
  const ended = store.add(ada, textOf(2_000)) ?? ''
  store.release(({ key }) => key === ada.key)
  expect(store.size).toEqual({ results: 0, bytes: 0 })
  const next = owner('ada', 'two')
  expect([evicted, expired, ended].map((handle) => store.releaseOf(next, handle ?? ''))).toEqual([undefined, undefined, 'ended'])
  expect(store.releaseOf(bob, ended)).toBeUndefined()
})

test('a result above the limit is not stored and evicts nothing', () => {
  const store = new ResultStore(new SimulatedClock(), { bytesPerClient: 10_000 })
  const kept = store.add(ada, textOf(1_000)) ?? ''
  expect(store.add(ada, textOf(store.maxCharacters + 1))).toBeUndefined()
  expect(store.get(ada, kept)).toBeDefined()
})
