import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redisServer, startRedis, type TestRedis } from '../../../../test/redis.ts'
import { propertyRuns } from '../../../../test/runs.ts'
import { parseRedisUrl } from '../../src/base/redis-url.ts'
import { redisBuckets } from '../../src/cluster/rate-limits.ts'
import { openRedis, type Redis, RedisUnavailable, type Script } from '../../src/cluster/redis.ts'
import type { SharedBuckets } from '../../src/middleware/rate-limiter.ts'

const minuteMs = 60_000
const timeoutMs = 1_000

/** What happens to a request for a lease: it is executed at once or later, and the reply arrives at once, later or never. */
const fates = ['fine', 'fine', 'fine', 'slow reply', 'slow request', 'lost reply', 'lost request', 'late request'] as const
type Fate = (typeof fates)[number]

/** Replicas whose scripts run in a real Redis, at a simulated time. */
class Cluster {
  now = 10_000_000
  fate: Fate = 'fine'
  /** Requests of calls that waited for Redis, and all others. */
  readonly requests = { calls: 0, leases: 0 }
  /** Calls that were admitted without a request. */
  unasked = 0
  readonly admittedAt: number[] = []
  readonly #redis: Redis
  readonly #prefix: string
  readonly #perMinute: number
  readonly #replicas = new Map<number, SharedBuckets>()
  #pending: { readonly at: number; readonly run: () => Promise<void> }[] = []

  constructor(redis: Redis, prefix: string, perMinute: number) {
    this.#redis = redis
    this.#prefix = prefix
    this.#perMinute = perMinute
  }

  /** Makes a call at a replica. Resolves with the time to wait. */
  async take(replica: number): Promise<number | undefined> {
    const before = this.requests.calls
    const taking = this.#of(replica).take('ada', this.#perMinute)
    const hasAsked = this.requests.calls > before
    const waitMs = await taking
    if (waitMs === 0) this.admittedAt.push(this.now)
    if (waitMs === 0 && !hasAsked) this.unasked++
    return waitMs
  }

  async takeAll(replica: number): Promise<number> {
    for (let count = 0; count <= 2 * this.#perMinute; count++) {
      const waitMs = await this.take(replica)
      await this.settle()
      if (waitMs !== 0) return count
    }
    throw new Error('no limit')
  }

  kill(replica: number): void {
    this.#replicas.delete(replica)
  }

  async advance(ms: number): Promise<void> {
    await this.settle()
    const until = this.now + ms
    for (;;) {
      const next = this.#pending.toSorted((a, b) => a.at - b.at)[0]
      if (next === undefined || next.at > until) break
      this.#pending = this.#pending.filter((each) => each !== next)
      this.now = Math.max(this.now, next.at)
      await next.run()
      await this.settle()
    }
    this.now = until
  }

  /** Until replies that are not delayed have arrived. */
  async settle(): Promise<void> {
    await this.#redis.command('PING')
    await new Promise(setImmediate)
  }

  #of(replica: number): SharedBuckets {
    const known = this.#replicas.get(replica)
    // Clocks of machines differ.
    const buckets =
      known ??
      redisBuckets({ prefix: this.#prefix, script: (...call) => this.#script(...call) }, () => this.now + replica * 12_345_678)
    this.#replicas.set(replica, buckets)
    return buckets
  }

  #script(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const isCall = args[1] === '1'
    this.requests[isCall ? 'calls' : 'leases']++
    const run = (): Promise<unknown> => {
      const time = [`${Math.floor(this.now / 1_000)}`, `${(this.now % 1_000) * 1_000}`]
      return this.#redis.script(timed(script), keys, [...args, ...time])
    }
    const failed = new RedisUnavailable('no reply')
    const later = (ms: number, what: () => unknown): void => {
      this.#pending.push({ at: this.now + ms, run: async () => void (await what()) })
    }
    const { fate } = this
    // A call whose reply is slow takes its token earlier than it is admitted: that is not what is tested.
    if (fate === 'fine' || (isCall && fate.startsWith('slow'))) return run()
    if (fate === 'lost request') return Promise.reject(failed)
    if (fate === 'lost reply') return run().then(() => Promise.reject(failed))
    return new Promise((resolve, reject) => {
      if (fate === 'slow reply') {
        const reply = run()
        later(timeoutMs / 2, () => resolve(reply))
      } else if (fate === 'slow request') later(timeoutMs / 2, () => run().then(resolve))
      else {
        later(timeoutMs, () => reject(failed))
        later(4 * timeoutMs, run)
      }
    })
  }
}

const timedScripts = new Map<Script, Script>()

/** The same script with the time as its last arguments. */
function timed(script: Script): Script {
  const known = timedScripts.get(script)
  if (known !== undefined) return known
  const lua = script.lua.replace("redis.call('TIME')", '{ ARGV[#ARGV - 1], ARGV[#ARGV] }')
  expect(lua).not.toBe(script.lua)
  timedScripts.set(script, { lua })
  return { lua }
}

/** Calls beyond the limit, in the window that has the most. */
function excess(admittedAt: readonly number[], perMinute: number): number {
  let lowest = Number.POSITIVE_INFINITY
  let most = 0
  for (const [index, at] of admittedAt.toSorted((a, b) => a - b).entries()) {
    const refilled = (at * perMinute) / minuteMs
    lowest = Math.min(lowest, index - refilled)
    most = Math.max(most, index + 1 - refilled - lowest)
  }
  return most - perMinute
}

const replica = fc.nat(2)
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('calls' as const),
      replica,
      calls: fc.integer({ min: 1, max: 15 }),
      everyMs: fc.constantFrom(0, 1, 20, 200),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.oneof(fc.nat(800), fc.nat(12_000)) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(40_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('drain' as const), replica }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fate' as const), fate: fc.constantFrom(...fates) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), replica }) },
)

describe.skipIf(redisServer.isMissing)(`rate limits in Redis${redisServer.note}`, () => {
  let server: TestRedis
  let redis: Redis
  let prefixes = 0
  const cluster = (perMinute: number): Cluster => new Cluster(redis, `limits${++prefixes}:`, perMinute)

  beforeAll(async () => {
    server = await startRedis('--appendonly', 'no')
    const target = parseRedisUrl(server.url)
    if (target === undefined) throw new Error(`invalid URL ${server.url}`)
    redis = await openRedis({ target, prefix: '' })
  })

  afterAll(async () => {
    await redis?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
  })

  test('AT-M05-3: in no window is the limit exceeded, and nothing is lost for good, whatever happens to replicas and requests', async () => {
    let unasked = 0
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(16, 80, 240),
        fc.array(step, { minLength: 10, maxLength: 60 }),
        async (perMinute, steps) => {
          const each = cluster(perMinute)
          const calls: Promise<unknown>[] = []
          for (const action of steps) {
            if (action.kind === 'wait') await each.advance(action.ms)
            else if (action.kind === 'fate') each.fate = action.fate
            else if (action.kind === 'kill') each.kill(action.replica)
            else if (action.kind === 'drain') {
              each.fate = 'fine'
              await each.takeAll(action.replica)
            } else
              for (let count = 0; count < action.calls; count++) {
                calls.push(each.take(action.replica))
                await each.advance(action.everyMs)
              }
          }
          each.fate = 'fine'
          for (const id of [0, 1, 2]) await each.takeAll(id)
          unasked += each.unasked
          expect(excess(each.admittedAt, perMinute)).toBeLessThan(0.01)
          await each.advance(minuteMs + 15_000)
          await Promise.all(calls)
          // A replica that has seen nothing of this.
          expect(await each.takeAll(7)).toBe(perMinute)
          expect(excess(each.admittedAt, perMinute)).toBeLessThan(0.01)
        },
      ),
      { ...propertyRuns({ long: 2_000, sample: 25 }), endOnFailure: true },
    )
    // Otherwise leases were not tested.
    expect(unasked).toBeGreaterThan(200)
  }, 600_000)

  test('a single replica gets all of the limit, and what is left of a lease goes back', async () => {
    const each = cluster(600)
    for (let count = 0; count < 300; count++) {
      expect(await each.take(0)).toBe(0)
      await each.settle()
    }
    expect(await each.takeAll(0)).toBe(300)
    await each.advance(minuteMs)
    for (let count = 0; count < 300; count++) await each.take(0)
    await each.advance(20_000)
    // 300 were left, and 200 were added.
    const left = await each.takeAll(0)
    expect(left).toBeGreaterThanOrEqual(499)
    expect(left).toBeLessThanOrEqual(500)
  })

  test('after the clock of Redis was set back, leases end', async () => {
    const each = cluster(600)
    for (let count = 0; count < 100; count++) {
      await each.take(0)
      await each.settle()
    }
    each.now -= 3_600_000 - minuteMs
    expect(await each.takeAll(1)).toBeLessThanOrEqual(500)
    await each.advance(minuteMs)
    expect(await each.takeAll(1)).toBe(600)
  })

  test('calls of a busy client wait for Redis only at first, and those of others need one command each', async () => {
    const busy = cluster(6_000)
    const times = 600
    for (let count = 0; count < times; count++) {
      expect(await busy.take(0)).toBe(0)
      await busy.settle()
      await busy.advance(20)
    }
    expect(busy.requests.calls).toBeLessThan(5)
    expect(busy.requests.leases).toBeLessThan(times / 30)
    const slow = cluster(6_000)
    for (let count = 0; count < 100; count++) {
      await slow.take(0)
      await slow.advance(1_500)
    }
    expect(slow.requests.calls + slow.requests.leases).toBeLessThan(80)
    const rare = cluster(6_000)
    for (let count = 0; count < 20; count++) {
      await rare.take(0)
      await rare.advance(10_000)
    }
    expect(rare.requests).toEqual({ calls: 20, leases: 0 })
  })
})
