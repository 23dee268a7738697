import { expect, test } from 'vitest'
import { Pool } from '../src/pool.ts'
import type { Clock } from '../src/time/clock.ts'
import { tap } from './counting-proxy.ts'
import { failure } from './failing.ts'
import { isAlive, server, until } from './processes.ts'
import { changeable, serveToolbox } from './servers.ts'

/** Clock whose long timers the test fires; short ones run in real time. */
function idleClock() {
  const timers = new Set<() => void>()
  const clock: Clock = {
    now: () => performance.now(),
    wallTime: () => Date.now(),
    after(ms, run, idle = false) {
      if (!idle) {
        const timer = setTimeout(run, ms)
        return () => clearTimeout(timer)
      }
      timers.add(run)
      return () => timers.delete(run)
    },
  }
  const pass = (): void => {
    for (const run of [...timers]) {
      timers.delete(run)
      run()
    }
  }
  return { clock, pass, timers }
}

test('concurrent users of one server share one connection', async () => {
  await using pool = new Pool()
  const target = server('two.mjs')
  const leases = await Promise.all(Array.from({ length: 5 }, () => pool.acquire(target)))
  expect(new Set(leases.map(({ connection }) => connection.pid)).size).toBe(1)
  expect(pool.size).toBe(1)
  for (const lease of leases) lease.release()
})

test('each credential, view and server has its own connection', async () => {
  const { toolbox } = changeable(1)
  await using http = await serveToolbox(toolbox)
  await using pool = new Pool({ protocol: 'session' })
  const { url } = http
  await pool.acquire({ url }, { credential: 'alice' })
  await pool.acquire({ url }, { credential: 'bob' })
  await pool.acquire({ url }, { credential: 'alice', view: 'exposure=everything' })
  await pool.acquire({ url, headers: { 'x-other': '1' } }, { credential: 'alice' })
  await pool.acquire({ url, headers: { authorization: 'Bearer 1' } }, { credential: 'alice' })
  await pool.acquire({ server: toolbox })
  await pool.acquire({ server: toolbox })
  expect(pool.size).toBe(5)
  expect(new Set(pool.sessions().map(({ id }) => id)).size).toBe(5)
  expect(pool.sessions().map(({ users }) => users)).toEqual([2, 1, 1, 1, 2])
})

test('an unused connection is closed after the idle time, not before', async () => {
  const { clock, pass, timers } = idleClock()
  await using pool = new Pool({ clock, idleMs: 1_000 })
  const target = server('two.mjs')
  const first = await pool.acquire(target)
  const second = await pool.acquire(target)
  const { pid } = first.connection
  first.release()
  first.release()
  pass()
  expect(isAlive(pid)).toBe(true)
  second.release()
  expect(timers.size).toBe(1)
  const third = await pool.acquire(target)
  expect(third.connection.pid).toBe(pid)
  expect(timers.size).toBe(0)
  third.release()
  pass()
  expect(pool.size).toBe(0)
  await until(() => !isAlive(pid), 'the end of the process')
})

test('the number of unused connections is limited, and the longest unused is closed first', async () => {
  const { toolbox } = changeable(1)
  await using http = await serveToolbox(toolbox)
  const { clock } = idleClock()
  await using pool = new Pool({ clock, maxIdle: 2, protocol: 'session' })
  const leases = []
  for (const credential of ['a', 'b', 'c']) leases.push(await pool.acquire({ url: http.url }, { credential }))
  const [oldest] = pool.sessions()
  for (const lease of leases) {
    lease.release()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect(pool.size).toBe(2)
  expect(pool.sessions().map(({ id }) => id)).not.toContain(oldest?.id)
})

test('a closed connection is replaced', async () => {
  await using pool = new Pool()
  const target = server('two.mjs')
  const first = await pool.acquire(target)
  process.kill(first.connection.pid ?? 0, 'SIGKILL')
  await until(() => first.connection.isClosed, 'the end')
  const second = await pool.acquire(target)
  expect(await second.connection.tools()).not.toHaveLength(0)
  expect(pool.size).toBe(1)
})

test('an unreachable server fails for everyone waiting, and is tried again by the next user', async () => {
  await using pool = new Pool()
  const target = { command: 'no-such-command-anywhere' }
  const errors = await Promise.all([failure(pool.acquire(target)), failure(pool.acquire(target))])
  expect(errors[0]).toBe(errors[1])
  expect(pool.size).toBe(0)
  expect(await failure(pool.acquire(target))).not.toBe(errors[0])
})

test('a cancelled user leaves, and the others get their connection', async () => {
  await using pool = new Pool()
  const stop = new AbortController()
  const left = failure(pool.acquire(server('odd.mjs', 'late'), { signal: stop.signal }))
  const stays = pool.acquire(server('odd.mjs', 'late'))
  stop.abort()
  expect(await left).toMatchObject({ reason: 'cancelled' })
  expect((await stays).connection.server.name).toBe('odd')
})

test('sessions can be listed and closed, also on the server', async () => {
  const { toolbox } = changeable(1)
  await using http = await serveToolbox(toolbox)
  await using wire = await tap(http.port)
  await using pool = new Pool({ protocol: 'session' })
  const lease = await pool.acquire({ url: wire.url })
  const [session] = pool.sessions()
  if (session === undefined) throw new Error('There should be a session.')
  expect(session).toMatchObject({ target: wire.url, users: 1, agreement: { era: 'session', server: { name: 'changeable' } } })
  expect(await pool.closeSession(session.id)).toBe(true)
  expect(await pool.closeSession(session.id)).toBe(false)
  expect(pool.sessions()).toEqual([])
  const gone = await fetch(http.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-session-id': session.id },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  expect(gone.status).toBe(404)
  lease.release()
})

test('a kept session is resumed through a pool', async () => {
  const { toolbox } = changeable(1)
  await using http = await serveToolbox(toolbox)
  await using wire = await tap(http.port)
  const first = new Pool({ protocol: 'session' })
  const { connection } = await first.acquire({ url: wire.url })
  const { session } = connection
  if (session === undefined) throw new Error('There should be a session.')
  await connection.close({ keepSession: true })
  await first.close()
  await using second = new Pool()
  await second.acquire({ url: wire.url }, { session })
  expect(second.sessions().map(({ id }) => id)).toEqual([session.id])
  expect(wire.count('initialize')).toBe(1)
})

test('use releases its lease, also after a failure', async () => {
  const { clock, timers } = idleClock()
  const { toolbox } = changeable(3)
  await using pool = new Pool({ clock })
  expect(await pool.use({ server: toolbox }, async (connection) => (await connection.tools()).length)).toBe(3)
  await expect(pool.use({ server: toolbox }, () => Promise.reject(new Error('mine')))).rejects.toThrow('mine')
  expect(timers.size).toBe(1)
})

test('closing a pool closes every connection and rejects new leases', async () => {
  const pool = new Pool()
  const { connection } = await pool.acquire(server('two.mjs'))
  const { pid } = connection
  const late = pool.acquire(server('odd.mjs', 'late'))
  late.catch(() => undefined)
  await pool.close()
  expect(isAlive(pid)).toBe(false)
  expect(pool.size).toBe(0)
  expect(await failure(pool.acquire(server('two.mjs')))).toMatchObject({ reason: 'unreachable' })
})
