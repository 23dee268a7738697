import { describe, expect, test } from 'vitest'
import { connect } from '../src/connect.ts'
import type { ConnectionEvent } from '../src/tools/announcements.ts'
import { failure } from './failing.ts'
import { isAlive, server, until } from './processes.ts'
import { changeable, serveToolbox } from './servers.ts'

describe.each(['session', '2026-07-28'] as const)('a watched connection (%s)', (protocol) => {
  test('emits each event until the watcher is removed', async () => {
    const { toolbox, put } = changeable(1)
    await using http = await serveToolbox(toolbox)
    await using connection = await connect({ url: http.url }, { protocol })
    const signs: ConnectionEvent[] = []
    const stop = await connection.watch((sign) => signs.push(sign))
    await until(() => signs.includes('resumed'), 'it is emitted')
    put('new_one')
    await until(() => signs.includes('changed'), 'the notification')
    stop()
    const before = signs.length
    await using changes = connection.changes()
    await changes.ready
    put('another')
    await changes.next()
    expect(signs).toHaveLength(before)
  })

  test('emits broken, and resumed after a ping', async () => {
    const signs: ConnectionEvent[] = []
    const first = changeable(1)
    const http = await serveToolbox(first.toolbox)
    await using connection = await connect({ url: http.url }, { protocol })
    await connection.watch((sign) => signs.push(sign))
    await until(() => signs.includes('resumed'), 'it is emitted')
    expect(await connection.refresh()).toHaveLength(1)
    await http[Symbol.asyncDispose]()
    await until(() => signs.includes('broken'), 'it broke')
    expect(await failure(connection.ping())).toMatchObject({ reason: 'unreachable' })
    await using _again = await serveToolbox(changeable(2).toolbox, http.port)
    signs.length = 0
    await connection.ping()
    await until(() => signs.includes('resumed'), 'it is emitted again')
    expect(await connection.refresh()).toHaveLength(2)
  })

  test('refreshes the list even if nothing changed, and can be cancelled', async () => {
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

test('ping works in both eras, and an error response counts', async () => {
  for (const target of [server('one.mjs'), server('two.mjs'), server('odd.mjs', 'parent')]) {
    await using connection = await connect(target)
    await connection.ping()
  }
})

test('onProcess reports every process from start to end', async () => {
  const reported: [number, string][] = []
  // It exits on the probe and is started again.
  const connection = await connect(server('odd.mjs', 'strict'), { onProcess: (pid, state) => reported.push([pid, state]) })
  const { pid } = connection
  await connection.close()
  expect(reported.map(([, state]) => state)).toEqual(['started', 'ended', 'started', 'ended'])
  expect(reported.at(-1)?.[0]).toBe(pid)
  expect(reported.some(([each]) => isAlive(each))).toBe(false)
})

test('a slow server that supports both eras is used in the newer one', async () => {
  const warnings: string[] = []
  await using connection = await connect(server('library.mjs', 'late'), { onWarning: (warning) => warnings.push(warning) })
  expect(connection.era).toBe('stateless')
  expect(await connection.tools()).not.toEqual([])
  expect(warnings).toEqual([])
})
