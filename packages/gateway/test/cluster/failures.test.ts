import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redisServer, startRedis, type TestRedis } from '../../../../test/redis.ts'
import { until } from '../../../client/test/processes.ts'
import type { ApprovalReport } from '../../src/admin/approvals.ts'
import { createToken } from '../../src/config/tokens.ts'
import type { GatewayStatus } from '../../src/index.ts'
import { plain } from '../composition.ts'
import { textOf } from '../result-text.ts'
import { served } from '../served.ts'
import { server } from '../upstreams.ts'

const secret = 'a secret that all replicas of this test share'
const effects = join(tmpdir(), `unfold-cluster-failures-${process.pid}.txt`)

type Served = Awaited<ReturnType<typeof served>>

let redis: TestRedis
let replicas: readonly [Served, Served]

async function started(url: string, more: object = {}): Promise<Served> {
  const gateway = await served({
    mcpServers: {
      files: plain({ tools: ['read'] }),
      effects: { ...server('effects.mjs', effects, 'session') },
      pinned: plain({ tools: ['first'] }, { trust: 'review' }),
    },
    exposure: 'everything',
    results: { maxCharacters: 2_000 },
    policy: { rules: [{ effect: 'ask', tool: 'write' }] },
    cluster: { url, secret },
    ...more,
  })
  for (const name of ['files', 'effects']) await gateway.ready(name)
  return gateway
}

beforeAll(async () => {
  if (redisServer.isMissing) return
  redis = await startRedis()
  replicas = [await started(redis.url), await started(redis.url)]
})

afterAll(async () => {
  for (const replica of replicas ?? []) await replica[Symbol.asyncDispose]()
  await redis?.[Symbol.asyncDispose]()
  await rm(effects, { force: true })
})

const status = async (gateway: Served): Promise<GatewayStatus> => (await gateway.api('/status')) as GatewayStatus
const degraded = async (gateway: Served): Promise<readonly string[]> => (await status(gateway)).degraded.map(({ part }) => part)
const works = (gateway: Served): Promise<void> => until(async () => (await degraded(gateway)).length === 0, 'everything works')
const reports = (gateway: Served, part: string): Promise<void> =>
  until(async () => (await degraded(gateway)).includes(part), `${part} is degraded`)

const approve = (gateway: Served, id: string): Promise<Response> =>
  fetch(new URL('/api/approvals', gateway.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id, decision: 'once' }),
  })

/** A call that needs approval, and its question as another replica shows it. */
async function asked(from: Served, shownAt: Served, text: string) {
  const client = await from.connect()
  const result = (async () => {
    try {
      return await client.call('effects__write', { text })
    } finally {
      await client.close()
    }
  })()
  let found: ApprovalReport | undefined
  await until(async () => {
    const all = (await shownAt.api('/approvals')) as readonly ApprovalReport[]
    found = all.find(({ arguments: given }) => given[0]?.value.includes(text))
    return found !== undefined
  }, 'the question is shown')
  return { id: found?.id ?? '', result }
}

type SessionClient = Awaited<ReturnType<Served['connect']>>

/** Lists and calls in a known session and on 2026-07-28, and tries a call that needs approval. */
async function tryAll(gateway: Served, text: string, session?: SessionClient): Promise<CallToolResult> {
  const stateless = await gateway.connect('', { era: 'stateless' })
  for (const client of session === undefined ? [stateless] : [session, stateless]) {
    expect(await client.toolNames()).toContain('files__read')
    expect(textOf(await client.call('files__read', { make: { lines: 1 } }))).toContain('line 0 of 1')
  }
  const refused = await (session ?? stateless).call('effects__write', { text })
  await stateless.close()
  return refused
}

describe.skipIf(redisServer.isMissing)(`replicas that share a Redis${redisServer.note}`, () => {
  test('know each other', async () => {
    const [first, second] = replicas
    await until(async () => (await status(first)).cluster?.replicas.length === 2, 'both are known')
    const { cluster } = await status(second)
    expect(cluster).toMatchObject({ redis: 'ok', roundTrips: expect.any(Number) })
    expect(cluster?.replicas.map(({ address }) => address)).toContain(first.url)
    expect(cluster?.replicas.map(({ id }) => id)).toContain(cluster?.replica)
    expect(JSON.stringify(await status(first))).not.toContain(secret)
  })

  test('a result is read on another replica', async () => {
    const [first, second] = replicas
    const [one, two] = [await first.connect('', { era: 'stateless' }), await second.connect('', { era: 'stateless' })]
    const truncated = await one.call('files__read', { make: { lines: 500 } })
    const cut = truncated._meta?.['io.github.unfold-mcp/cut']
    const { handle } = cut as { handle: string }
    expect(textOf(await two.call('read_result', { handle, find: 'line 499' }))).toContain('line 499 of 500')
    for (const client of [one, two]) await client.close()
  })

  test('a question is answered on another replica, once', async () => {
    const [first, second] = replicas
    const { id, result } = await asked(first, second, 'approved elsewhere')
    const decided = await Promise.all([approve(first, id), approve(second, id)])
    expect(new Set(decided.map((each) => each.status))).toEqual(new Set([200, 409]))
    expect(textOf(await result)).toContain('wrote approved elsewhere')
  })

  test('a decision about a server applies on every replica', async () => {
    const [first, second] = replicas
    const { gateway } = second
    await until(() => gateway.trust.held('pinned').length > 0 && first.gateway.trust.held('pinned').length > 0, 'it is held')
    const digests = gateway.trust.held('pinned').map(({ digest }) => digest)
    await first.gateway.trust.approve('pinned', new Set(digests), 'test')
    await until(() => gateway.source.toolCount('pinned') === 1, 'the tool is served')
  })

  test.each<[string, () => unknown, () => unknown]>([
    ['down', () => redis.stop(), () => redis.start()],
    ['frozen', () => redis.freeze(), () => redis.thaw()],
    ['out of memory', () => redis.cli('CONFIG', 'SET', 'maxmemory', '1'), () => redis.cli('CONFIG', 'SET', 'maxmemory', '0')],
    ['read-only', () => redis.cli('REPLICAOF', '127.0.0.1', '1'), () => redis.cli('REPLICAOF', 'NO', 'ONE')],
  ])(
    'AT-M06-1 (M06): with Redis %s, clients list and call, approvals are refused, and it is reported',
    async (name, fault, repair) => {
      const [first, second] = replicas
      await works(first)
      const session = await first.connect()
      await fault()
      try {
        const refused = await tryAll(first, `refused while ${name}`, session)
        expect(refused.isError).toBe(true)
        expect(textOf(refused)).toMatch(/approvals cannot be read or written/u)
        await reports(first, 'cluster')
        expect(await (await fetch(new URL('/readyz', first.url))).json()).toMatchObject({
          status: 'degraded',
          degraded: expect.arrayContaining(['cluster']),
        })
        expect((await status(first)).cluster?.redis).not.toBe('ok')
        expect((await approve(first, 'a1')).status).toBe(name === 'out of memory' || name === 'read-only' ? 409 : 503)
        // Other replicas would not know a new session.
        await expect(first.connect()).rejects.toThrow('the store that replicas share is unavailable')
      } finally {
        await repair()
        await session.close()
      }
      await works(first)
      await works(second)
      const { id, result } = await asked(second, first, `approved after ${name}`)
      expect((await approve(first, id)).status).toBe(200)
      expect(textOf(await result)).toContain(`wrote approved after ${name}`)
    },
  )

  test('AT-M06-2: a replica starts without Redis, and joins when it is back', async () => {
    await redis.stop()
    let third: Served | undefined
    try {
      third = await started(redis.url)
      expect(textOf(await tryAll(third, 'without Redis'))).toMatch(/approvals cannot be read or written/u)
      expect(await degraded(third)).toContain('cluster')
      expect(third.gateway.source.toolCount('pinned')).toBe(0)
    } finally {
      await redis.start()
    }
    await using joined = third
    await works(joined)
    // What was approved before applies here too.
    await until(() => joined.gateway.source.toolCount('pinned') === 1, 'the decision is read')
    await until(async () => ((await status(joined)).cluster?.replicas.length ?? 0) >= 3, 'all replicas are known')
  })

  test('AT-M04-2: after Redis lost its data, approvals are refused on every replica until that is confirmed', async () => {
    const [first, second] = replicas
    redis.cli('FLUSHALL')
    for (const gateway of replicas) {
      const refused = await tryAll(gateway, 'after the loss')
      expect(textOf(refused)).toMatch(/approvals cannot be read or written/u)
      await reports(gateway, 'approvals')
      await reports(gateway, 'trust')
    }
    const { problem = '' } = (await status(first)).degraded.find(({ part }) => part === 'approvals') ?? {}
    const [, command = ''] = /redis-cli (.*)$/u.exec(problem) ?? []
    redis.cli(...command.replaceAll("'", '').split(' '))
    for (const gateway of replicas) await works(gateway)
    const { id, result } = await asked(first, second, 'after confirmation')
    expect((await approve(second, id)).status).toBe(200)
    expect(textOf(await result)).toContain('wrote after confirmation')
  })

  test('AT-M05-2: a rate limit applies to both replicas together', async () => {
    const more = { limits: { callsPerMinute: 4 }, cluster: { url: redis.url, secret, prefix: 'limited:' } }
    await using first = await started(redis.url, more)
    await using second = await started(redis.url, more)
    const clients = [await first.connect('', { era: 'stateless' }), await second.connect('', { era: 'stateless' })]
    const outcomes = []
    for (let index = 0; index < 6; index++)
      outcomes.push((await clients[index % 2]?.call('files__read', { make: { lines: 1 } }).catch(String)) ?? '')
    expect(outcomes.slice(0, 4).map((each) => JSON.stringify(each))).toEqual(
      Array(4).fill(expect.stringContaining('line 0 of 1')),
    )
    for (const outcome of outcomes.slice(4)) expect(JSON.stringify(outcome)).toMatch(/Rate limit exceeded/u)
    for (const client of clients) await client.close()
  })

  test('a Redis that may evict decisions is reported', async () => {
    redis.cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    await using third = await started(redis.url)
    const { degraded: parts } = await status(third)
    expect(parts).toEqual([{ part: 'cluster', problem: expect.stringContaining('Set maxmemory-policy to noeviction') }])
    redis.cli('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  })

  test('remembered activations apply on the next replica', async () => {
    const { token, record } = createToken('ada')
    const more = {
      exposure: 'groups',
      remember: 'reconnect',
      tokens: [record],
      cluster: { url: redis.url, secret, prefix: 'r:' },
    }
    await using first = await started(redis.url, more)
    await using second = await started(redis.url, more)
    const before = await first.connect('', { token })
    const names = await before.toolNames()
    expect(names).not.toContain('files__read')
    const activator = names.find((name) => name.includes('files')) ?? ''
    await before.call(activator)
    await until(async () => (await before.toolNames()).includes('files__read'), 'the group is active')
    await before.close()
    const after = await second.connect('', { token })
    expect(await after.toolNames()).toContain('files__read')
    await after.close()
  })
})
