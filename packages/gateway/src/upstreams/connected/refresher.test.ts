import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../../test/runs.ts'
import { SimulatedClock } from '../../../test/simulated-clock.ts'
import { defaultPace, Refresher } from './refresher.ts'

type Outcome = 'answers' | 'fails' | 'hangs'

interface ClientResult {
  readonly outcome: Outcome
  /** The network delay to the upstream, and back. */
  readonly there: number
  readonly back: number
}

const promptly: ClientResult = { outcome: 'answers', there: 1, back: 1 }

/** An upstream on a simulated clock, with a record of all events. */
function simulation({ answers = [], onList = () => undefined }: { answers?: readonly ClientResult[]; onList?: () => void } = {}) {
  const clock = new SimulatedClock()
  const seen = {
    begun: [] as number[],
    atOnce: 0,
    mostAtOnce: 0,
    failures: [] as number[],
    published: [] as number[],
    throttled: 0,
  }
  const upstream = { tools: 0 }
  let published: number | undefined
  const refresher = new Refresher<number>({
    clock,
    random: () => 0.5,
    read(signal) {
      const { outcome, there, back } = answers[seen.begun.length] ?? promptly
      seen.begun.push(clock.now())
      seen.mostAtOnce = Math.max(seen.mostAtOnce, ++seen.atOnce)
      return new Promise<number>((resolve, reject) => {
        let isClosed = false
        const end = (then: () => void): void => {
          if (!isClosed) seen.atOnce--
          isClosed = true
          then()
        }
        signal.addEventListener('abort', () => end(() => reject(new Error('aborted'))))
        if (outcome === 'hangs') return
        clock.after(there, () => {
          const { tools } = upstream
          onList()
          clock.after(back, () => end(() => (outcome === 'fails' ? reject(new Error('no')) : resolve(tools))))
        })
      })
    },
    differs: (tools) => tools !== published,
    publish(tools) {
      expect(tools).not.toBe(published)
      published = tools
      seen.published.push(tools)
    },
    failed: () => seen.failures.push(clock.now()),
    throttled: () => {
      seen.throttled++
    },
  })
  const change = (): void => {
    upstream.tools++
    refresher.notify()
  }
  return { clock, refresher, upstream, seen, change, published: () => published }
}

const answer = fc.record({
  outcome: fc.oneof(
    { weight: 8, arbitrary: fc.constant<Outcome>('answers') },
    { weight: 2, arbitrary: fc.constant<Outcome>('fails') },
    { weight: 1, arbitrary: fc.constant<Outcome>('hangs') },
  ),
  there: fc.integer({ min: 0, max: 60 }),
  back: fc.integer({ min: 0, max: 60 }),
})

const event = fc.record({
  pause: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 3_000 })),
  kind: fc.constantFrom('change', 'change back', 'silent change', 'list_changed', 'burst', 'ask'),
  late: fc.integer({ min: 0, max: 30 }),
})

test('in any order of events, the last published list is that of the upstream, with no superfluous reads', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { maxLength: 12 }), fc.array(event, { maxLength: 14 }), async (answers, events) => {
      const { clock, refresher, upstream, seen, published } = simulation({ answers })
      let [asked, noticed, last] = [1, 0, 0]
      const notice = (): void => {
        noticed++
        last = clock.now()
        refresher.notify()
      }
      void refresher.readNow()
      let at = 0
      for (const { pause, kind, late } of events) {
        at += pause
        clock.after(at, () => {
          if (kind === 'change' || kind === 'silent change') upstream.tools++
          if (kind === 'change back') upstream.tools = Math.max(0, upstream.tools - 1)
          if (kind === 'burst') for (let i = 0; i < 5; i++) notice()
          else if (kind !== 'ask') clock.after(late, notice)
          if (kind !== 'ask') return
          asked++
          last = clock.now()
          void refresher.readNow()
        })
      }
      await clock.run()
      expect(published()).toBe(upstream.tools)
      expect(seen.mostAtOnce).toBe(1)
      expect(seen.begun.length).toBeLessThanOrEqual(asked + noticed + seen.failures.length)
      const failuresAfter = seen.failures.filter((each) => each >= last).length
      expect(seen.begun.filter((each) => each > last).length).toBeLessThanOrEqual(1 + failuresAfter)
    }),
    propertyRuns({ long: 10_000, sample: 500 }),
  )
}, 300_000)

describe('an upstream that is followed', () => {
  test('is read once for a burst of notifications', async () => {
    const { clock, seen, change } = simulation()
    for (let i = 0; i < 20; i++) clock.after(i * 2, change)
    await clock.run()
    expect(seen.begun).toHaveLength(1)
    expect(seen.published).toEqual([20])
  })

  test('is published once, after at most two reads, however the notifications of a burst are distributed', async () => {
    for (let gap = 0; gap < defaultPace.initialQuietMs; gap++) {
      const { clock, seen, change } = simulation()
      for (let i = 0; i < 20; i++) clock.after(i * gap, change)
      await clock.run()
      expect(seen.begun.length, `${gap} ms apart`).toBeLessThanOrEqual(gap < 6 ? 2 : 3)
      expect(seen.published, `${gap} ms apart`).toEqual([20])
    }
  })

  test('is read in time even if notifications never pause', async () => {
    const { clock, seen, change } = simulation()
    for (let i = 0; i < 24; i++) clock.after(i * 5, change)
    await clock.run(defaultPace.maxQuietMs)
    expect(seen.begun).toEqual([defaultPace.maxQuietMs])
  })

  test('is read at once at any rate of changes, as long as it pauses in between', async () => {
    const { clock, seen, change } = simulation()
    const times = Array.from({ length: 50 }, (_, each) => each * 100)
    for (const at of times) clock.after(at, change)
    await clock.run()
    expect(seen.begun).toEqual(times.map((at) => at + defaultPace.initialQuietMs))
    expect(seen.throttled).toBe(0)
  })

  test('is read exactly once more for notifications during a read', async () => {
    const { clock, seen, change } = simulation({ answers: [{ outcome: 'answers', there: 0, back: 500 }] })
    clock.after(0, change)
    for (const at of [100, 200, 300]) clock.after(at, change)
    await clock.run()
    expect(seen.begun).toHaveLength(2)
    expect(seen.published).toEqual([4])
  })

  test('publishes a change although the following read is slow', async () => {
    const { clock, seen, change } = simulation({ answers: [promptly, { outcome: 'answers', there: 5_000, back: 5_000 }] })
    clock.after(0, change)
    clock.after(defaultPace.initialQuietMs + 1.5, change)
    await clock.run(1_000)
    expect(seen.published).toEqual([1])
    await clock.run()
    expect(seen.published).toEqual([1, 2])
  })

  test('that changed back during a read has not changed', async () => {
    const { clock, seen, refresher, upstream } = simulation()
    void refresher.readNow()
    await clock.run()
    upstream.tools = 1
    refresher.notify()
    await clock.run(clock.now() + defaultPace.initialQuietMs + 1)
    upstream.tools = 0
    refresher.notify()
    await clock.run()
    expect(seen.published).toEqual([0])
  })

  test('times out after 30 s and is retried', async () => {
    const { clock, seen, change } = simulation({ answers: [{ outcome: 'hangs', there: 0, back: 0 }] })
    change()
    await clock.run()
    expect(seen.failures).toEqual([defaultPace.initialQuietMs + 30_000])
    expect(seen.begun).toHaveLength(2)
    expect(seen.published).toEqual([1])
  })

  test('resolves with the result of a read that starts after the call', async () => {
    const { clock, refresher, upstream } = simulation({ answers: [{ outcome: 'answers', there: 0, back: 100 }] })
    const first = refresher.readNow()
    await clock.run(50)
    upstream.tools = 7
    const second = refresher.readNow()
    await clock.run()
    expect(await Promise.all([first, second])).toEqual([0, 7])
  })

  test('rejects when the read fails', async () => {
    const { clock, refresher } = simulation({ answers: [{ outcome: 'fails', there: 0, back: 0 }] })
    const asked = refresher.readNow()
    await clock.run()
    await expect(asked).rejects.toThrow('no')
  })

  test('is not read or published again after closing', async () => {
    const { clock, refresher, seen, change } = simulation()
    const asked = refresher.readNow()
    refresher.close()
    change()
    await clock.run()
    await expect(asked).rejects.toThrow('refresher is closed')
    await expect(refresher.readNow()).rejects.toThrow('refresher is closed')
    expect(seen.published).toEqual([])
    expect(seen.begun).toHaveLength(1)
  })
})

describe('an upstream that answers every list with another notification', () => {
  test('is slowed down and reported once, and a real change is still followed', async () => {
    const noisy = simulation({ onList: () => noisy.refresher.notify() })
    const { clock, seen, upstream, refresher, published } = noisy
    void refresher.readNow()
    await clock.run(600_000)
    // Ten minutes at ten seconds each, and those before the slowdown.
    expect(seen.begun.length).toBeLessThan(75)
    expect(seen.throttled).toBe(1)
    expect(refresher.delayMs).toBe(defaultPace.maxDelayMs)
    upstream.tools = 1
    await clock.run(610_100)
    expect(published()).toBe(1)
  })

  test('and changes each time is slowed down as well, and published in time', async () => {
    const noisy = simulation({ onList: () => noisy.change() })
    const { clock, seen, refresher } = noisy
    void refresher.readNow()
    await clock.run(60_000)
    expect(seen.begun.length).toBeLessThan(90)
    expect(seen.throttled).toBe(1)
    expect(seen.published.length).toBeGreaterThan(50)
  })

  test('is no longer throttled after a calm period', async () => {
    let isNoisy = true
    const noisy = simulation({ onList: () => isNoisy && noisy.refresher.notify() })
    const { clock, refresher, seen, change } = noisy
    void refresher.readNow()
    await clock.run(5_000)
    isNoisy = false
    await clock.run(60_000)
    change()
    await clock.run(60_000 + defaultPace.initialQuietMs)
    expect(seen.begun.at(-1)).toBe(60_000 + defaultPace.initialQuietMs)
    expect(refresher.delayMs).toBe(0)
  })
})

test('periodic reads never cause throttling', async () => {
  const { clock, refresher, seen, change } = simulation()
  for (let i = 0; i < 10; i++) {
    void refresher.readNow()
    await clock.run(clock.now() + 10)
  }
  change()
  await clock.run()
  expect(seen.throttled).toBe(0)
})

test('a result that cannot be compared counts as a failed read and is retried', async () => {
  const clock = new SimulatedClock()
  const published: number[] = []
  const failures: unknown[] = []
  let isHuge = true
  const refresher = new Refresher<number>({
    clock,
    random: () => 0.5,
    read: async () => 1,
    differs: () => {
      if (isHuge) throw new RangeError('Invalid string length')
      return published.length === 0
    },
    publish: (found) => published.push(found),
    failed: (error) => failures.push(error),
    throttled: () => undefined,
  })
  refresher.notify()
  await clock.run(100)
  expect([failures.length, published]).toEqual([1, []])
  isHuge = false
  await clock.run(10_000)
  expect([failures.length, published]).toEqual([1, [1]])
})
