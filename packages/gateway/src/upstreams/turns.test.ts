import { expect, test } from 'vitest'
import { Turns } from './turns.ts'

test('so many are let in, so many wait, and the next is turned away', async () => {
  const turns = new Turns(() => ({ concurrency: 1, queue: 1 }))
  const leave = await turns.enter()
  const second = turns.enter()
  expect(await turns.enter()).toBeUndefined()
  expect([turns.running, turns.waiting]).toEqual([1, 1])
  leave?.()
  leave?.()
  expect(await second).toBeTypeOf('function')
  expect([turns.running, turns.waiting]).toEqual([1, 0])
})

test('one whose turn it is at once need not wait for it, and one whose turn it is not is not in the line', () => {
  const turns = new Turns(() => ({ concurrency: 1, queue: 1 }))
  expect(turns.enterNow(AbortSignal.abort())).toBeUndefined()
  const leave = turns.enterNow()
  expect(turns.enterNow()).toBeUndefined()
  expect([turns.running, turns.waiting]).toEqual([1, 0])
  leave?.()
  expect(turns.running).toBe(0)
})

test('those who wait come in the order in which they came', async () => {
  const turns = new Turns(() => ({ concurrency: 1, queue: 9 }))
  const leave = await turns.enter()
  const order: number[] = []
  const others = [1, 2, 3].map(async (each) => {
    const done = await turns.enter()
    order.push(each)
    done?.()
  })
  leave?.()
  await Promise.all(others)
  expect(order).toEqual([1, 2, 3])
})

test('one who no longer wants to wait takes nobody’s turn', async () => {
  const turns = new Turns(() => ({ concurrency: 1, queue: 2 }))
  const leave = await turns.enter()
  const stop = new AbortController()
  const impatient = turns.enter(stop.signal)
  const patient = turns.enter()
  stop.abort(new Error('enough'))
  await expect(impatient).rejects.toThrow('enough')
  leave?.()
  expect(await patient).toBeTypeOf('function')
  expect(turns.waiting).toBe(0)
})

test('when more are allowed, more are let in at the next turn', async () => {
  let concurrency = 1
  const turns = new Turns(() => ({ concurrency, queue: 9 }))
  const leave = await turns.enter()
  const others = [turns.enter(), turns.enter()]
  concurrency = 2
  leave?.()
  await Promise.all(others)
  expect(turns.running).toBe(2)
})
