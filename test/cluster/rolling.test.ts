import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Connection, connect } from '@unfold-mcp/client'
import { defineToolbox, listen } from '@unfold-mcp/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { until } from '../../packages/client/test/processes.ts'
import { hashOf } from '../../packages/gateway/src/config/tokens.ts'
import { faultProxy } from '../../packages/gateway/test/faults/proxy.ts'
import { redisServer, startRedis } from '../redis.ts'
import { type Balancer, balance } from './balancer.ts'
import { type Replica, startReplica } from './replica.ts'
import { SessionClient } from './session-client.ts'
import { tokenOf } from './world.ts'

describe.skipIf(redisServer.isMissing)(`a rolling update${redisServer.note}`, () => {
  const cleanups: (() => Promise<unknown>)[] = []
  const replicas: Replica[] = []
  const token = tokenOf('ann')
  const server = defineToolbox({ name: 'work', version: '1.0.0' }).tool(
    'work',
    { description: 'Takes some time', inputSchema: z.object({ ms: z.number() }) },
    async ({ ms }, { progress }) => {
      await progress(1)
      await pause(ms)
      return 'done'
    },
  )
  let isExtended = false
  server.tool('extra', { description: 'Sometimes here', when: () => isExtended }, () => 'extra')
  const toggle = (): void => {
    isExtended = !isExtended
    server.toolListChanged()
  }
  let balancer: Balancer

  const owned = <T extends AsyncDisposable>(resource: T): T => {
    cleanups.push(async () => resource[Symbol.asyncDispose]())
    return resource
  }

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'unfold-rolling-'))
    cleanups.push(() => rm(folder, { recursive: true, force: true }))
    const redis = owned(await startRedis())
    const listening = owned(await listen(server, { port: 0 }))
    const file = join(folder, 'unfold.json')
    const config = {
      mcpServers: { work: { url: listening.url } },
      exposure: 'everything',
      cluster: { url: redis.url, secret: 'a secret of more than thirty-two characters', drainMs: 2_000 },
      tokens: [{ name: 'ann', hash: hashOf(token) }],
    }
    await writeFile(file, JSON.stringify(config))
    for (const name of ['a', 'b', 'c']) {
      const probe = await faultProxy(0)
      const { port } = probe
      await probe[Symbol.asyncDispose]()
      const env = { ...process.env, UNFOLD_HOME: join(folder, name) }
      replicas.push(owned(await startReplica({ name, file, port, env })))
    }
    balancer = owned(await balance(replicas.map(({ port }) => port)))
    // Health checks, as every load balancer makes them.
    const check = async (): Promise<void> => {
      const ready = await Promise.all(replicas.map(({ port }) => isReady(port)))
      balancer.ports = replicas.filter((_, index) => ready[index]).map(({ port }) => port)
    }
    const timer = setInterval(() => void check(), 100)
    cleanups.push(async () => clearInterval(timer))
  }, 120_000)

  afterAll(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  test('AT-M14-1 (M14): no call fails and no notification is lost', { timeout: 300_000 }, async () => {
    const sessions = await Promise.all(
      [1, 2].map(async () => {
        const client = new SessionClient(balancer.url, token)
        await client.open()
        return client
      }),
    )
    await using stateless = await connect({ url: balancer.url, headers: { authorization: `Bearer ${token}` } })
    expect(stateless.era).toBe('stateless')
    const following = follow(stateless)
    const failures: string[] = []
    let calls = 0
    const done = new AbortController()
    const work = async (call: (ms: number) => Promise<unknown>): Promise<void> => {
      while (!done.signal.aborted && failures.length === 0) {
        await call(20 + ((calls * 97) % 400)).catch((error: unknown) => failures.push(String(error)))
        calls++
      }
    }
    const workers = [
      ...sessions.map((client) => work((ms) => client.call('work__work', { ms }))),
      work((ms) => stateless.call('work__work', { ms }).then(({ isError }) => expect(isError ?? false).toBe(false))),
    ]
    const toggling = (async () => {
      while (!done.signal.aborted) {
        toggle()
        await pause(250)
      }
    })()
    for (const replica of replicas) {
      const before = calls
      await replica.kill('SIGTERM')
      await replica.start()
      await until(async () => balancer.ports.length === replicas.length && calls > before, 'the replica serves again')
    }
    done.abort()
    await Promise.all([...workers, toggling])
    expect(failures).toEqual([])
    // They know the last change without asking.
    const expected = ['read_result', ...(isExtended ? ['work__extra'] : []), 'work__work']
    for (const client of sessions) await until(async () => equals(await settled(client), expected), 'a session knows the list')
    await until(async () => equals(following.names, expected), 'the 2026-07-28 client knows the list')
    await following.close()
    for (const client of sessions) client.close()
    expect(calls).toBeGreaterThan(20)
  })
})

async function isReady(port: number): Promise<boolean> {
  const reply = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
  return reply?.ok === true
}

const equals = (actual: readonly string[], expected: readonly string[]): boolean => actual.join() === expected.join()

async function settled(client: SessionClient): Promise<readonly string[]> {
  await client.idle()
  return client.known
}

/** The names of the tools as a client learns them from changes, without polling. */
function follow(client: Connection) {
  const changes = client.changes({ pollMs: 2_000_000_000 })
  const known = { names: [] as readonly string[] }
  const done = (async () => {
    for await (const { tools } of changes) known.names = tools.map(({ name }) => name).toSorted()
  })()
  return {
    get names() {
      return known.names
    },
    async close() {
      changes.close()
      await done
    },
  }
}
