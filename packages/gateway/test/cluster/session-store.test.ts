import type { SessionEvent, SessionRecord } from '@unfold-mcp/server'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { redisServer, startRedis, type TestRedis } from '../../../../test/redis.ts'
import { parseRedisUrl } from '../../src/base/redis-url.ts'
import { openRedis, type Redis } from '../../src/cluster/redis.ts'
import { RedisSessions } from '../../src/cluster/sessions/session-store.ts'

const wait = { timeout: 120_000 }
const idleMs = 600_000

const record: SessionRecord = {
  toolbox: 'unfold',
  principal: 'ann',
  initialize: { protocolVersion: '2025-11-25' },
  isInitialized: false,
  activation: { groups: [], tools: [], tags: [], versions: {} },
  succeeded: [],
  order: [],
  neverRelists: false,
  logLevel: undefined,
  subscriptions: [],
}

const fresh = { record, version: 1, announced: undefined, listed: undefined, hasListedSince: false, stream: undefined }

const enable = (tool: string) => (current: SessionRecord) =>
  current.activation.tools.includes(tool)
    ? current
    : { ...current, activation: { ...current.activation, tools: [...current.activation.tools, tool] } }

describe.skipIf(redisServer.isMissing)(`sessions in Redis${redisServer.note}`, () => {
  let server: TestRedis
  const connections: Redis[] = []
  const open = async (replica: string, timeoutMs = 60_000) => {
    const target = parseRedisUrl(server.url)
    if (target === undefined) throw new Error(`invalid URL ${server.url}`)
    const redis = await openRedis({ target, prefix: 'test:', timeoutMs })
    connections.push(redis)
    return RedisSessions.open(redis, { replica, isAlive: () => true, time: () => Date.now() })
  }
  let a: RedisSessions
  let b: RedisSessions

  beforeAll(async () => {
    server = await startRedis()
    a = await open('a')
    b = await open('b')
  })

  afterAll(async () => {
    for (const connection of connections) await connection[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
  })

  test('one replica loads what another has stored, until the session expires', async () => {
    await a.create('one', record, idleMs)
    expect(await b.load('one', idleMs)).toEqual(fresh)
    expect(Number(server.cli('PTTL', 'test:session:one'))).toBeGreaterThan(idleMs / 2)
    await a.create('short', record, 1)
    await vi.waitFor(() => expect(server.cli('EXISTS', 'test:session:short')).toBe('0'), wait)
    expect(await b.load('short', idleMs)).toBeUndefined()
  })

  test('changes on two replicas at the same time are both kept, each with its event', async () => {
    const stored = await a.create('two', record, idleMs)
    const events: [string, SessionEvent][] = []
    const stop = b.subscribe(
      (id, event) => events.push([id, event]),
      () => undefined,
    )
    const tools = Array.from({ length: 20 }, (_, index) => `t${index}`)
    await Promise.all(tools.map((tool, index) => (index % 2 === 0 ? a : b).update('two', stored, enable(tool), idleMs)))
    const last = await a.load('two', idleMs)
    expect(last?.record.activation.tools.toSorted()).toEqual(tools.toSorted())
    expect(last?.version).toBe(21)
    await vi.waitFor(() => expect(events).toHaveLength(10), wait)
    expect(events.every(([id, event]) => id === 'two' && event.kind === 'changed' && event.version > 1)).toBe(true)
    // The function sees the current state even if nothing is known to change.
    const known = { ...stored, record: enable('t3')(record) }
    expect((await a.update('two', known, enable('t3'), idleMs))?.version).toBe(21)
    stop()
  })

  test('marks have no version, and are not kept for a session that has ended', async () => {
    await a.create('three', record, idleMs)
    await a.mark('three', { announced: 'f1', stream: 'a' })
    expect(await b.load('three', idleMs)).toMatchObject({ version: 1, announced: 'f1', stream: 'a' })
    await a.mark('three', { stream: undefined })
    expect(await b.load('three', idleMs)).toMatchObject({ announced: 'f1', stream: undefined })
    await a.remove('three')
    await a.mark('three', { stream: 'a' })
    expect(await b.load('three', idleMs)).toBeUndefined()
    expect(await b.update('three', fresh, enable('x'), idleMs)).toBeUndefined()
  })

  test('renew returns the versions of the sessions that exist', async () => {
    const ids = Array.from({ length: 1_200 }, (_, index) => `many${index}`)
    await Promise.all(ids.filter((_, index) => index % 2 === 0).map((id) => a.create(id, record, idleMs)))
    const found = await b.renew(ids, idleMs)
    expect([...found.keys()]).toEqual(ids.filter((_, index) => index % 2 === 0))
    expect(new Set([...found.values()].map(({ version }) => version))).toEqual(new Set([1]))
  })

  test('the last list and the last notification of a client are compared in time', async () => {
    await a.create('known', record, idleMs)
    const list = (ageMs: number) => ({ fingerprint: 'f1', ageMs })
    const lists = new Map(['known', 'gone'].map((id) => [id, list(0)]))
    expect([...(await a.confirm(lists))]).toEqual([['known', 1]])
    expect((await b.renew(['known'], idleMs)).get('known')).toMatchObject({ listed: 'f1', hasListedSince: true })
    await a.mark('known', { announced: 'f2' })
    expect(await b.load('known', idleMs)).toMatchObject({ announced: 'f2', listed: 'f1', hasListedSince: true })
    // A list that is recorded late counts from when the client got it.
    await a.confirm(new Map([['known', { fingerprint: 'f0', ageMs: 1_000 }]]))
    expect(await b.load('known', idleMs)).toMatchObject({ listed: 'f1', hasListedSince: true })
    await a.create('late', record, idleMs)
    await a.mark('late', { announced: 'f2' })
    await a.confirm(new Map([['late', list(60_000)]]))
    expect(await b.load('late', idleMs)).toMatchObject({ listed: 'f1', hasListedSince: false })
    expect(server.cli('EXISTS', 'test:session:gone')).toBe('0')
  })

  test('the last list of a client counts, even if Redis was frozen and records an earlier one after it', async () => {
    await b.create('frozen', record, idleMs)
    const impatient = await open('c', 1_000)
    server.freeze()
    await expect(impatient.confirm(new Map([['frozen', { fingerprint: 'earlier', ageMs: 0 }]]))).rejects.toThrow(/unavailable/u)
    const listedAt = performance.now()
    server.thaw()
    await vi.waitFor(() => expect(server.cli('HGET', 'test:session:frozen', 'l')).toBe('earlier'), wait)
    const ageMs = performance.now() - listedAt
    await b.confirm(new Map([['frozen', { fingerprint: 'last', ageMs }]]))
    expect(await b.load('frozen', idleMs)).toMatchObject({ listed: 'last' })
  })

  test('a message reaches the replica that it is for, and an event all others', async () => {
    const seen: string[] = []
    const stops = [a, b].map((store) =>
      store.subscribe(
        (id, { kind }) => seen.push(`${store.replica} ${id} ${kind}`),
        () => undefined,
      ),
    )
    await a.send('four', { kind: 'message', message: { id: 1 } }, 'b')
    await b.send('four', { kind: 'listed', fingerprint: 'v2' })
    await vi.waitFor(() => expect(seen.toSorted()).toEqual(['a four listed', 'b four message']), wait)
    for (const stop of stops) stop()
  })

  test('events of a reply are kept for the session that they belong to, up to a gap', async () => {
    const event = (index: number) => ({ stream: 's', index, json: `{"index":${index}}`, owner: 'ann' })
    await Promise.all([1, 2, 4].map((index) => a.keep('seven', event(index))))
    expect(await b.kept('seven', 's', 0)).toEqual(['{"index":1}', '{"index":2}'])
    expect(await b.kept('seven', 's', 1)).toEqual(['{"index":2}'])
    expect(await b.kept('eight', 's', 0)).toEqual([])
    await a.keep('seven', { ...event(3), json: 'x'.repeat(5_000_000) })
    expect(await b.kept('seven', 's', 2)).toEqual([])
  })

  test('a session of another format is refused, and a damaged one does not exist', async () => {
    await a.create('five', record, idleMs)
    server.cli('HSET', 'test:session:five', 'f', '2')
    await expect(b.load('five', idleMs)).rejects.toThrow('another version')
    server.cli('HSET', 'test:session:five', 'f', '1', 'r', '{"toolbox":1}')
    expect(await b.load('five', idleMs)).toBeUndefined()
    server.cli('SET', 'test:session:six', 'foreign')
    await expect(b.load('six', idleMs)).rejects.toThrow('WRONGTYPE')
  })
})
