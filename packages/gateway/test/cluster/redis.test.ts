import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { redisServer, startRedis, startRedisCluster, startSentinel, type TestRedis } from '../../../../test/redis.ts'
import { until } from '../../../client/test/processes.ts'
import { parseRedisUrl } from '../../src/base/redis-url.ts'
import { openRedis, type Redis, RedisUnavailable } from '../../src/cluster/redis.ts'
import { RedisReplyError } from '../../src/cluster/redis-client.ts'

async function connected(url: string, timeoutMs = 1_000): Promise<Redis> {
  const target = parseRedisUrl(url)
  if (target === undefined) throw new Error(`invalid URL ${url}`)
  return openRedis({ target, prefix: 'test:', timeoutMs })
}

const works = (redis: Redis): Promise<void> => until(() => redis.problem === undefined, 'Redis works')
const fails = (redis: Redis): Promise<void> => until(() => redis.problem !== undefined, 'Redis fails')

/** Publishes until the message arrives. */
async function delivered(redis: Redis, messages: readonly string[], message: string): Promise<void> {
  await until(async () => {
    await redis.command('PUBLISH', 'test:events', message)
    return messages.includes(message)
  }, `${message} arrives`)
}

describe.skipIf(redisServer.isMissing)(`the connection to Redis${redisServer.note}`, () => {
  test('runs commands and scripts, also after the scripts were flushed', async () => {
    await using server = await startRedis()
    await using redis = await connected(server.url)
    expect(redis.problem).toBeUndefined()
    expect(await redis.command('SET', 'test:a', 'value')).toBe('OK')
    const script = { lua: 'return { redis.call("GET", KEYS[1]), ARGV[1] }' }
    expect(await redis.script(script, ['test:a'], ['x'])).toEqual(['value', 'x'])
    server.cli('SCRIPT', 'FLUSH')
    const before = redis.roundTrips
    expect(await redis.script(script, ['test:a'], ['y'])).toEqual(['value', 'y'])
    expect(await redis.script(script, ['test:a'], ['z'])).toEqual(['value', 'z'])
    // EVALSHA and EVAL, then EVALSHA.
    expect(redis.roundTrips - before).toBe(3)
    await expect(redis.command('INCR', 'test:a')).rejects.toBeInstanceOf(RedisReplyError)
    expect(redis.problem).toBeUndefined()
  })

  test('rejects at once while the server is down, and returns with its subscriptions', async () => {
    await using server = await startRedis()
    await using redis = await connected(server.url)
    const messages: string[] = []
    let gaps = 0
    const problems: (string | undefined)[] = []
    redis.onStatus((problem) => void problems.push(problem))
    await redis.subscribe(
      'test:events',
      (message) => void messages.push(message),
      () => void gaps++,
    )
    await delivered(redis, messages, 'first')
    const gapsBefore = gaps
    await server.stop()
    await fails(redis)
    await expect(redis.command('GET', 'test:a')).rejects.toBeInstanceOf(RedisUnavailable)
    await server.start()
    await works(redis)
    await until(() => gaps > gapsBefore, 'the gap is reported')
    await delivered(redis, messages, 'second')
    expect(problems).toEqual([expect.any(String), undefined])
  })

  test('starts without a server, and connects when there is one', async () => {
    await using server = await startRedis()
    await server.stop()
    await using redis = await connected(server.url)
    expect(redis.problem).toBeDefined()
    const messages: string[] = []
    let gaps = 0
    await redis.subscribe(
      'test:events',
      (message) => void messages.push(message),
      () => void gaps++,
    )
    await server.start()
    await works(redis)
    await until(() => gaps > 0, 'the gap is reported')
    await delivered(redis, messages, 'first')
  })

  test('a server that does not reply makes commands fail, at first after the timeout and then at once', async () => {
    await using server = await startRedis()
    await using redis = await connected(server.url)
    server.freeze()
    await expect(redis.command('SET', 'test:a', '1')).rejects.toBeInstanceOf(RedisUnavailable)
    const before = redis.roundTrips
    await expect(redis.command('SET', 'test:a', '2')).rejects.toBeInstanceOf(RedisUnavailable)
    // It was not even sent.
    expect(redis.roundTrips).toBe(before)
    server.thaw()
    await works(redis)
    expect(await redis.command('SET', 'test:a', '3')).toBe('OK')
  })

  test.each<[string, RegExp, (server: TestRedis) => void, (server: TestRedis) => void]>([
    [
      'out of memory',
      /^OOM/u,
      (server) => void server.cli('CONFIG', 'SET', 'maxmemory', '1'),
      (server) => void server.cli('CONFIG', 'SET', 'maxmemory', '0'),
    ],
    [
      'read-only',
      /^READONLY/u,
      (server) => void server.cli('REPLICAOF', '127.0.0.1', '1'),
      (server) => void server.cli('REPLICAOF', 'NO', 'ONE'),
    ],
  ])('a server that is %s is reported until it accepts writes', async (_case, problem, fault, repair) => {
    await using server = await startRedis('--replica-serve-stale-data', 'yes')
    await using redis = await connected(server.url)
    fault(server)
    await expect(redis.command('SET', 'test:a', '1')).rejects.toBeInstanceOf(RedisUnavailable)
    expect(redis.problem).toMatch(problem)
    repair(server)
    await works(redis)
    expect(await redis.command('SET', 'test:a', '1')).toBe('OK')
  })

  test('a wrong password is reported', async () => {
    await using server = await startRedis('--requirepass', 'right-password')
    await using redis = await connected(`redis://:wrong-password@127.0.0.1:${server.port}`)
    expect(redis.problem).toMatch(/WRONGPASS/u)
    expect(redis.problem).not.toContain('wrong-password')
    await using other = await connected(`redis://:right-password@127.0.0.1:${server.port}/3`)
    expect(await other.command('PING')).toBe('PONG')
  })

  test('a connection that is silent is replaced, and its subscriptions with it', async () => {
    await using server = await startRedis()
    await using network = await silenceable(server.port)
    // Short, so that it is replaced soon.
    await using redis = await connected(`redis://127.0.0.1:${network.port}`, 200)
    await works(redis)
    const messages: string[] = []
    await redis.subscribe(
      'test:events',
      (message) => void messages.push(message),
      () => undefined,
    )
    network.silence()
    await fails(redis)
    await until(() => network.connections > 1, 'it connects again')
    await works(redis)
    await delivered(redis, messages, 'after')
  })

  test('Sentinel names the server', async () => {
    await using server = await startRedis()
    await using sentinel = await startSentinel(server)
    await using redis = await connected(sentinel.url)
    await works(redis)
    expect(await redis.command('SET', 'test:a', 'value')).toBe('OK')
    expect(server.cli('GET', 'test:a')).toBe('value')
    expect(await redis.script({ lua: 'return KEYS[1]' }, ['test:a'], [])).toBe('test:a')
    const messages: string[] = []
    await redis.subscribe(
      'test:events',
      (message) => void messages.push(message),
      () => undefined,
    )
    await delivered(redis, messages, 'first')
    await server.stop()
    await expect(redis.command('GET', 'test:a')).rejects.toBeInstanceOf(RedisUnavailable)
    await server.start()
    await works(redis)
    expect(await redis.command('GET', 'test:a')).toBe('value')
    await delivered(redis, messages, 'second')
  })

  test('Redis Cluster finds the node of a key', async () => {
    await using server = await startRedisCluster()
    await using redis = await connected(server.url)
    await works(redis)
    expect(redis.isSharded).toBe(true)
    expect(await redis.command('SET', 'test:a', 'value')).toBe('OK')
    expect(await redis.script({ lua: 'return redis.call("GET", KEYS[1])' }, ['test:a'], [])).toBe('value')
    const messages: string[] = []
    await redis.subscribe(
      'test:events',
      (message) => void messages.push(message),
      () => undefined,
    )
    await delivered(redis, messages, 'first')
    await server.stop()
    await expect(redis.command('GET', 'test:a')).rejects.toBeInstanceOf(RedisUnavailable)
    await server.start()
    await works(redis)
    expect(await redis.command('GET', 'test:a')).toBe('value')
    await delivered(redis, messages, 'second')
  })
})

/** A network whose connections fall silent, without being closed. New ones work. */
async function silenceable(port: number) {
  const open = new Set<ReturnType<typeof connect>>()
  let connections = 0
  const server = createServer((socket) => {
    connections++
    const far = connect(port, '127.0.0.1')
    for (const each of [socket, far]) {
      open.add(each)
      each.on('error', () => undefined)
      each.on('close', () => open.delete(each))
    }
    socket.pipe(far).pipe(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections
    },
    silence() {
      for (const socket of open) socket.unpipe().pause()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
