import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redisServer, startRedis, startRedisCluster, startSentinel, type TestRedis } from '../../../../test/redis.ts'
import { until } from '../../../client/test/processes.ts'
import { type Approval, answer, claim, finish } from '../../src/approvals/approval.ts'
import { parseRedisUrl } from '../../src/base/redis-url.ts'
import { redisActivations } from '../../src/cluster/activation-store.ts'
import { redisApprovalStore } from '../../src/cluster/approval-store.ts'
import { DataEpoch, DataLost } from '../../src/cluster/epoch.ts'
import { RedisCatalog } from '../../src/cluster/lists/catalog-store.ts'
import { redisBuckets } from '../../src/cluster/rate-limits.ts'
import { openRedis, type Redis } from '../../src/cluster/redis.ts'
import { Replicas } from '../../src/cluster/replicas.ts'
import { redisResults } from '../../src/cluster/result-store.ts'
import { redisTrustStore } from '../../src/cluster/trust-store.ts'
import { ownerOf } from '../../src/results/owner.ts'
import { redisScriptStore } from '../../src/scripts/redis-store.ts'
import { accept, type Item } from '../../src/trust/records/record.ts'
import { catalogContract, tool } from '../catalog-contract.ts'
import { scriptStoreContract } from '../script-store-contract.ts'

let server: TestRedis
let prefixes = 0
const open: Redis[] = []

const fresh = (): string => `test${++prefixes}:`

async function connected(prefix: string): Promise<Redis> {
  const target = parseRedisUrl(server.url)
  if (target === undefined) throw new Error('invalid URL')
  const redis = await openRedis({ target, prefix, timeoutMs: 60_000 })
  open.push(redis)
  return redis
}

interface Lost {
  problem: string | undefined
}

/** A replica that knows an epoch, or none. */
async function replica(prefix: string, known?: string) {
  const redis = await connected(prefix)
  const lost: Lost = { problem: undefined }
  let seen = known
  const epoch = new DataEpoch({
    redis,
    known,
    onEpoch: (current) => {
      seen = current
    },
    onLost: (problem) => {
      lost.problem = problem
    },
  })
  await epoch.check()
  return { redis, epoch, lost, epochSeen: () => seen }
}

const quiet = { report: () => undefined, onStale: () => undefined }

const kinds = [
  ['Redis', startRedis],
  ['Redis Cluster', startRedisCluster],
] as const

describe.skipIf(redisServer.isMissing).each(kinds)(`stores in %s${redisServer.note}`, (_kind, start) => {
  beforeAll(async () => {
    server = await start()
  })

  afterAll(async () => {
    for (const redis of open.splice(0)) await redis[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  catalogContract('Redis', async () => new RedisCatalog(await connected(fresh()), quiet))

  scriptStoreContract('Redis', async () => {
    const prefix = fresh()
    const of = async (id: string) => redisScriptStore(await connected(prefix), { id, isRunning: () => false })
    return [await of('one'), await of('two')]
  })

  test('AT-M02-1 (M02): the catalogue never goes back in time', async () => {
    const prefix = fresh()
    const stale: string[] = []
    const [first, second] = [
      new RedisCatalog(await connected(prefix), { ...quiet, onStale: (upstream) => void stale.push(upstream) }),
      new RedisCatalog(await connected(prefix), quiet),
    ]
    for (const store of [first, second]) await store.load('git')
    await second.replaceTools('git', [tool('new')])
    // It listed the tools before the other did, and was suspended.
    await first.replaceTools('git', [tool('old')])
    expect(await second.tools('git')).toEqual([tool('new')])
    expect(stale).toEqual(['git'])
    // It listed them again.
    await first.replaceTools('git', [tool('newest')])
    expect(await second.tools('git')).toEqual([tool('newest')])
    // The same list is not a conflict.
    await second.replaceTools('web', [tool('a')])
    await first.replaceTools('web', [tool('a')])
    expect(stale).toEqual(['git'])
  })

  test('a catalogue with foreign or damaged values is empty', async () => {
    const prefix = fresh()
    const reports: string[] = []
    const store = new RedisCatalog(await connected(prefix), { ...quiet, report: (message) => void reports.push(message) })
    for (const value of ['garbage', '{"format":99,"tools":[]}', '[]'])
      for (const kind of ['tools', 'documents']) {
        server.cli('HSET', `${prefix}{catalog}:${kind}`, '"git"', value)
        expect(await store.load('git')).toBeUndefined()
        expect(await store.documents('git')).toBeUndefined()
      }
    server.cli('DEL', `${prefix}{catalog}:tools`)
    server.cli('SET', `${prefix}{catalog}:tools`, 'foreign')
    expect(await store.load('git')).toBeUndefined()
    await store.replaceTools('git', [])
    expect(reports[0]).toMatch(/WRONGTYPE/u)
  })

  const item = (name: string): Item => ({ kind: 'tool', name, definition: { name, inputSchema: {} } })

  test('trust decisions of two replicas are both kept, and each learns of the other', async () => {
    const prefix = fresh()
    const [one, two] = [await replica(prefix), await replica(prefix)]
    await using first = await redisTrustStore(one.redis, one.epoch)
    await using second = await redisTrustStore(two.redis, two.epoch)
    let changes = 0
    first.watch(() => void changes++)
    const names = Array.from({ length: 12 }, (_, index) => `tool${index}`)
    await Promise.all(
      names.map((name, index) =>
        (index % 2 === 0 ? first : second).update('git', (record) => accept(record, [item(name)], 'person', index)),
      ),
    )
    const record = await first.load('git')
    expect(record.accepted.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    expect(await second.load('git')).toEqual(record)
    expect(await second.servers()).toEqual(['git'])
    await until(() => changes > 0, 'the change is noticed')
  })

  test('a foreign or damaged trust record is not read as an empty one', async () => {
    const prefix = fresh()
    const { redis, epoch } = await replica(prefix)
    await using store = await redisTrustStore(redis, epoch)
    for (const value of ['garbage', '{"format":99}', '{"format":1,"record":{"baseline":[],"accepted":[{}],"blocked":[]}}']) {
      server.cli('HSET', `${prefix}{decisions}:trust`, 'git', value)
      await expect(store.load('git')).rejects.toThrow(/invalid trust record|JSON/u)
    }
    server.cli('DEL', `${prefix}{decisions}:trust`)
    server.cli('SET', `${prefix}{decisions}:trust`, 'foreign')
    await expect(store.load('git')).rejects.toThrow(/WRONGTYPE/u)
  })

  const pending = (id: string, call: string, expiresAt = 1e15): Approval => ({
    id,
    call,
    state: 'pending',
    grant: 'once',
    expiresAt,
    question: { askedAt: Number.parseInt(id, 16) } as Approval['question'],
  })

  test('AT-M03-1 (M03): an approval is used once, on whichever replica', async () => {
    const prefix = fresh()
    const [one, two] = [await replica(prefix), await replica(prefix)]
    await using first = await redisApprovalStore(one.redis, one.epoch)
    await using second = await redisApprovalStore(two.redis, two.epoch)
    const now = 1_000
    await first.update('call', (approvals) => [[...approvals, pending('a1', 'call')], undefined])
    expect((await second.find('a1'))?.state).toBe('pending')
    expect((await second.list()).map(({ id }) => id)).toEqual(['a1'])
    await second.update('call', (approvals) => answer(approvals, 'a1', { decision: 'once', now }))
    const claimed = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? first : second).update('call', (approvals) =>
          claim(approvals, {
            now,
            session: undefined,
            sender: { pid: 1, instance: `replica${index % 2}` },
            isRunning: () => true,
          }),
        ),
      ),
    )
    expect(claimed.filter(({ kind }) => kind === 'sent')).toHaveLength(1)
    await first.update('call', (approvals) => [finish(approvals, 'a1', now), undefined])
    expect(await second.list()).toEqual([])
    expect((await second.find('a1'))?.state).toBe('done')
  })

  test('expired approvals are removed once', async () => {
    const prefix = fresh()
    const [one, two] = [await replica(prefix), await replica(prefix)]
    await using first = await redisApprovalStore(one.redis, one.epoch)
    await using second = await redisApprovalStore(two.redis, two.epoch)
    await first.update('call', () => [[pending('a1', 'call', 100), pending('a2', 'call', 200)], undefined])
    await first.update('other', () => [[pending('a3', 'other', 100)], undefined])
    const removed = (await Promise.all([first.removeExpired(150), second.removeExpired(150)])).flat()
    expect(removed.map(({ id }) => id).toSorted()).toEqual(['a1', 'a3'])
    expect((await first.list()).map(({ id }) => id)).toEqual(['a2'])
    expect(await first.find('a1')).toBeUndefined()
    expect(await second.removeExpired(250)).toHaveLength(1)
    expect(server.cli('KEYS', `${prefix}{decisions}:approvals*`)).toBe('')
  })

  test('AT-M04-1 (M04): decisions fail closed on every replica after Redis lost its data, until that is confirmed', async () => {
    const prefix = fresh()
    const [one, two] = [await replica(prefix), await replica(prefix)]
    await using trust = await redisTrustStore(one.redis, one.epoch)
    await using approvals = await redisApprovalStore(two.redis, two.epoch)
    await trust.update('git', (record) => accept(record, [item('a')], 'person', 1))
    const keys = server.cli('KEYS', `${prefix}*`).split('\n')
    for (const key of keys) server.cli('DEL', key)
    // A replica that starts now creates a new epoch, and has nothing to compare it with.
    const late = await replica(prefix)
    await expect(trust.load('git')).rejects.toBeInstanceOf(DataLost)
    await expect(approvals.update('call', () => [[pending('a1', 'call')], undefined])).rejects.toBeInstanceOf(DataLost)
    await expect(approvals.list()).rejects.toBeInstanceOf(DataLost)
    expect(one.lost.problem).toMatch(/lost its data.*redis-cli HDEL/u)
    // So does a machine that was off meanwhile, and a replica that starts later.
    const returned = await replica(prefix, one.epochSeen())
    expect(returned.lost.problem).toBeDefined()
    await late.epoch.check()
    expect(late.lost.problem).toBeDefined()
    expect((await replica(prefix)).lost.problem).toBeDefined()
    // The command in the message.
    const [, command = ''] = /redis-cli (.*)$/u.exec(one.lost.problem ?? '') ?? []
    server.cli(...command.replaceAll("'", '').split(' '))
    for (const each of [one, two, late, returned]) {
      await each.epoch.check()
      expect(each.lost.problem).toBeUndefined()
    }
    expect((await trust.load('git')).accepted).toEqual([])
    await approvals.update('call', () => [[pending('a1', 'call')], undefined])
    expect(await approvals.find('a1')).toBeDefined()
  })

  test('the marker of another program is reported, and decisions fail closed', async () => {
    const prefix = fresh()
    server.cli('SET', `${prefix}{decisions}:epoch`, 'foreign')
    const redis = await connected(prefix)
    const problems: unknown[] = []
    const epoch = new DataEpoch({
      redis,
      known: undefined,
      onEpoch: () => undefined,
      onLost: (problem) => void problems.push(problem),
    })
    await expect(epoch.check()).rejects.toThrow(/WRONGTYPE/u)
    expect(problems[0]).toMatch(/another program.*cluster\.prefix/u)
    await using store = await redisTrustStore(redis, epoch)
    await expect(store.load('git')).rejects.toThrow(/WRONGTYPE/u)
  })

  test('activations of two replicas are merged by their functions, and damaged ones count as absent', async () => {
    const prefix = fresh()
    const [first, second] = [redisActivations(await connected(prefix)), redisActivations(await connected(prefix))]
    const empty = { groups: [], tools: [], tags: [], versions: {} }
    const changed: unknown[] = []
    const unwatch = first.watch((key) => void changed.push(key))
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? first : second).update('ada', (saved) => {
          const before = (saved ?? empty) as typeof empty
          return { ...before, groups: [...before.groups, `g${index}`] }
        }),
      ),
    )
    expect((await first.load('ada')) as typeof empty).toMatchObject({ groups: expect.objectContaining({ length: 10 }) })
    await until(async () => {
      await second.update('ada', (saved) => saved as typeof empty)
      return changed.includes('ada')
    }, 'a change is noticed')
    unwatch()
    await second.save('bob', empty)
    expect(await first.load('bob')).toEqual(empty)
    for (const key of server.cli('KEYS', `${prefix}activation:*`).split('\n')) server.cli('SET', key, 'garbage')
    expect(await first.load('ada')).toBeUndefined()
  })

  const owner = (id: string) => ownerOf({ principal: { id, token: id }, era: 'stateless', scope: '' })
  const text = (value: string) => ({ kind: 'text', text: value, characters: value.length, sent: 1 }) as const

  test('results are readable on every replica, by their owner only', async () => {
    const prefix = fresh()
    const [first, second] = [redisResults(await connected(prefix)), redisResults(await connected(prefix))]
    await first.put(owner('ada'), 'h1', text('a long text'), 60_000)
    expect(await second.get(owner('ada'), 'h1')).toMatchObject({ result: text('a long text') })
    expect(await second.get(owner('bob'), 'h1')).toBeUndefined()
    expect(await second.get(owner('ada'), 'h2')).toBeUndefined()
    expect(server.cli('KEYS', `${prefix}*`)).not.toMatch(/ada|h1/u)
    for (const key of server.cli('KEYS', `${prefix}{results}:*`).split('\n'))
      if (server.cli('TYPE', key) === 'string') server.cli('SET', key, '{"format":1,"result":{"kind":"text"}}', 'PX', '60000')
    expect(await second.get(owner('ada'), 'h1')).toBeUndefined()
  })

  test('results have limits in bytes, and nobody evicts those of others', async () => {
    const prefix = fresh()
    const store = redisResults(await connected(prefix), { bytesPerValue: 1_000, bytesPerPrincipal: 2_000, bytes: 3_000 })
    const long = text('x'.repeat(700))
    const has = async (id: string, handle: string): Promise<boolean> => (await store.get(owner(id), handle)) !== undefined
    await store.put(owner('ada'), 'too long', text('x'.repeat(2_000)), 60_000)
    expect(await has('ada', 'too long')).toBe(false)
    for (const handle of ['a1', 'a2', 'a3']) await store.put(owner('ada'), handle, long, 60_000)
    expect([await has('ada', 'a1'), await has('ada', 'a2'), await has('ada', 'a3')]).toEqual([false, true, true])
    await store.put(owner('bob'), 'b1', long, 60_000)
    // There is no room for another one of a third person.
    await store.put(owner('cyd'), 'c1', long, 60_000)
    expect([await has('ada', 'a2'), await has('bob', 'b1'), await has('cyd', 'c1')]).toEqual([true, true, false])
    await store.put(owner('bob'), 'b2', long, 60_000)
    expect([await has('bob', 'b1'), await has('bob', 'b2')]).toEqual([false, true])
    // Expired results make room.
    const brief = redisResults(await connected(fresh()), { bytesPerPrincipal: 1_000 })
    await brief.put(owner('ada'), 'e1', long, 1)
    await until(async () => {
      await brief.put(owner('ada'), 'e2', long, 60_000)
      return (await brief.get(owner('ada'), 'e2')) !== undefined
    }, 'the expired result makes room')
  })

  test('AT-M05-1 (M05): a rate limit applies to all replicas together, with one round trip for a call', async () => {
    const prefix = fresh()
    const connections = [await connected(prefix), await connected(prefix)]
    const buckets = connections.map((redis) => redisBuckets(redis))
    // Refills one token per 20 seconds.
    const waits = []
    for (let index = 0; index < 6; index++) waits.push(await buckets[index % 2]?.take('ada', 3))
    expect(waits.slice(0, 3)).toEqual([0, 0, 0])
    for (const wait of waits.slice(3)) expect(wait).toBeGreaterThan(0)
    expect(await buckets[0]?.take('bob', 3)).toBe(0)
    const [first] = connections
    const before = first?.roundTrips ?? 0
    await buckets[0]?.take('ada', 3)
    expect((first?.roundTrips ?? 0) - before).toBe(1)
  })

  test('replicas see each other until one ends', async () => {
    const prefix = fresh()
    const [first, second] = [new Replicas(await connected(prefix), 'one'), new Replicas(await connected(prefix), 'two')]
    await first.listening('http://127.0.0.1:1')
    await second.listening('http://127.0.0.1:2')
    await first.report()
    expect(first.all.map(({ id, address }) => `${id} ${address}`).toSorted()).toEqual([
      'one http://127.0.0.1:1',
      'two http://127.0.0.1:2',
    ])
    expect(Math.abs(first.clockOffsetMs)).toBeLessThan(60_000)
    await second.close()
    await first.report()
    expect(first.all.map(({ id }) => id)).toEqual(['one'])
    expect([first.isRunning('one'), first.isRunning('two')]).toEqual([true, false])
    // One that was killed is gone after a while; another format shows its id.
    const now = Date.now()
    server.cli('HSET', `${prefix}replicas`, 'killed', `${now - 60_000} {}`, 'newer', `${now} {"format":9}`, 'odd', 'garbage')
    await first.report()
    expect(first.all.map(({ id }) => id).toSorted()).toEqual(['newer', 'one'])
    await first.close()
  })
})

test.skipIf(redisServer.isMissing)(
  `AT-M04-3: after a failover of Sentinel, decisions fail closed until that is confirmed${redisServer.note}`,
  async () => {
    await using first = await startRedis()
    await using second = await startRedis('--replicaof', '127.0.0.1', `${first.port}`)
    await using sentinel = await startSentinel(first)
    sentinel.cli('SENTINEL', 'SET', 'main', 'down-after-milliseconds', '500')
    await until(() => sentinel.cli('SENTINEL', 'REPLICAS', 'main').includes(`${second.port}`), 'the replica is known')
    const target = parseRedisUrl(sentinel.url)
    if (target === undefined) throw new Error('invalid URL')
    await using redis = await openRedis({ target, prefix: 'test:' })
    await until(() => redis.problem === undefined, 'Redis works')
    const problems: (string | undefined)[] = []
    const epoch = new DataEpoch({
      redis,
      known: undefined,
      onEpoch: () => undefined,
      onLost: (problem) => void problems.push(problem),
    })
    await using trust = await redisTrustStore(redis, epoch)
    await trust.update('git', (record) => ({ ...record, baseline: ['tool'] }))
    await until(() => second.cli('HGET', 'test:{decisions}:trust', 'git').includes('tool'), 'the decision is copied')
    await first.stop()
    await until(() => second.cli('ROLE').startsWith('master'), 'the replica is the master')
    await until(() => redis.problem === undefined, 'Redis works')
    await expect(trust.load('git')).rejects.toBeInstanceOf(DataLost)
    expect(problems.at(-1)).toMatch(/failed over/u)
    second.cli('HDEL', epoch.key, 'lost')
    expect(await trust.load('git')).toMatchObject({ baseline: ['tool'] })
    epoch.close()
  },
)
