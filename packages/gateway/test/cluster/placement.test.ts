import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redisServer, startRedis, type TestRedis } from '../../../../test/redis.ts'
import { isAlive, until } from '../../../client/test/processes.ts'
import { clusterKey } from '../../src/cluster/keys.ts'
import { Signatures } from '../../src/cluster/placement/signature.ts'
import { asking, everything, person } from '../proxy-clients.ts'
import { served } from '../served.ts'
import { server } from '../upstreams.ts'
import { clusterSecret, freeLease, replicas } from './replicas.ts'

/** Accepts connections, like a suspended process, and never responds. */
async function muteListener() {
  const sockets = new Set<Socket>()
  const listener = createServer((socket) => sockets.add(socket.on('error', () => undefined))).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    get connections() {
      return sockets.size
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      listener.close()
    },
  }
}

const named = (name: string) => () => ({ action: 'accept' as const, content: { name } })

describe.skipIf(redisServer.isMissing)(`a server that runs on one of two replicas${redisServer.note}`, () => {
  let redis: TestRedis

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis[Symbol.asyncDispose]())

  test.each(['session', 'both'])('AT-M11-1 (M11): serves clients of the other replica like its own (%s)', async (speaks) => {
    await using cluster = await replicas(redis, asking('one', speaks))
    const { holder, other } = cluster
    const here = holder.gateway.upstreams.get('one')
    const there = other.gateway.upstreams.get('one')
    expect([here?.status.pid, there?.status.pid]).toEqual([expect.any(Number), undefined])
    expect(there?.tools).toEqual(here?.tools)
    for (const era of ['session', 'stateless'] as const) {
      await using ada = await person(other.url, { era, answer: named('Ada') })
      await using bob = await person(holder.url, { era, answer: named('Bob') })
      expect(await ada.text('one__ask')).toMatch(/^accept Ada/u)
      expect(await bob.text('one__ask')).toMatch(/^accept Bob/u)
      expect(await ada.text('one__able')).toBe('elicitation sampling')
      const { messages } = await ada.client.getPrompt({ name: 'one__greet', arguments: { to: 'Ada' } })
      expect(messages[0]?.content).toMatchObject({ text: 'one greets Ada' })
      const { contents } = await ada.client.readResource({ uri: 'memo://one' })
      expect(contents).toMatchObject([{ text: 'memo://one of one' }])
    }
    await using ada = await person(other.url, { era: 'session' })
    await ada.client.setLoggingLevel('debug')
    expect(await ada.text('one__log', { message: 'hello' })).toBe('logged')
    await until(() => ada.logged.length > 0, 'the log message')
    expect(ada.logged[0]).toMatchObject({ logger: 'one', data: 'hello' })
    // Subscriptions of both replicas are one for the server.
    await using bob = await person(holder.url, { era: 'session' })
    for (const each of [ada, bob]) await each.client.subscribeResource({ uri: 'memo://shared' })
    await bob.client.unsubscribeResource({ uri: 'memo://shared' })
    await bob.text('one__touch', { uri: 'memo://shared' })
    await until(() => ada.noticed.includes('memo://shared'), 'the update')
    // Prompts and resources that appear are announced on both.
    await bob.text('one__more', { as: 'later' })
    await until(() => ada.noticed.includes('prompts') && ada.noticed.includes('resources'), 'the announcement')
    const { prompts } = await ada.client.listPrompts()
    expect(prompts.map(({ name }) => name)).toContain('one__later')
    // A restart on the other replica is one of the server, which then runs on either.
    const pid = here?.status.pid
    other.gateway.upstreams.restart('one')
    await until(() => !isAlive(pid) && (here?.status.pid ?? there?.status.pid) !== undefined, 'the restart')
  })

  test('reports progress to the other replica, and a call that is cancelled there is cancelled here', async () => {
    await using cluster = await replicas(redis, everything())
    await using ada = await person(cluster.other.url, { era: 'session' })
    const steps: number[] = []
    const onprogress = ({ progress }: { progress: number }): void => void steps.push(progress)
    await ada.text('one__trigger-long-running-operation', { duration: 1, steps: 4 }, { onprogress })
    expect(steps).toEqual([1, 2, 3, 4])
    // The errors of the server keep their code.
    const invalid = { uri: 'demo://resource/dynamic/text/none' }
    await expect(ada.client.readResource(invalid)).rejects.toMatchObject({ code: -32_603 })
    const running = (): number | undefined => cluster.holder.gateway.upstreams.get('one')?.status.calls.running
    const stop = new AbortController()
    const call = ada.text('one__trigger-long-running-operation', { duration: 600, steps: 2 }, { signal: stop.signal })
    await until(() => running() === 1, 'the call')
    stop.abort()
    await expect(call).rejects.toThrow(/abort/iu)
    await until(() => running() === 0, 'the end of the call')
  })

  test('announces changes of its tools on both, and moves when its replica shuts down', async () => {
    await using cluster = await replicas(redis, server('plain.mjs', JSON.stringify({ tools: ['first'] })))
    const { holder, other } = cluster
    const tools = (): readonly string[] => other.gateway.upstreams.tools('one').map(({ name }) => name)
    await using ada = await person(other.url, { era: 'session' })
    expect(tools()).toEqual(['first'])
    await ada.text('one__first', { become: ['first', 'second'], result: { content: [] } })
    await until(() => tools().includes('second'), 'the new tool')
    const pid = await ada.text('one__first', { make: { pid: 1 } })
    const closing = holder.running.close({ withinMs: 60_000 })
    // Calls wait for the move: none fails.
    let moved = ''
    await until(async () => {
      moved = await ada.text('one__first', { make: { pid: 1 } })
      return moved !== pid
    }, 'the move')
    // The new process has its first tools again.
    expect(moved).toMatch(/^\d+(?:\nNo longer listed: one__second\.)?$/u)
    await closing
    expect(other.gateway.upstreams.get('one')?.status.pid).toBeTypeOf('number')
  })

  test('starts where it is needed when the lease of a replica that does not respond expires', async () => {
    await using mute = await muteListener()
    const prefix = 'ghost:'
    freeLease(redis, 'one', prefix)
    const [seconds] = redis.cli('TIME').split('\n')
    const ghost = { replica: 'ghost', address: mute.url, token: '5', until: `${(Number(seconds) + 4) * 1_000}` }
    redis.cli('HSET', `${prefix}lease:one`, ...Object.entries(ghost).flat())
    await using gateway = await served({
      mcpServers: { one: { ...server('plain.mjs', JSON.stringify({ tools: ['first'] })), placement: 'one' } },
      cluster: { url: redis.url, secret: clusterSecret, prefix },
    })
    await gateway.ready('one')
    expect(mute.connections).toBeGreaterThan(0)
    expect(Number(redis.cli('HGET', `${prefix}lease:one`, 'token'))).toBeGreaterThan(5)
  })

  test('ends while Redis is down, and starts again when it is back', async () => {
    await using down = await startRedis()
    const plain = server('plain.mjs', JSON.stringify({ tools: ['first'] }))
    await using cluster = await replicas(down, plain, { cluster: { leaseMs: 3_000 } })
    const { holder, other } = cluster
    const pid = holder.gateway.upstreams.get('one')?.status.pid
    expect(isAlive(pid)).toBe(true)
    await using ada = await person(other.url, { era: 'session' })
    await down.stop()
    await until(() => !isAlive(pid), 'the end of the server')
    expect(await ada.text('one__first').catch(String)).toMatch(/was not called/u)
    await down.start()
    await until(async () => /^\d+$/u.test(await ada.text('one__first', { make: { pid: 1 } }).catch(String)), 'the server')
    const pids = [holder, other].map(({ gateway }) => gateway.upstreams.get('one')?.status.pid)
    expect(pids.filter((each) => each !== undefined)).toHaveLength(1)
  })

  test('AT-M12-1 (M12): a request between replicas needs the secret, and is accepted once', async () => {
    await using cluster = await replicas(redis, server('plain.mjs', JSON.stringify({ tools: ['first'] })))
    const ask = (signature?: string): Promise<Response> =>
      fetch(new URL('/cluster/forward', cluster.holder.url), {
        method: 'POST',
        body: '{"kind":"ping"}',
        ...(signature !== undefined && { headers: { 'unfold-signature': signature } }),
      })
    for (const signature of [undefined, '', '1 2 3', `1 ${Date.now()} 00 1 one ${'0'.repeat(64)} ${'0'.repeat(64)}`])
      expect((await ask(signature)).status).toBe(401)
    const token = redis.cli('HGET', `${cluster.prefix}lease:one`, 'token')
    const signed = (more: { secret?: string; token?: string; path?: string; body?: string; lateMs?: number } = {}): string => {
      const { secret = clusterSecret, lateMs = 0, path = '/cluster/forward', body = '{"kind":"ping"}' } = more
      const signatures = new Signatures({ key: clusterKey(secret, 'forwarded requests'), now: () => Date.now() - lateMs })
      return signatures.sign(path, { token: more.token ?? token, server: 'one' }, body)
    }
    const good = signed()
    expect((await ask(good)).status).toBe(200)
    expect((await ask(good)).status).toBe(401)
    const bad = [{ secret: 'x'.repeat(32) }, { lateMs: 60_000 }, { lateMs: -60_000 }, { path: '/other' }, { body: '{}' }]
    for (const each of bad) expect((await ask(signed(each))).status).toBe(401)
    // Signed for an earlier holder.
    expect((await ask(signed({ token: '1' }))).status).toBe(409)
    // A changed part invalidates the rest.
    for (const at of [1, 2, 3, 4, 5]) expect((await ask(signed().split(' ').with(at, '1').join(' '))).status).toBe(401)
  })
})
