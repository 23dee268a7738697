import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { createHandler, defineToolbox, type HandlerOptions, type ListenOptions, listen, toNodeHandler } from '@unfold-mcp/server'
import { describe, expect, test, vi } from 'vitest'
import { exchange, type Headers, head, common as headers, post, type RawAnswer } from './raw.ts'
import { ask, callTool, hello, openSession, request, routing, textOf } from './sender.ts'

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function toolbox() {
  return defineToolbox({ name: 'small', version: '1.0.0', groups: { files: { description: 'Files' } }, report: () => undefined })
    .tool('ping', {}, () => 'pong')
    .tool('wait', {}, async () => {
      await pause(600)
      return 'waited'
    })
    .tool('read_file', { group: 'files' }, () => 'read')
}

async function serving(options: ListenOptions = {}) {
  const server = await listen(toolbox(), { port: 0, ...options })
  return { server, port: Number(new URL(server.url).port), [Symbol.asyncDispose]: () => server.close() }
}

const reasonOf = (answer: RawAnswer | undefined): unknown => answer?.messages[0]?.error?.data?.reason

const pong = async (port: number): Promise<void> => expect(textOf((await callTool(port, 'ping'))?.messages[0])).toBe('pong')

test('AT-B29: a client that does not read its stream is disconnected, and others are served', async () => {
  let isPouring = false
  const pouring = toolbox().tool('pour', {}, async (_input, ctx) => {
    isPouring = true
    for (let time = 0; time < 1_000; time++) await ctx.progress(time, 1_000, 'x'.repeat(65_536))
    return 'poured'
  })
  await using server = await listen(pouring, { port: 0 })
  const port = Number(new URL(server.url).port)
  const { headers: own } = await openSession(port)
  const params = { name: 'pour', arguments: {}, _meta: { progressToken: 'p' } }
  const deaf = connect(port, '127.0.0.1').pause()
  const [sent] = post(request('session', 'tools/call', params, 'deaf'), { ...own, connection: 'keep-alive' })
  deaf.on('error', () => undefined).write(sent?.bytes ?? '')
  const open = (): Promise<number> => new Promise((resolve) => server.server.getConnections((_error, count) => resolve(count)))
  await vi.waitFor(() => expect(isPouring).toBe(true), 60_000)
  await vi.waitFor(async () => expect(await open()).toBe(0), 60_000)
  deaf.destroy()
  await pong(port)
})

describe('AT-B24: a client that sends byte by byte', () => {
  const slowly = (text: string) => Array.from(text, (bytes) => ({ bytes, afterMs: 40 }))

  test('its headers is disconnected, and others are served meanwhile', async () => {
    await using served = await serving({ headersTimeoutMs: 200, requestTimeoutMs: 5_000 })
    const slow = exchange(served.port, slowly(head('POST', '/mcp', headers)))
    await pong(served.port)
    expect(await slow).toMatchObject({ status: 408 })
    await pong(served.port)
  })

  test('its body is disconnected, and others are served meanwhile', async () => {
    await using served = await serving({ headersTimeoutMs: 200, requestTimeoutMs: 400 })
    const start = { bytes: head('POST', '/mcp', { ...headers, 'content-length': '1000' }) }
    const slow = exchange(served.port, [start, ...slowly('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}')])
    await pong(served.port)
    // An incomplete request may get no response.
    expect((await slow)?.status ?? 408).toBe(408)
    await pong(served.port)
  })

  test('a rejected body is disconnected too', async () => {
    await using served = await serving({ headersTimeoutMs: 200, requestTimeoutMs: 400 })
    const socket = connect(served.port, '127.0.0.1')
    const closed = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve))
    socket.resume()
    socket.write(head('POST', '/mcp', { ...headers, connection: 'keep-alive', 'content-length': '10000000' }))
    const sending = setInterval(() => socket.write('x'), 20)
    await closed
    clearInterval(sending)
    await pong(served.port)
  })
})

describe('AT-B25: sessions', () => {
  test('above the limit are rejected with Retry-After, and a session that ends frees a slot', async () => {
    await using served = await serving({ sessions: { max: 2 } })
    const { port } = served
    const first = await openSession(port)
    await openSession(port)
    const rejected = await exchange(port, post(hello()))
    expect(rejected).toMatchObject({ status: 503, headers: { 'retry-after': '30' } })
    expect(rejected?.messages[0]?.error).toMatchObject({ data: { reason: 'session_limit', limit: 2 } })
    await exchange(port, [{ bytes: head('DELETE', '/mcp', { ...headers, ...first.headers }) }])
    expect(served.server.handler.sessionCount).toBe(1)
    await openSession(port)
  })

  test('that are opened concurrently do not exceed the limit', async () => {
    await using served = await serving({ sessions: { max: 5 } })
    const answers = await Promise.all(Array.from({ length: 40 }, () => exchange(served.port, post(hello()))))
    expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(5)
    expect(answers.filter((answer) => reasonOf(answer) === 'session_limit')).toHaveLength(35)
    expect(served.server.handler.sessionCount).toBe(5)
  })

  test('that are idle expire, and the client is asked to initialize again', async () => {
    let now = 0
    await using served = await serving({ now: () => now, sessions: { idleMs: 1_000 } })
    const { port, server } = served
    const idle = await openSession(port)
    now = 900
    const used = await openSession(port)
    now = 1_500
    await server.handler.sweep()
    expect(server.handler.sessionCount).toBe(1)
    const answer = await ask(port, idle, 'tools/list')
    expect(answer).toMatchObject({ status: 404 })
    expect(answer?.messages[0]?.error).toMatchObject({ code: -32001, data: { reason: 'session_not_found' } })
    expect((await ask(port, used, 'tools/list'))?.status).toBe(200)
  })

  test('without a finished handshake end after a minute', async () => {
    let now = 0
    await using served = await serving({ now: () => now })
    const { port, server } = served
    await exchange(port, post(hello(), {}, '/mcp'))
    const working = await openSession(port)
    now = 90_000
    await server.handler.sweep()
    expect(server.handler.sessionCount).toBe(1)
    expect((await ask(port, working, 'tools/list'))?.status).toBe(200)
  })

  test('with a running call or an open stream are not idle, even if their client has disconnected', async () => {
    let now = 0
    await using served = await serving({ now: () => now, sessions: { idleMs: 1_000 } })
    const { port, server } = served
    const [calling, listening, vanishing] = await Promise.all([openSession(port), openSession(port), openSession(port)])
    const call = ask(port, calling, 'tools/call', { name: 'wait' })
    const stream = connect(port, '127.0.0.1')
    stream.write(head('GET', '/mcp', { ...headers, ...listening.headers, accept: 'text/event-stream', connection: 'keep-alive' }))
    const gone = connect(port, '127.0.0.1')
    gone.write(post(request('session', 'tools/call', { name: 'wait' }), vanishing.headers)[0]?.bytes ?? '')
    await pause(50)
    gone.destroy()
    await pause(30)
    now = 5_000
    await server.handler.sweep()
    for (const session of [calling, listening]) expect((await ask(port, session, 'tools/list'))?.status).toBe(200)
    expect(textOf((await call)?.messages[0])).toBe('waited')
    stream.destroy()
    await pause(200)
    now = 10_000
    await server.handler.sweep()
    expect(server.handler.sessionCount).toBe(0)
  })

  test('of another principal are indistinguishable from unknown sessions for every method', async () => {
    const authenticate: HandlerOptions['authenticate'] = (from) => ({ id: from.headers.get('x-user') ?? 'nobody' })
    await using served = await serving({ authenticate })
    const { port } = served
    const alice = await openSession(port, { 'x-user': 'alice' })
    const asBob = (session: string): Headers => ({ ...alice.headers, 'x-user': 'bob', 'mcp-session-id': session })
    const unknown = alice.id.replace(/.$/u, (last) => (last === '0' ? '1' : '0'))
    for (const method of ['POST', 'GET', 'DELETE']) {
      const bytes = (session: string) =>
        method === 'POST'
          ? post(request('session', 'tools/list', undefined, 1), asBob(session))
          : [{ bytes: head(method, '/mcp', { ...headers, ...asBob(session), accept: 'text/event-stream' }) }]
      const [foreign, none] = [await exchange(port, bytes(alice.id)), await exchange(port, bytes(unknown))]
      expect(foreign?.status).toBe(404)
      expect(foreign?.body.replaceAll(alice.id, '')).toBe(none?.body.replaceAll(unknown, ''))
    }
    expect((await ask(port, alice, 'tools/list'))?.status).toBe(200)
  })
})

describe('AT-B26: subscriptions', () => {
  const params = { notifications: { toolsListChanged: true } }

  function subscribed(port: number): Promise<{ socket: Socket; first: string }> {
    const socket = connect(port, '127.0.0.1')
    const [piece] = post(request('stateless', 'subscriptions/listen', params), {
      ...routing('subscriptions/listen'),
      connection: 'keep-alive',
    })
    socket.on('error', () => undefined).write(piece?.bytes ?? '')
    return new Promise((resolve) => {
      let first = ''
      socket.on('data', (chunk: Buffer) => {
        first += chunk.toString()
        if (/acknowledged|"error"/u.test(first)) resolve({ socket, first })
      })
    })
  }

  test('above the limit are rejected, even if concurrent, and those that end free a slot', async () => {
    await using served = await serving({ maxSubscriptions: 4 })
    const all = await Promise.all(Array.from({ length: 12 }, () => subscribed(served.port)))
    const rejected = all.filter(({ first }) => first.includes('"error"'))
    expect(rejected).toHaveLength(8)
    for (const { first } of rejected) expect(first).toContain('"reason":"subscription_limit","limit":4')
    for (const { socket } of all) socket.destroy()
    await pause(50)
    const again = await Promise.all(Array.from({ length: 4 }, () => subscribed(served.port)))
    expect(again.filter(({ first }) => first.includes('"error"'))).toEqual([])
    for (const { socket } of again) socket.destroy()
    await pong(served.port)
  })

  test('whose client disconnects at once leave no stream behind', async () => {
    await using served = await serving({ maxSubscriptions: 3 })
    for (let times = 0; times < 30; times++) {
      const socket = connect(served.port, '127.0.0.1')
      const [piece] = post(request('stateless', 'subscriptions/listen', params), routing('subscriptions/listen'))
      socket.on('error', () => undefined).write(piece?.bytes ?? '')
      await pause(times % 4)
      socket.destroy()
    }
    await pause(100)
    const again = await Promise.all(Array.from({ length: 3 }, () => subscribed(served.port)))
    expect(again.filter(({ first }) => first.includes('"error"'))).toEqual([])
    for (const { socket } of again) socket.destroy()
  })
})

describe('AT-B20: a request whose body was already read', () => {
  async function mounted(limit?: number) {
    const handler = createHandler(toolbox(), limit === undefined ? {} : { maxBodyBytes: limit })
    const answer = toNodeHandler(handler)
    const server = createServer((incoming, response) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () => {
        const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString())
        setImmediate(() => answer(Object.assign(incoming, { body: parsed }), response))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    return {
      port,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
        await handler.close()
      },
    }
  }

  test('is served from the parsed body', async () => {
    await using served = await mounted()
    await pong(served.port)
  })

  test('has the same size limit', async () => {
    await using served = await mounted(1_000)
    const answer = await callTool(served.port, 'ping', { text: 'x'.repeat(2_000) })
    expect(answer).toMatchObject({ status: 413 })
    expect(reasonOf(answer)).toBe('body_too_large')
  })
})

describe('AT-F75: a server that does not check the Host header', () => {
  test.each(['[', '%', 'a b', 'evil.example/../..', '\u00ff'])('responds for the host "%s"', async (host) => {
    await using served = await serving({ allowedHosts: 'any' })
    const answer = await callTool(served.port, 'ping', {}, { host })
    expect(textOf(answer?.messages[0])).toBe('pong')
  })
})

describe('AT-F63: an authenticate that fails', () => {
  test.each([
    ['throws', () => Promise.reject(new Error('secret-canary'))],
    ['throws a value that is not an error', () => Promise.reject(Object.create(null) as Error)],
  ])('because it %s is a server error without details', async (_, authenticate) => {
    const errors: Error[] = []
    await using served = await serving({ authenticate, onerror: (error) => errors.push(error) })
    const answer = await callTool(served.port, 'ping')
    expect(answer).toMatchObject({ status: 500 })
    expect(answer?.messages[0]?.error).toMatchObject({ code: -32603, data: { reason: 'internal_error' } })
    expect(answer?.body).not.toContain('secret-canary')
    expect(errors).toHaveLength(1)
  })
})

describe('AT-B19: body limits of the fetch handler', () => {
  const address = 'http://localhost/mcp'
  const type = { 'content-type': 'application/json' }

  function endless(): Request {
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(0x10000).fill(0x20))
      },
    })
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers: type, body, duplex: 'half' }
    return new Request(address, init)
  }

  test.each([
    ['an endless body', endless, 413, 'body_too_large'],
    [
      'bytes that are not text',
      () => new Request(address, { method: 'POST', headers: type, body: Buffer.from([0x22, 0xff, 0x22]) }),
      400,
      'invalid_json',
    ],
    ['no body', () => new Request(address, { method: 'POST', headers: type }), 400, 'invalid_json'],
    [
      'another host',
      () => new Request('http://evil.example/mcp', { method: 'POST', headers: type, body: '{}' }),
      403,
      'forbidden_host',
    ],
    ['another method', () => new Request(address, { method: 'PUT', headers: type, body: '{}' }), 405, 'unsupported_method'],
  ])('%s is rejected', async (_, incoming, status, reason) => {
    await using handler = createHandler(toolbox())
    const response = await handler.fetch(incoming())
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error: { data: { reason } } })
  })
})

test('AT-F73: a tool hidden from this principal is indistinguishable from an unknown tool, even with wrong headers', async () => {
  const secret = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } } as const
  const guarded = defineToolbox({ name: 'guarded', version: '1.0.0', permit: (_, { name }) => name !== 'secret' })
    .tool('ping', {}, () => 'pong')
    .tool('secret', { inputSchema: secret }, () => 'secret')
  await using server = await listen(guarded, { port: 0 })
  const port = Number(new URL(server.url).port)
  const answers = await Promise.all(
    ['secret', 'absent'].map(async (name) => {
      const params = { name, arguments: { region: 'eu' } }
      const answer = await exchange(port, post(request('stateless', 'tools/call', params, 1), routing('tools/call', params)))
      return { status: answer?.status, body: answer?.body.replaceAll(name, '') }
    }),
  )
  expect(answers[0]).toEqual(answers[1])
})
