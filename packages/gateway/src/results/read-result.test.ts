import { systemClock } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { ownerOf } from './owner.ts'
import { readResult } from './read-result.ts'
import { ResultStore } from './store.ts'

const ctx = { principal: undefined, era: 'session', scope: 'session:1' } as const

/** The positions of the matches. */
async function placesOf(text: string, find: string, offset = 0): Promise<readonly number[]> {
  const store = new ResultStore(systemClock)
  const handle = store.add(ownerOf(ctx), { kind: 'text', text, characters: text.length, sent: 0 }) ?? ''
  const { content } = await readResult(store, { handle, find, offset }, ctx, 50_000)
  store.close()
  const [first] = content
  return first?.type === 'text' ? [...first.text.matchAll(/^- at (\d+):/gmu)].map(([, at]) => Number(at)) : []
}

test('every match in a long text is found once', async () => {
  const places = [0, 262_140, 262_200, 524_280, 786_431, 999_000]
  const text = places.reduce((all, at) => `${all.padEnd(at, '-')}Needle 😀`, '')
  expect(await placesOf(text, 'needle 😀')).toEqual(places)
  expect(await placesOf(text, 'needle 😀', 262_141)).toEqual(places.slice(2))
  expect(await placesOf('ab'.repeat(300_000), 'ab')).toHaveLength(20)
})

test('a slow search yields to the event loop', async () => {
  let turns = 0
  const turn = (): void => {
    turns++
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  expect(await placesOf('a'.repeat(4_000_000), `${'a'.repeat(199)}b`)).toEqual([])
  clearImmediate(next)
  expect(turns).toBeGreaterThan(10)
})
