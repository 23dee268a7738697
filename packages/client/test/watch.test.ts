import { describe, expect, test } from 'vitest'
import { connect } from '../src/connect.ts'
import type { ConnectionEvent } from '../src/connection.ts'
import { failure } from './failing.ts'
import { isAlive, server, until } from './processes.ts'
import { changeable, serveToolbox } from './servers.ts'

describe.each(['session', '2026-07-28'] as const)('a connection that is watched (%s)', (protocol) => {
  test('shows each notice as it comes, until nobody watches', async () => {
    const { toolbox, put } = changeable(1)
    await using http = await serveToolbox(toolbox)
    await using connection = await connect({ url: http.url }, { protocol })
    const signs: ConnectionEvent[] = []
    const stop = await connection.watch((sign) => signs.push(sign))
    await until(() => signs.includes('resumed'), 'it is heard')
    put('new_one')
    await until(() => signs.includes('changed'), 'the notice')
    stop()
    const before = signs.length
    await using changes = connection.changes()
    await changes.ready
    put('another')
    await changes.next()
    expect(signs).toHaveLength(before)
  })

  test('shows that it broke, and is whole again after a ping', async () => {
    const signs: ConnectionEvent[] = []
    const first = changeable(1)
    const http = await serveToolbox(first.toolbox)
    await using connection = await connect({ url: http.url }, { protocol })
    await connection.watch((sign) => signs.push(sign))
    await until(() => signs.includes('resumed'), 'it is heard')
    expect(await connection.refresh()).toHaveLength(1)
    await http[Symbol.asyncDispose]()
    await until(() => signs.includes('broken'), 'it broke')
    expect(await failure(connection.ping())).toMatchObject({ reason: 'unreachable' })
    await using _again = await serveToolbox(changeable(2).toolbox, http.port)
    signs.length = 0
    await connection.ping()
    await until(() => signs.includes('resumed'), 'it is heard again')
    expect(await connection.refresh()).toHaveLength(2)
  })

  test('reads the list although it could know that nothing changed, and can be told to stop', async () => {
    const { toolbox } = changeable(1)
    await using http = await serveToolbox(toolbox)
    await using connection = await connect({ url: http.url }, { protocol })
    const known = await connection.tools()
    const read = await connection.refresh()
    expect(read).toEqual(known)
    expect(read).not.toBe(known)
    expect(await failure(connection.refresh(AbortSignal.abort()))).toMatchObject({ reason: 'cancelled' })
    expect(await connection.refresh()).toEqual(known)
  })
})

test('a ping is answered in both eras, and a refusal is an answer', async () => {
  for (const target of [server('one.mjs'), server('two.mjs'), server('odd.mjs', 'parent')]) {
    await using connection = await connect(target)
    await connection.ping()
  }
})

test('whoever wants to know is told of every process, from its start to its end', async () => {
  const told: [number, string][] = []
  // It ends when it is asked for 2026-07-28, and is started once more.
  const connection = await connect(server('odd.mjs', 'strict'), { onProcess: (pid, life) => told.push([pid, life]) })
  const { pid } = connection
  await connection.close()
  expect(told.map(([, life]) => life)).toEqual(['started', 'ended', 'started', 'ended'])
  expect(told.at(-1)?.[0]).toBe(pid)
  expect(told.some(([each]) => isAlive(each))).toBe(false)
})

test('a server of both eras that starts slowly is spoken to in the newer one, and understands it', async () => {
  const warnings: string[] = []
  await using connection = await connect(server('library.mjs', 'late'), { onWarning: (warning) => warnings.push(warning) })
  expect(connection.era).toBe('stateless')
  expect(await connection.tools()).not.toEqual([])
  expect(warnings).toEqual([])
})
