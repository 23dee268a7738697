import { expect, test } from 'vitest'
import type { RenderedView } from './rendered-view.ts'
import { RenderedViewCache } from './rendered-view-cache.ts'

const listing = (count: number): RenderedView => ({
  entries: [],
  tools: Array.from({ length: count }, (_, index) => ({ name: `t${index}`, inputSchema: { type: 'object' } })),
  fingerprint: '',
  bytes: new Uint8Array(),
  tokens: 0,
  isCounted: false,
})

test('the least recently used views are evicted when they list too many tools in total', () => {
  const cache = new RenderedViewCache(100)
  const [a, b, c] = [listing(30), listing(30), listing(30)]
  cache.set('a', a)
  cache.set('b', b)
  cache.get('a')
  cache.set('c', c)
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([a, undefined, c])
})

test('a view larger than the limit is kept as long as it is the newest', () => {
  const cache = new RenderedViewCache(10)
  const large = listing(50)
  cache.set('large', large)
  expect(cache.get('large')).toBe(large)
  cache.set('small', listing(1))
  expect(cache.get('large')).toBeUndefined()
})
