import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { connect } from '../src/connect.ts'
import { systemClock } from '../src/time/clock.ts'
import { tap } from './counting-proxy.ts'
import { failure } from './failing.ts'
import { until } from './processes.ts'
import { changeable, serveHttp, serveOldSse, serveToolbox } from './servers.ts'

test('a server that supports both eras is used in the newer one', async () => {
  const { toolbox } = changeable(2)
  await using http = await serveToolbox(toolbox)
  await using wire = await tap(http.port)
  await using connection = await connect({ url: wire.url })
  expect(connection).toMatchObject({ era: 'stateless', protocolVersion: '2026-07-28', server: { name: 'changeable' } })
  expect((await connection.call('tool_1', { what: 'now' })).content).toEqual([{ type: 'text', text: 'tool_1 now' }])
  expect(wire.methods()).toEqual(['server/discover', 'tools/list', 'tools/call'])
})

test('the session era can be selected', async () => {
  const { toolbox } = changeable(2)
  await using http = await serveToolbox(toolbox)
  await using connection = await connect({ url: http.url }, { protocol: 'session' })
  expect(connection.era).toBe('session')
  expect(connection.session?.id).toBeTypeOf('string')
  expect((await connection.call('tool_1', { what: 'now' })).content).toEqual([{ type: 'text', text: 'tool_1 now' }])
})

test('an HTTP+SSE server is detected at the same URL', async () => {
  await using http = await serveOldSse()
  await using connection = await connect({ url: http.url })
  expect(connection).toMatchObject({ era: 'session', server: { name: 'old' } })
  expect((await connection.call('echo', { message: 'hello' })).content).toEqual([{ type: 'text', text: 'hello' }])
  await using straight = await connect({ url: http.url, transport: 'sse' })
  expect(await straight.tools()).toHaveLength(2)
})

test('HTTP+SSE is not tried when Streamable HTTP is selected', async () => {
  await using http = await serveOldSse()
  expect(await failure(connect({ url: http.url, transport: 'http' }))).toMatchObject({
    reason: 'unreachable',
    details: { status: 404 },
  })
  expect(http.opened).toBe(0)
})

test('a URL without a server is unreachable', async () => {
  const { toolbox } = changeable(1)
  const { port } = await serveToolbox(toolbox).then(async (http) => {
    await http[Symbol.asyncDispose]()
    return http
  })
  const error = await failure(connect({ url: `http://127.0.0.1:${port}/mcp?token=secret` }))
  expect(error).toMatchObject({ reason: 'unreachable', details: { target: `http://127.0.0.1:${port}/mcp` } })
  expect(error.message).toContain('ECONNREFUSED')
  expect(error.message).toContain('Start the server, or check the port.')
  expect(error.message).not.toContain('secret')
  expect(await failure(connect({ url: 'file:///etc/passwd' }))).toMatchObject({ reason: 'unreachable' })
  expect(await failure(connect({ url: 'nonsense' }))).toMatchObject({ reason: 'unreachable' })
})

test('a web page in place of a server is reported as such', async () => {
  await using page = await serveHttp((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hello</h1>'),
  )
  const { message } = await failure(connect({ url: page.url }))
  expect(message).toBe(`${page.url} responded with text/html instead of MCP. Is this the URL of an MCP server?`)
})

test('HTTP+SSE reports an absent server and a required login', async () => {
  await using closed = await serveHttp((_, response) => response.writeHead(401).end())
  expect(await failure(connect({ url: closed.url, transport: 'sse' }))).toMatchObject({ reason: 'login_required' })
  await using other = await serveHttp((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hello</h1>'),
  )
  expect(await failure(connect({ url: other.url, transport: 'sse' }))).toMatchObject({ reason: 'unreachable' })
  const { url } = await serveOldSse().then(async (http) => {
    await http[Symbol.asyncDispose]()
    return http
  })
  expect(await failure(connect({ url, transport: 'sse' }))).toMatchObject({ reason: 'unreachable' })
})

test('a requested pause is reported on both HTTP transports', async () => {
  await using busy = await serveHttp((_request, response) => response.writeHead(503, { 'retry-after': '7' }).end('later'))
  for (const transport of ['http', 'sse'] as const)
    expect(await failure(connect({ url: busy.url, transport }))).toMatchObject({
      reason: 'unreachable',
      message: `${busy.url} failed (HTTP 503); retry after 7 s.`,
      retryAfterMs: 7_000,
    })
})

test('a URL that is not an MCP server is reported as such', async () => {
  await using http = await serveHttp((_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>no</h1>'))
  const error = await failure(connect({ url: http.url }))
  expect(error).toMatchObject({ reason: 'unreachable', details: { status: 404 } })
  expect(error.message).toContain('Is this the URL of an MCP server?')
})

test('a server that requires authentication is reported as such', async () => {
  await using http = await serveHttp((_, response) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end())
  expect(await failure(connect({ url: http.url }))).toMatchObject({ reason: 'login_required' })
  const auth = { token: async () => 'old token' }
  expect(await failure(connect({ url: http.url, auth }))).toMatchObject({ reason: 'login_required' })
})

test('a token and headers are sent with every request', async () => {
  const seen = new Set<string>()
  await using http = await serveHttp((request, response) => {
    const { authorization, 'x-mine': mine, 'unfold-request': marker } = request.headers
    seen.add(JSON.stringify([authorization, mine, marker]))
    response.writeHead(403).end()
  })
  const target = { url: http.url, headers: { 'x-mine': 'yes' }, auth: { token: async () => 'mine' } }
  expect(await failure(connect(target))).toMatchObject({ reason: 'login_required', details: { status: 403 } })
  expect([...seen]).toEqual([JSON.stringify(['Bearer mine', 'yes', undefined])])
})

test('a server that responds with HTTP 5xx is unreachable', async () => {
  await using http = await serveHttp((_, response) => response.writeHead(503).end())
  expect(await failure(connect({ url: http.url }))).toMatchObject({ reason: 'unreachable', details: { status: 503 } })
})

test('a server that accepts connections but never responds times out', async () => {
  const silent = createTcpServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const address = silent.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/mcp`
  expect(await failure(connect({ url }, { timeoutMs: 200 }))).toMatchObject({ reason: 'timeout' })
  silent.close()
})

test('a call whose connection breaks fails at once, and the next one works', async () => {
  const { toolbox } = changeable(1)
  let isCalled = false
  toolbox.tool('wait', {}, () => {
    isCalled = true
    return new Promise<string>(() => undefined)
  })
  await using http = await serveToolbox(toolbox)
  await using wire = await tap(http.port)
  for (const protocol of ['session', '2026-07-28'] as const) {
    isCalled = false
    await using connection = await connect({ url: wire.url }, { protocol })
    await connection.tools()
    const call = failure(connection.call('wait'))
    await until(() => isCalled, 'the call')
    wire.cut()
    expect(await call).toMatchObject({ reason: 'unreachable' })
    expect((await connection.call('tool_0')).isError).toBe(false)
  }
})

test('a lost session is replaced, and refused requests are sent again', async () => {
  const before = changeable(1)
  await using first = await serveToolbox(before.toolbox)
  const after = changeable(2)
  await using second = await serveToolbox(after.toolbox)
  for (const ask of ['a list', 'a call'] as const) {
    await using wire = await tap(first.port)
    await using connection = await connect({ url: wire.url }, { protocol: 'session' })
    const session = connection.session?.id
    expect(await connection.tools()).toHaveLength(1)
    wire.leadTo(second.port)
    wire.cut()
    if (ask === 'a call') {
      // Calls are not retried, so the connection must be known to be closed.
      await until(() => wire.open === 0, 'the end of all connections')
      await connection.call('tool_1', {}, { unlisted: true, validate: false })
    }
    expect(await connection.tools()).toHaveLength(2)
    expect(connection.session?.id).not.toBe(session)
    expect(wire.count('tools/call')).toBe(ask === 'a call' ? 2 : 0)
  }
})

test('a session can be kept and resumed by another connection', async () => {
  const { toolbox } = changeable(2)
  await using http = await serveToolbox(toolbox)
  await using wire = await tap(http.port)
  const first = await connect({ url: wire.url }, { protocol: 'session' })
  const kept = first.session
  await first.close({ keepSession: true })
  const stored = JSON.parse(JSON.stringify(kept)) as NonNullable<typeof kept>
  const second = await connect({ url: wire.url }, { session: stored })
  expect(second).toMatchObject({ era: 'session', server: { name: 'changeable' }, session: { id: kept?.id } })
  expect((await second.call('tool_1', { what: 'again' })).content).toEqual([{ type: 'text', text: 'tool_1 again' }])
  expect(wire.count('initialize')).toBe(1)
  await second.close()
  await using third = await connect({ url: wire.url }, { session: stored, protocol: 'session' })
  expect(third.session?.id).not.toBe(kept?.id)
  expect(wire.count('initialize')).toBe(2)
})

test('a message that is too large fails the call and not the connection', async () => {
  const { toolbox } = changeable(1)
  toolbox.tool('huge', {}, () => 'x'.repeat(3_000_000))
  await using http = await serveToolbox(toolbox)
  for (const protocol of ['session', '2026-07-28'] as const) {
    await using connection = await connect({ url: http.url }, { protocol, maxMessageBytes: 1_000_000 })
    expect(await failure(connection.call('huge'))).toMatchObject({ reason: 'too_large', details: { limit: 1_000_000 } })
    expect((await connection.call('tool_0')).isError).toBe(false)
  }
})

test('a stream of small events may be longer than a message', async () => {
  const { toolbox } = changeable(0)
  toolbox.tool('chatty', {}, async (_, ctx) => {
    for (let i = 0; i < 300; i++) await ctx.progress(i, 300, 'x'.repeat(1_000))
    return 'done'
  })
  await using http = await serveToolbox(toolbox)
  await using connection = await connect({ url: http.url }, { maxMessageBytes: 50_000 })
  let reports = 0
  const result = await connection.call('chatty', {}, { onProgress: () => void reports++ })
  expect(result.content).toEqual([{ type: 'text', text: 'done' }])
  expect(reports).toBeGreaterThan(50)
})

test('a toolbox in this process works like any other server', async () => {
  const { toolbox } = changeable(2)
  for (const protocol of ['auto', 'session'] as const) {
    await using connection = await connect({ server: toolbox }, { protocol })
    expect(connection.era).toBe(protocol === 'auto' ? 'stateless' : 'session')
    expect(await connection.tools()).toHaveLength(2)
    expect((await connection.call('tool_0', { what: 'here' })).content).toEqual([{ type: 'text', text: 'tool_0 here' }])
  }
})

test('an invalid response fails at once with a short message', async () => {
  const answers: { readonly [method: string]: object } = {
    initialize: {
      result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
    },
    'tools/list': { result: { tools: [{ name: 'open', inputSchema: { type: 'object' } }] } },
    'tools/call': { result: [] },
  }
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { id, method } = JSON.parse((await text(request)) || '{}')
    const answer = answers[method] ?? { error: { code: -32_601, message: 'unknown' } }
    if (id === undefined) response.writeHead(request.method === 'POST' ? 202 : 405).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  }
  await using http = await serveHttp((request, response) => void respond(request, response))
  await using connection = await connect({ url: http.url })
  expect(await failure(connection.call('open'))).toMatchObject({
    reason: 'protocol',
    message: expect.stringMatching(/^Calling open failed: the server sent an invalid message\. \(http:\S+\)$/u),
  })
})

test('a notification that the server never acknowledges is given up', async () => {
  const held = new Set<ServerResponse>()
  let isCancelled = false
  await using http = await serveHttp((request, response) => {
    void (async () => {
      const body = await text(request)
      const { id, method, params } = JSON.parse(body === '' ? '{}' : body)
      const json = (message: object): void =>
        void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, ...message }))
      const serverInfo = { name: 'odd', version: '1.0.0' }
      if (method === 'initialize')
        json({ result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } })
      else if (method === 'notifications/initialized') response.writeHead(202).end()
      else if (method === 'server/discover') json({ error: { code: -32_601, message: 'Method not found' } })
      else if (method === 'tools/call' || method === 'notifications/cancelled') {
        isCancelled ||= method === 'notifications/cancelled'
        held.add(response)
        response.on('close', () => held.delete(response))
      } else response.writeHead(405).end()
    })()
  })
  // Once it is connected, time passes a hundred times faster.
  let speed = 1
  const clock = {
    ...systemClock,
    after: (ms: number, run: () => void, isIdle?: boolean) => systemClock.after(ms / speed, run, isIdle),
  }
  await using connection = await connect({ url: http.url }, { clock, timeoutMs: 3_000_000 })
  speed = 100
  const call = connection.call('one', {}, { validate: false, unlisted: true, timeoutMs: 5_000 })
  expect(await failure(call)).toMatchObject({ reason: 'timeout' })
  await until(() => isCancelled && held.size === 0, 'both requests are given up')
})
