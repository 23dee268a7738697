import { expect, test } from 'vitest'
import { Semaphore } from './semaphore.ts'

test('the limits of running and queued callers apply, and the next one is rejected', async () => {
  const semaphore = new Semaphore(() => ({ concurrency: 1, queue: 1 }))
  const release = await semaphore.acquire()
  const second = semaphore.acquire()
  expect(await semaphore.acquire()).toBeUndefined()
  expect([semaphore.running, semaphore.waiting]).toEqual([1, 1])
  release?.()
  release?.()
  expect(await second).toBeTypeOf('function')
  expect([semaphore.running, semaphore.waiting]).toEqual([1, 0])
})

test('tryAcquire takes a free slot immediately, and never queues', () => {
  const semaphore = new Semaphore(() => ({ concurrency: 1, queue: 1 }))
  expect(semaphore.tryAcquire(AbortSignal.abort())).toBeUndefined()
  const release = semaphore.tryAcquire()
  expect(semaphore.tryAcquire()).toBeUndefined()
  expect([semaphore.running, semaphore.waiting]).toEqual([1, 0])
  release?.()
  expect(semaphore.running).toBe(0)
})

test('waiters are served in order of arrival', async () => {
  const semaphore = new Semaphore(() => ({ concurrency: 1, queue: 9 }))
  const release = await semaphore.acquire()
  const order: number[] = []
  const others = [1, 2, 3].map(async (each) => {
    const done = await semaphore.acquire()
    order.push(each)
    done?.()
  })
  release?.()
  await Promise.all(others)
  expect(order).toEqual([1, 2, 3])
})

test('an aborted waiter does not take a slot', async () => {
  const semaphore = new Semaphore(() => ({ concurrency: 1, queue: 2 }))
  const release = await semaphore.acquire()
  const stop = new AbortController()
  const impatient = semaphore.acquire(stop.signal)
  const patient = semaphore.acquire()
  stop.abort(new Error('enough'))
  await expect(impatient).rejects.toThrow('enough')
  release?.()
  expect(await patient).toBeTypeOf('function')
  expect(semaphore.waiting).toBe(0)
})

test('a raised limit applies at the next release', async () => {
  let concurrency = 1
  const semaphore = new Semaphore(() => ({ concurrency, queue: 9 }))
  const release = await semaphore.acquire()
  const others = [semaphore.acquire(), semaphore.acquire()]
  concurrency = 2
  release?.()
  await Promise.all(others)
  expect(semaphore.running).toBe(2)
})

test('without a queue limit, every caller waits', async () => {
  const semaphore = new Semaphore(() => ({ concurrency: 1 }))
  const release = await semaphore.acquire()
  const waiting = Array.from({ length: 1_000 }, async () => (await semaphore.acquire())?.())
  expect(semaphore.waiting).toBe(1_000)
  release?.()
  await Promise.all(waiting)
  expect(semaphore.running).toBe(0)
})

test('a holder with a long queue does not delay the next one, and slots are kept free for newcomers', async () => {
  const semaphore = new Semaphore(() => ({ concurrency: 4, queue: 100 }))
  const order: string[] = []
  const running: (() => void)[] = []
  const call = async (who: string): Promise<void> => {
    const release = await semaphore.acquire(undefined, [who])
    order.push(who)
    if (release !== undefined) running.push(release)
  }
  const calls = Array.from({ length: 20 }, () => call('greedy'))
  calls.push(call('modest'))
  await Promise.resolve()
  expect(semaphore.held(['greedy'])).toEqual({ running: 3, waiting: 17 })
  expect(semaphore.held(['modest'])).toEqual({ running: 1, waiting: 0 })
  calls.push(call('modest'))
  while (order.length < calls.length) {
    running.shift()?.()
    await Promise.resolve()
  }
  await Promise.all(calls)
  expect(order.lastIndexOf('modest')).toBeLessThanOrEqual(5)
  for (const release of running) release()
  expect([semaphore.running, semaphore.waiting]).toEqual([0, 0])
})

test('a holder that uses up its share of the queue is rejected, and others are not', async () => {
  const semaphore = new Semaphore(() => ({ concurrency: 1, queue: 4 }))
  const release = await semaphore.acquire(undefined, ['greedy'])
  const waiting = [1, 2, 3].map(() => semaphore.acquire(undefined, ['greedy']))
  expect(await semaphore.acquire(undefined, ['greedy'])).toBeUndefined()
  const modest = semaphore.acquire(undefined, ['modest'])
  release?.()
  ;(await waiting[0])?.()
  expect(await modest).toBeTypeOf('function')
})
