import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hello, nextId, notification, request, textOf } from './sender.ts'
import { type PipeTarget, pipeTarget } from './target.ts'

let target: PipeTarget
beforeEach(async () => {
  target = await pipeTarget()
})
afterEach(() => target[Symbol.asyncDispose]())

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const pong = async (): Promise<void> => {
  const id = nextId()
  target.send(`${request('session', 'tools/call', { name: 'ping' }, id)}\n`)
  expect(textOf(await target.receives((message) => message.id === id))).toBe('pong')
}

describe('AT-A11: lines', () => {
  test('that arrive byte by byte are reassembled, even within a character', async () => {
    target.send(`${hello()}\n`)
    const id = nextId()
    const text = 'grüße, 世界 👋'
    for (const byte of Buffer.from(`${request('session', 'tools/call', { name: 'echo', arguments: { text } }, id)}\n`)) {
      target.send(Buffer.from([byte]))
      await tick()
    }
    expect(JSON.parse(textOf(await target.receives((message) => message.id === id)))).toEqual({ text })
  })

  test('that arrive in one chunk are handled one by one', async () => {
    const ids = Array.from({ length: 500 }, nextId)
    const lines = ids.map((id) => request('session', 'tools/call', { name: 'ping' }, id))
    target.send(`${hello()}\n${lines.join('\r\n')}\n`)
    await Promise.all(ids.map((id) => target.receives((message) => message.id === id)))
    expect(target.messages.filter(({ id }) => ids.includes(Number(id)))).toHaveLength(500)
  })

  test('that are invalid are rejected one by one, and valid lines between them are handled', async () => {
    const ids = [nextId(), nextId()]
    const [first, second] = ids.map((id) => request('session', 'tools/call', { name: 'ping' }, id))
    target.send(`${hello()}\n\u0000\u0001\n${first}\n{{{\n\n\n"text"\n${second}\n`)
    await Promise.all(ids.map((id) => target.receives((message) => message.id === id)))
    const refusals = target.messages.flatMap(({ id, error }) => (error === undefined ? [] : [[id, error.data?.reason]]))
    expect(refusals).toEqual([
      [null, 'invalid_json'],
      [null, 'invalid_json'],
      [null, 'invalid_request'],
    ])
  })

  test('AT-A12: that exceed the limit use no memory, and the next line is handled', { timeout: 300_000 }, async () => {
    target.send(`${hello()}\n`)
    await pong()
    const before = await target.health()
    const piece = Buffer.alloc(1024 * 1024, 'x')
    for (let pieces = 0; pieces < 100; pieces++) {
      target.send(piece)
      await tick()
    }
    target.send('\n')
    await target.receives(({ error }) => error?.data?.reason === 'body_too_large')
    await pong()
    expect((await target.health()).rss - before.rss).toBeLessThan(100 * 1024 * 1024)
  })
})

describe('AT-A16: before the handshake', () => {
  test.each([
    ['a response', '{"jsonrpc":"2.0","id":1,"result":{}}'],
    ['a notification', notification('notifications/initialized')],
    ['a cancellation', notification('notifications/cancelled', { requestId: 1 })],
    ['a blank line', '   '],
  ])('%s is ignored', async (_, line) => {
    target.send(`${line}\n${hello()}\n`)
    await target.receives(({ result }) => result?.serverInfo !== undefined)
    expect(target.messages).toHaveLength(1)
    await pong()
  })

  test.each([
    ['a broken line', '{', 'invalid_json'],
    ['an initialize without params', request('session', 'initialize', {}), 'invalid_params'],
    ['a call without a tool name', request('session', 'tools/call', {}), 'invalid_params'],
  ])('%s is rejected, and the following initialize succeeds', async (_, line, reason) => {
    target.send(`${line}\n`)
    expect((await target.receives(({ error }) => error !== undefined)).error?.data?.reason).toBe(reason)
    target.send(`${hello()}\n`)
    await target.receives(({ result }) => result?.serverInfo !== undefined)
    await pong()
  })

  test('a request with an unknown revision is rejected with the supported revisions', async () => {
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }
    target.send(`${request('stateless', 'tools/list', { _meta })}\n`)
    const { error } = await target.receives((message) => message.error !== undefined)
    expect(error).toMatchObject({ code: -32022, data: { supported: ['2026-07-28'] } })
  })
})

test('AT-A17: a second initialize keeps the activated groups', async () => {
  target.send(`${hello()}\n`)
  const [activated, id] = [nextId(), nextId()]
  target.send(`${request('session', 'tools/call', { name: 'activate_files' }, activated)}\n`)
  await target.receives((message) => message.id === activated)
  target.send(`${hello()}\n${request('session', 'tools/call', { name: 'read_file', arguments: { path: 'a' } }, id)}\n`)
  expect(textOf(await target.receives((message) => message.id === id))).toBe('a')
})

test.each([
  ['at once', ''],
  ['in the middle of a line', '{"jsonrpc":'],
  ['after initialize', `${hello()}\n`],
])('AT-H95: the server exits when its input ends %s', async (_, bytes) => {
  target.send(bytes)
  expect(await target.end()).toBe(0)
})
