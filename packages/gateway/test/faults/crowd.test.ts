import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { connect } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { server } from '../upstreams.ts'
import { commanded } from './command.ts'

/** A connection that asks nothing by itself, and all that came over it. */
async function opened(port: number) {
  const socket: Socket = createConnection(port, '127.0.0.1')
  let heard = ''
  let isOver = false
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString()))
  socket.on('error', () => undefined)
  socket.once('close', () => (isOver = true))
  await once(socket, 'connect')
  return {
    socket,
    ask: (): boolean => socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    heard: (): string => heard,
    isOver: (): boolean => isOver,
  }
}

test('AT-B25: connections beyond the limit are told when to come back and let go, more are dropped, and those that were there go on', async () => {
  // Two for a session, one for a stream, and 256.
  const limit = 259
  const margin = 65
  await using gateway = await commanded({ limits: { sessions: 1, subscriptions: 1 }, mcpServers: { up: server('toolbox.mjs') } })
  await using client = await connect({ url: gateway.url })
  await until(async () => (await client.refresh()).some(({ name }) => name === 'up__pid'), 'its tools')
  const all: Awaited<ReturnType<typeof opened>>[] = []
  try {
    // One after another, so that it is known who came last. The client has some, so not all of these find room.
    for (let at = 0; at < limit; at++) all.push(await opened(gateway.port))
    for (const each of all) each.ask()
    await until(() => all.every(({ heard }) => heard().startsWith('HTTP/1.1 ')), 'everybody is answered')
    const refused = all.filter(({ heard }) => heard().startsWith('HTTP/1.1 503'))
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThan(5)
    await until(() => refused.every(({ isOver }) => isOver()), 'they are closed')
    const [head = '', body = ''] = refused[0]?.heard().split('\r\n\r\n') ?? []
    expect(head).toMatch(/^retry-after: 5$/imu)
    expect(head).toMatch(/^connection: close$/imu)
    expect(JSON.parse(body)).toMatchObject({
      error: { message: expect.stringMatching(/try again in 5 s/u), data: { reason: 'connection_limit', limit } },
    })
    // More than can be told are dropped.
    const silent = await Promise.all(Array.from({ length: margin + 40 }, () => opened(gateway.port)))
    all.push(...silent)
    await until(() => silent.filter(({ isOver }) => isOver()).length >= 30, 'what is above the margin is dropped')
    expect((await client.call('up__pid')).isError).not.toBe(true)
    await until(() => silent.every(({ isOver }) => isOver()), 'those that say nothing are let go of')
    // On a slow machine the timeout for headers may come first.
    for (const { heard } of silent) expect(heard()).toMatch(/^(?:HTTP\/1\.1 408 |$)/u)
    // Once somebody has left there is room.
    for (const { socket } of all) socket.destroy()
    const late = await opened(gateway.port)
    all.push(late)
    late.ask()
    await until(() => late.heard().startsWith('HTTP/1.1 200'), 'there is room again')
  } finally {
    for (const { socket } of all) socket.destroy()
  }
})
