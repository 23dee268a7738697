import { expect, test } from 'vitest'
import { SimulatedClock } from '../../../test/simulated-clock.ts'
import { FollowBudget, type Slowdown } from './follow-budget.ts'
import { Refresher } from './refresher.ts'

/** A list that takes `costMs` to process, on a simulated clock. `lateMs` of it is known only after publishing. */
function followed({ costMs, lateMs = 0 }: { readonly costMs: number; readonly lateMs?: number }) {
  const clock = new SimulatedClock()
  const slowdowns: Slowdown[] = []
  const reads: number[] = []
  const published: number[] = []
  // Only simulated work costs time: on a busy machine, that of the test itself may take milliseconds.
  const startStopwatch = () => () => 0
  const budget = new FollowBudget({ clock, slowed: (slowdown) => slowdowns.push(slowdown), startStopwatch })
  const server = { version: 0 }
  const refresher = new Refresher<number>({
    clock,
    random: () => 0.5,
    budget,
    read: () => {
      reads.push(clock.now())
      return Promise.resolve(server.version)
    },
    differs: (version) => version !== published.at(-1),
    publish: (version) => {
      published.push(version)
      budget.charge(costMs - lateMs)
      if (lateMs > 0) clock.after(30, () => budget.charge(lateMs))
    },
    failed: () => undefined,
    throttled: () => undefined,
  })
  const change = (): void => {
    server.version += 1
    refresher.notify()
  }
  /** Changes it for `ms`, and advances the clock until nothing is pending. */
  const changeFor = async (ms: number, everyMs: number): Promise<void> => {
    const start = clock.now()
    for (let at = 0; at < ms; at += everyMs) clock.after(at, change)
    await clock.run(start + ms)
  }
  return { clock, budget, server, reads, published, slowdowns, change, changeFor }
}

test.each([0, 200])(
  'a server that changes all the time takes at most a tenth of the event loop (%i ms known late)',
  async (lateMs) => {
    const costMs = 300
    const { clock, server, reads, published, slowdowns, budget, changeFor } = followed({ costMs, lateMs })
    await changeFor(60_000, 100)
    // The simulated work takes no time, so the remainder of each period is nine times its cost.
    expect((reads.length - 2) * 9 * costMs).toBeLessThanOrEqual(60_000)
    expect(reads.length * 9 * costMs).toBeGreaterThan(50_000)
    expect(slowdowns).toEqual([{ costMs, delayMs: 9 * costMs }])
    expect(budget.slowdown).toEqual({ costMs, delayMs: 9 * costMs })
    await clock.run()
    expect(published.at(-1)).toBe(server.version)
  },
)

test('a cheap change is processed at once, at any rate', async () => {
  const { reads, published, slowdowns, changeFor } = followed({ costMs: 5 })
  await changeFor(10_000, 100)
  expect(reads).toHaveLength(100)
  expect(published).toHaveLength(100)
  expect(slowdowns).toEqual([])
})

test('an expensive change is processed at once if there was none for a while', async () => {
  const { clock, reads, change } = followed({ costMs: 2_000 })
  for (const at of [0, 60_000, 120_000]) clock.after(at, change)
  await clock.run()
  expect(reads).toEqual([8, 60_008, 120_008])
})

test('the slowdown is reported again after a calm minute', async () => {
  const { clock, slowdowns, budget, changeFor } = followed({ costMs: 500 })
  await changeFor(20_000, 100)
  await clock.run(200_000)
  expect(budget.slowdown).toBeUndefined()
  await changeFor(20_000, 100)
  expect(slowdowns).toHaveLength(2)
})

test('a rest of more than a minute is not calm: the slowdown is reported once', async () => {
  const { slowdowns, budget, changeFor } = followed({ costMs: 10_000 })
  await changeFor(400_000, 100)
  expect(slowdowns).toHaveLength(1)
  expect(budget.slowdown).toEqual({ costMs: 10_000, delayMs: 90_000 })
})

test('refreshers of the same server share the budget, and an extreme cost delays by minutes, not hours', () => {
  const clock = new SimulatedClock()
  const budget = new FollowBudget({ clock, slowed: () => undefined, startStopwatch: () => () => 50 })
  budget.charge(100)
  expect(budget.waitMs).toBe(0)
  budget.charge(100)
  expect(budget.waitMs).toBe(800)
  budget.charge(Number.NaN)
  budget.charge(-1)
  expect(budget.waitMs).toBe(800)
  expect(budget.measure(() => 'result')).toBe('result')
  expect(budget.waitMs).toBe(1_250)
  budget.charge(86_400_000)
  expect(budget.waitMs).toBe(299_000)
})
