import { connect, type Socket } from 'node:net'
import { createToken } from '@unfold-mcp/gateway'
import { createHandler, defineToolbox, type ListenOptions, listen, type SlowClient, unauthorized } from '@unfold-mcp/server'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { common, exchange, head, post } from './raw.ts'
import { callTool, openSession, request, routing, textOf } from './sender.ts'
import { gatewayTarget, type HttpTarget } from './target.ts'

const mebibyte = 1024 * 1024
const waiting = { timeout: 60_000, interval: 20 }

function toolbox() {
  return defineToolbox({ name: 'large', version: '1.0.0', report: () => undefined })
    .tool('ping', {}, () => 'pong')
    .tool('give', {}, () => 'x'.repeat(12 * mebibyte))
    .tool('pour', {}, async (_input, ctx) => {
      for (let time = 0; time < 12; time++) await ctx.progress(time, 12, 'x'.repeat(mebibyte))
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      return 'poured'
    })
    .tool('wait', {}, async () => {
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      return 'waited'
    })
}

async function serving(options: ListenOptions = {}) {
  const slow: SlowClient[] = []
  const server = await listen(toolbox(), { port: 0, onSlowClient: (client) => slow.push(client), ...options })
  const port = Number(new URL(server.url).port)
  const open = (): Promise<number> => new Promise((resolve) => server.server.getConnections((_error, count) => resolve(count)))
  return { server, port, slow, open, [Symbol.asyncDispose]: () => server.close() }
}

const callBytes = (name: string, params: object = {}): string | Buffer => {
  const all = { name, arguments: {}, ...params }
  const headers = { ...routing('tools/call', all), connection: 'keep-alive' }
  return post(request('stateless', 'tools/call', all), headers)[0]?.bytes ?? ''
}

/** A client that sends a request and reads nothing. */
function deaf(port: number, bytes: string | Buffer): Socket & Disposable {
  const socket = connect(port, '127.0.0.1').pause()
  socket.on('error', () => undefined).write(bytes)
  return Object.assign(socket, { [Symbol.dispose]: () => void socket.destroy() })
}

const pong = async (port: number): Promise<void> => expect(textOf((await callTool(port, 'ping'))?.messages[0])).toBe('pong')

describe('clients that do not read', () => {
  test('AT-R06-1: a large reply are disconnected after the stall timeout, and reported once each', async () => {
    await using served = await serving({ stallTimeoutMs: 500 })
    const { port, slow, open } = served
    const sockets = Array.from({ length: 8 }, () => deaf(port, callBytes('give')))
    await vi.waitFor(() => expect(slow).toHaveLength(8), waiting)
    await vi.waitFor(async () => expect(await open()).toBe(0), waiting)
    for (const { reason, bytes, address } of slow) {
      expect({ reason, isLarge: bytes > mebibyte }).toEqual({ reason: 'stalled', isLarge: true })
      expect(address).toMatch(/^127\.0\.0\.1:\d+$/u)
    }
    await pong(port)
    for (const socket of sockets) socket.destroy()
  })

  test('AT-R06-2: an event stream are disconnected after the stall timeout too', async () => {
    await using served = await serving({ stallTimeoutMs: 500 })
    const { port, slow, open } = served
    using _one = deaf(port, callBytes('pour', { _meta: { progressToken: 'p' } }))
    const session = await openSession(port)
    const params = { name: 'pour', arguments: {}, _meta: { progressToken: 'q' } }
    const [piece] = post(request('session', 'tools/call', params), { ...session.headers, connection: 'keep-alive' })
    using _other = deaf(port, piece?.bytes ?? '')
    await vi.waitFor(() => expect(slow.map(({ reason }) => reason)).toEqual(['stalled', 'stalled']), waiting)
    await vi.waitFor(async () => expect(await open()).toBe(0), waiting)
    await pong(port)
  })

  test('AT-R06-3: are disconnected slowest first while replies exceed the limit, and a client that reads is not', async () => {
    await using served = await serving({ maxUnsentBytes: 30 * mebibyte })
    const { port, slow, open, server } = served
    const sockets = Array.from({ length: 6 }, () => deaf(port, callBytes('give')))
    // Each of them takes what fits into the buffers of the kernel.
    await vi.waitFor(() => expect(slow.length).toBeGreaterThanOrEqual(2), waiting)
    expect(textOf((await callTool(port, 'give'))?.messages[0])).toHaveLength(12 * mebibyte)
    await vi.waitFor(async () => expect(await open()).toBeLessThanOrEqual(4), waiting)
    expect(new Set(slow.map(({ reason }) => reason))).toEqual(new Set(['unsent']))
    for (const socket of sockets) socket.destroy()
    await vi.waitFor(async () => expect(await open()).toBe(0), waiting)
    expect(server.handler.sessionCount).toBe(0)
  })

  test('AT-R06-4: a reply that waits for the reply to an earlier request is not stalled', async () => {
    await using served = await serving({ stallTimeoutMs: 500 })
    const { port, slow } = served
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    socket.write(Buffer.concat([Buffer.from(callBytes('wait')), Buffer.from(callBytes('give'))]))
    await vi.waitFor(() => expect(text.match(/HTTP\/1\.1 200/gu)).toHaveLength(2), waiting)
    expect(text.indexOf('waited')).toBeGreaterThan(0)
    expect(slow).toEqual([])
    socket.destroy()
  })
})

describe('a request without a valid token', () => {
  const authenticate: ListenOptions['authenticate'] = (incoming) =>
    incoming.headers.get('authorization') === 'Bearer right' ? { id: 'someone' } : unauthorized()
  const unfinished = (headers: Record<string, string>) => [
    { bytes: `${head('POST', '/mcp', { ...common, 'content-length': '4000000', ...headers })}{"jsonrpc":` },
  ]

  test('AT-R06-5: gets 401 before its body has arrived', async () => {
    await using served = await serving({ authenticate })
    const answer = await exchange(served.port, unfinished({ authorization: 'Bearer wrong' }))
    expect(answer).toMatchObject({ status: 401, headers: { connection: 'close' } })
    const withToken = { authorization: 'Bearer right' }
    expect(textOf((await callTool(served.port, 'ping', {}, withToken))?.messages[0])).toBe('pong')
  })

  test('AT-R06-5: with another Host or Origin gets 403 before its body has arrived', async () => {
    await using served = await serving({ authenticate })
    expect(await exchange(served.port, unfinished({ host: 'evil.example' }))).toMatchObject({ status: 403 })
    expect(await exchange(served.port, unfinished({ origin: 'https://evil.example' }))).toMatchObject({ status: 403 })
  })

  test('AT-R06-5: its body is not read by the fetch handler', async () => {
    await using handler = createHandler(toolbox(), { authenticate })
    let pulls = 0
    const body = new ReadableStream(
      {
        pull(controller) {
          pulls++
          controller.enqueue(new Uint8Array(65_536).fill(0x20))
        },
      },
      { highWaterMark: 0 },
    )
    const headers = { 'content-type': 'application/json' }
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body, duplex: 'half' }
    const response = await handler.fetch(new Request('http://localhost/mcp', init))
    expect({ status: response.status, pulls }).toEqual({ status: 401, pulls: 0 })
  })
})

test('AT-R06-6: unfinished request bodies above the limit disconnect those that started first', async () => {
  await using served = await serving()
  const { port, slow } = served
  const size = 4 * mebibyte
  const start = Buffer.from(head('POST', '/mcp', { ...common, connection: 'keep-alive', 'content-length': String(size) }))
  const bytes = Buffer.concat([start, Buffer.alloc(size - 1, ' ')])
  const sockets = Array.from({ length: 20 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
  for (const socket of sockets) socket.write(bytes)
  await vi.waitFor(() => expect(slow.length).toBeGreaterThanOrEqual(3), waiting)
  expect(new Set(slow.map(({ reason }) => reason))).toEqual(new Set(['upload']))
  await pong(port)
  for (const socket of sockets) socket.destroy()
})

describe('a gateway', () => {
  const { token, record } = createToken('someone')
  const metricsToken = createToken('prometheus', { role: 'metrics' })
  const authorization = { authorization: `Bearer ${token}` }
  let target: HttpTarget
  beforeAll(async () => {
    const limits = { bodyBytes: 32 * mebibyte, stallTimeoutMs: 500 }
    target = await gatewayTarget({ tokens: [record, metricsToken.record], limits, results: { maxCharacters: 10_000_000 } })
  })
  afterAll(() => target[Symbol.asyncDispose]())

  const metrics = async (): Promise<string> => {
    const bytes = head('GET', '/metrics', { ...common, authorization: `Bearer ${metricsToken.token}` })
    return (await exchange(target.port, [{ bytes }]))?.body ?? ''
  }

  test('AT-R06-7: disconnects clients that stop reading, counts them, and releases their replies', async () => {
    const params = { name: 'echo', arguments: { text: 'x'.repeat(9_000_000) } }
    const [piece] = post(request('stateless', 'tools/call', params), {
      ...routing('tools/call', params),
      ...authorization,
      connection: 'keep-alive',
    })
    const sockets = Array.from({ length: 4 }, () => deaf(target.port, piece?.bytes ?? ''))
    await vi.waitFor(async () => expect(await metrics()).toContain('unfold_slow_clients_total{reason="stalled"} 4'), waiting)
    expect(textOf((await callTool(target.port, 'ping', {}, authorization))?.messages[0])).toBe('pong')
    for (const socket of sockets) socket.destroy()
  })

  test.each(['/mcp', '/mcp/s/target'])(
    'AT-R06-8: rejects a request to %s without a valid token before its body has arrived',
    async (path) => {
      const bytes = `${head('POST', path, { ...common, authorization: 'Bearer wrong', 'content-length': '4000000' })}{"jsonrpc":`
      expect(await exchange(target.port, [{ bytes }])).toMatchObject({ status: 401, headers: { connection: 'close' } })
    },
  )
})
