import { PassThrough } from 'node:stream'
import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import {
  acceptedContent,
  completable,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  McpServer,
  type McpServerFactory,
  ProtocolError,
  type RegisteredTool,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio as serveSdkStdio } from '@modelcontextprotocol/server/stdio'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { responseTo, toolsIn } from '../test/responses.ts'
import { adopt } from './adopt.ts'
import { ToolRegistry } from './registry.ts'
import { type TestClient, testClient } from './testing/client.ts'
import { replyData, type TestTransport, testContext, testServer, testTransports } from './testing/index.ts'
import { createHandler } from './transports/handler.ts'
import { listen } from './transports/node.ts'

const waiting: AbortSignal[] = []
const cancelled: unknown[] = []

const stateCodec = createRequestStateCodec({ key: 'k'.repeat(32) })

/** A server as its author wrote it before adoption; the tools of every instance are recorded. */
function workshop(made: Map<string, RegisteredTool>[] = []): McpServerFactory {
  return () => {
    const mcp = new McpServer(
      { name: 'workshop', version: '3.2.1', title: 'Workshop' },
      {
        capabilities: { logging: {} },
        instructions: 'A workshop.',
        cacheHints: { 'tools/list': { ttlMs: 4_000, cacheScope: 'public' } },
        requestState: { verify: (state, ctx) => stateCodec.verify(state, ctx) },
      },
    )
    const tools = new Map<string, RegisteredTool>()
    made.push(tools)
    const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
    tools.set(
      'read_file',
      mcp.registerTool(
        'read_file',
        {
          title: 'Read',
          description: 'Reads',
          inputSchema: z.object({ path: z.string() }),
          annotations: { readOnlyHint: true },
          _meta: { 'example.com/cost': 3 },
        },
        ({ path }) => text(`read ${path}`),
      ),
    )
    tools.set(
      'write_file',
      mcp.registerTool('write_file', { description: 'Writes', inputSchema: z.object({ path: z.string() }) }, ({ path }) => ({
        _meta: { 'example.com/trace': 'abc' },
        ...text(`wrote ${path}`),
      })),
    )
    mcp.registerTool('fail', { description: 'Fails' }, () => {
      throw new ProtocolError(-32_050, 'Out of paper', { tray: 2 })
    })
    mcp.registerTool('measure', { description: 'Measures', outputSchema: z.object({ size: z.number() }) }, () => ({
      structuredContent: { size: 1 },
      content: [{ type: 'text', text: '{"size":1}' }],
    }))
    mcp.registerTool('numbers', { description: 'Lists', outputSchema: z.array(z.number()) }, () => ({
      structuredContent: [1, 2],
      content: [],
    }))
    mcp.registerTool('work', { description: 'Works', inputSchema: z.object({}) }, async (_input, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      if (progressToken !== undefined)
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } })
      await mcpReq.log('info', 'working')
      return text('worked')
    })
    mcp.registerTool('ask', { description: 'Asks' }, async (ctx) => {
      const { mcpReq } = ctx
      const answer = acceptedContent<{ name: string }>(mcpReq.inputResponses, 'who')
      if (answer !== undefined) return text(`hello ${answer.name}, ${JSON.stringify(mcpReq.requestState())}`)
      const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } }
      return inputRequired({
        inputRequests: { who: inputRequired.elicit({ message: 'Who?', requestedSchema }) },
        requestState: await stateCodec.mint({ step: 1 }, ctx),
      })
    })
    mcp.registerTool('confirm', { description: 'Asks at once' }, async ({ mcpReq }) => {
      const { action } = await mcpReq.elicitInput({ message: 'Sure?', requestedSchema: { type: 'object', properties: {} } })
      return text(action)
    })
    mcp.registerTool('wait', { description: 'Waits' }, async ({ mcpReq: { signal } }) => {
      waiting.push(signal)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      cancelled.push(signal.reason)
      return text('gave up')
    })
    mcp.registerPrompt(
      'greet',
      { description: 'Greets', argsSchema: z.object({ name: completable(z.string(), (value) => [`${value}a`, `${value}b`]) }) },
      ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello ${name}` } }] }),
    )
    mcp.registerResource('readme', 'docs://readme', { description: 'Read me' }, ({ href }) => ({
      contents: [{ uri: href, text: 'Read me first' }],
    }))
    return mcp
  }
}

/** A low-level server with its own paginated list and its own error messages. */
function lowLevel(
  names: readonly string[] = ['read_file', 'write_file', 'refuse', 'crash'],
  more: object = {},
): McpServerFactory {
  return () => {
    const server = new Server({ name: 'plain', version: '1.0.0' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', ({ params }) => {
      const at = Number(params?.cursor ?? 0)
      const tools = names
        .slice(at, at + 2)
        .map((name) => ({ ...more, inputSchema: { type: 'object' as const }, name, 'x-own': 1 }))
      return { tools, ...(at + 2 < names.length && { nextCursor: String(at + 2) }) }
    })
    server.setRequestHandler('tools/call', ({ params }) => {
      if (params.name === 'refuse') throw new ProtocolError(-32_001, 'Not today', { until: 'tomorrow' })
      if (params.name === 'crash') throw Object.assign(new Error('Broken'), { code: -32_077, data: [1] })
      const text = `${params.name} ${JSON.stringify(params.arguments)}`
      return { 'x-own': true, content: [{ text, type: 'text' as const }] }
    })
    return server
  }
}

const files = {
  groups: { files: { description: 'Files: read and write' } },
  assign: { read_file: 'files', write_file: 'files' },
} as const

/** A client of the server as the SDK itself serves it. */
async function connectWithSdk(factory: McpServerFactory, { transport, era }: TestTransport): Promise<TestClient> {
  return testClient(await wireTo(), { era, listens: false })

  async function wireTo(): Promise<Transport> {
    if (transport === 'stdio') {
      const [there, back] = [new PassThrough(), new PassThrough()]
      serveSdkStdio(factory, { transport: new StdioServerTransport(there, back) })
      return new StdioServerTransport(back, there)
    }
    const fetch = era === 'stateless' ? createMcpHandler(factory, { legacy: 'reject' }).fetch : await session()
    return new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
      fetch: (url, init) => fetch(new Request(url, init)),
    })
  }

  async function session(): Promise<(request: Request) => Promise<Response>> {
    const web = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => 'one' })
    await (await factory({ era: 'legacy' })).connect(web)
    return (request) => web.handleRequest(request)
  }
}

test.each(testTransports.filter(({ era }) => era === 'session'))(
  'groups gate tools, and activation shows them ($transport)',
  async (testTransport) => {
    for (const factory of [workshop(), lowLevel()]) {
      await using server = await testServer(adopt(factory, files), testTransport)
      await using client = await server.connect()
      const first = await client.toolNames()
      expect(first).toEqual(expect.arrayContaining(['activate_files', 'deactivate']))
      expect(first).not.toContain('read_file')
      await expect(client.call('read_file', { path: 'x' })).rejects.toThrow('not found')

      expect(replyData(await client.call('activate_files'))).toMatchObject({ activated: ['files'] })
      await client.waitForListChanges(1)
      expect(await client.toolNames()).toEqual(expect.arrayContaining(['read_file', 'write_file']))
      expect((await client.call('read_file', { path: 'x' })).content).toMatchObject([{ text: expect.stringMatching(/^read/u) }])
    }
  },
)

test.each(testTransports.filter(({ era }) => era === 'stateless'))(
  'on 2026-07-28 everything is listed, or the groups of the URL ($transport)',
  async (testTransport) => {
    for (const factory of [workshop(), lowLevel()]) {
      await using server = await testServer(adopt(factory, files), testTransport)
      await using client = await server.connect()
      expect(await client.toolNames()).toContain('read_file')
      expect(await client.toolNames()).not.toContain('activate_files')
      expect((await client.call('read_file', { path: 'x' })).content).toMatchObject([{ text: expect.stringMatching(/^read/u) }])
      await using narrow = await server.connect({ view: 'exposure=groups' })
      expect(await narrow.toolNames()).not.toContain('read_file')
    }
  },
)

describe.each(testTransports)('an adopted server over $transport, $era era', (testTransport) => {
  const isSession = testTransport.era === 'session'

  test('without groups its list is byte-identical to that of the SDK', async () => {
    for (const factory of [workshop(), lowLevel(['a', 'b'], { title: 'T' })]) {
      await using server = await testServer(adopt(factory), testTransport)
      await using adopted = await server.connect()
      await using before = await connectWithSdk(factory, testTransport)
      const [ours, theirs] = [await responseTo(adopted, 'tools/list'), await responseTo(before, 'tools/list')]
      expect(toolsIn(ours)).toBe(toolsIn(theirs))
    }
  })

  test('calls return byte-identical responses to the SDK: results, errors, validation', async () => {
    const calls = [
      { name: 'read_file', arguments: { path: 'x' } },
      { name: 'read_file', arguments: { path: 1 } },
      { name: 'write_file', arguments: { path: 'y' } },
      { name: 'fail' },
      { name: 'measure' },
      { name: 'numbers' },
      { name: 'work', arguments: {} },
      { name: 'refuse' },
      { name: 'crash', arguments: {} },
    ]
    for (const [factory, names] of [
      [workshop(), ['read_file', 'write_file', 'fail', 'measure', 'numbers', 'work']],
      [lowLevel(), ['read_file', 'write_file', 'refuse', 'crash']],
    ] as const) {
      await using server = await testServer(
        adopt(factory, { groups: { all: { description: 'All', default: true } } }),
        testTransport,
      )
      await using adopted = await server.connect()
      await using before = await connectWithSdk(factory, testTransport)
      for (const call of calls.filter(({ name }) => names.some((each) => each === name))) {
        expect(await responseTo(adopted, 'tools/call', call)).toBe(await responseTo(before, 'tools/call', call))
      }
    }
  })

  test("the server's info is kept, and its groups are added", async () => {
    await using server = await testServer(adopt(workshop(), files), testTransport)
    await using client = await server.connect()
    expect(client.client.getServerVersion()).toMatchObject({ name: 'workshop', version: '3.2.1', title: 'Workshop' })
    expect(client.client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      prompts: {},
      resources: {},
      completions: {},
      logging: {},
      extensions: { 'io.github.unfold-mcp/discovery': {} },
    })
    const instructions = client.client.getInstructions() ?? ''
    expect(instructions.startsWith('A workshop.\n\n')).toBe(true)
    expect(instructions).toContain('files')
  })

  test('prompts, resources and completions work as before', async () => {
    await using server = await testServer(adopt(workshop(), files), testTransport)
    await using client = await server.connect()
    const { client: mcp } = client
    expect((await mcp.listPrompts()).prompts.map(({ name }) => name)).toEqual(['greet'])
    const { messages } = await mcp.getPrompt({ name: 'greet', arguments: { name: 'Ann' } })
    expect(messages[0]?.content).toMatchObject({ text: 'Hello Ann' })
    expect((await mcp.readResource({ uri: 'docs://readme' })).contents[0]).toMatchObject({ text: 'Read me first' })
    const { completion } = await mcp.complete({
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'name', value: 'x' },
    })
    expect(completion.values).toEqual(['xa', 'xb'])
  })

  test('progress and log messages reach the client', async () => {
    await using server = await testServer(adopt(workshop()), testTransport)
    await using client = await server.connect()
    const received: unknown[] = []
    client.client.setNotificationHandler('notifications/message', ({ params }) => void received.push(params.data))
    if (isSession) await client.client.setLoggingLevel('debug')
    const meta = isSession ? {} : { _meta: { 'io.modelcontextprotocol/logLevel': 'debug' } }
    await client.client.callTool(
      { name: 'work', arguments: {}, ...meta },
      { onprogress: ({ progress }) => void received.push(progress) },
    )
    await client.settle()
    expect(received).toEqual([1, 'working'])
  })

  test('it elicits input as before, and its request state is verified once', async () => {
    await using server = await testServer(adopt(workshop(), files), testTransport)
    await using client = await server.connect()
    client.client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ann' } }))
    expect((await client.call('ask')).content).toEqual([{ type: 'text', text: 'hello Ann, {"step":1}' }])
    const { content } = await client.call('confirm')
    expect(JSON.stringify(content)).toContain(isSession ? 'accept' : 'Return inputRequired')
  })

  test('cancellation reaches the server', async () => {
    await using server = await testServer(adopt(workshop()), testTransport)
    await using client = await server.connect()
    waiting.length = 0
    cancelled.length = 0
    const gone = new AbortController()
    const call = client.client.callTool({ name: 'wait' }, { signal: gone.signal })
    await vi.waitFor(() => expect(waiting.length).toBe(1), 120_000)
    gone.abort()
    await expect(call).rejects.toThrow('abort')
    await vi.waitFor(() => expect(cancelled.length).toBe(1), 120_000)
  })
})

test('a reserved tool name is reported to the operator, not to clients', async () => {
  const served = adopt(lowLevel(['search_tools']), { report: () => undefined })
  const errors: string[] = []
  await using handler = createHandler(served, { onerror: (error) => void errors.push(error.message) })
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  }
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const reply = await handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(body) }))
  expect(await reply.text()).not.toContain('search_tools')
  expect(errors).toEqual([expect.stringContaining('"search_tools" is a name of this library')])
  await expect(listen(served, { port: 0 })).rejects.toThrow("is a name of this library's own tools")
})

describe.each(testTransports.filter(({ era }) => era === 'session'))('sessions over $transport', (testTransport) => {
  test("changes to the tools of one session's server affect only that session", async () => {
    const made: Map<string, RegisteredTool>[] = []
    await using server = await testServer(adopt(workshop(made)), testTransport)
    await using ann = await server.connect()
    const hers = made.at(-1)
    await using bob = await server.connect()
    hers?.get('write_file')?.disable()
    await ann.waitForListChanges(1)
    expect(await ann.toolNames()).not.toContain('write_file')
    expect(await bob.toolNames()).toContain('write_file')
    await expect(ann.call('write_file', { path: 'x' })).rejects.toThrow('not found')
    expect(await bob.call('write_file', { path: 'x' })).toMatchObject({ content: [{ text: 'wrote x' }] })

    hers?.get('write_file')?.enable()
    await ann.waitForListChanges(2)
    hers?.get('read_file')?.update({ description: 'Reads with care' })
    await ann.waitForListChanges(3)
    await ann.settle()
    expect([ann.listChanges, bob.listChanges]).toEqual([3, 0])
    const described = async (client: TestClient) => (await client.tools()).find(({ name }) => name === 'read_file')?.description
    expect([await described(ann), await described(bob)]).toEqual(['Reads with care', 'Reads'])
  })

  test('simultaneous changes cause one notification, and a hidden change only one of the activator', async () => {
    const made: Map<string, RegisteredTool>[] = []
    await using server = await testServer(adopt(workshop(made), files), testTransport)
    await using client = await server.connect()
    const tools = made.at(-1)
    tools?.get('write_file')?.disable()
    tools?.get('read_file')?.update({ title: 'Read it' })
    await client.waitForListChanges(1)
    await client.settle()
    expect(client.listChanges).toBe(1)
    const activator = (await client.tools()).find(({ name }) => name === 'activate_files')
    expect(activator?.description).toContain('Enables: read_file.')
  })

  test('a list that changed without notification is read again, and the client that read it is not notified', async () => {
    const names = ['one']
    await using server = await testServer(adopt(lowLevel(names)), testTransport)
    await using client = await server.connect()
    expect(await client.toolNames()).toEqual(['one'])
    names.push('two')
    expect(await client.toolNames()).toEqual(['one', 'two'])
    await client.settle()
    expect(client.listChanges).toBe(0)
  })
})

test('toolListChanged() notifies 2026-07-28 clients that listen', async () => {
  for (const transport of ['stdio', 'http'] as const) {
    const names = ['one']
    const served = adopt(lowLevel(names))
    await using server = await testServer(served, { transport, era: 'stateless' })
    await using client = await server.connect()
    names.push('two')
    served.toolListChanged()
    await client.waitForListChanges(1)
    expect(await client.toolNames()).toEqual(['one', 'two'])
  }
})

test('a factory that decides by request also announces new 2026-07-28 lists', async () => {
  let broad = false
  const served = adopt((ctx) => lowLevel(broad ? ['one', 'two'] : ['one'])(ctx))
  await using server = await testServer(served, { transport: 'http', era: 'stateless' })
  await using client = await server.connect()
  broad = true
  served.toolListChanged()
  await client.waitForListChanges(1)
  expect(await client.toolNames()).toEqual(['one', 'two'])
})

test('tools of a registry are added to its own, for every client', async () => {
  for (const testTransport of testTransports) {
    const registry = new ToolRegistry()
    const served = adopt(workshop(), files).use(registry)
    await using server = await testServer(served, testTransport)
    await using client = await server.connect()
    registry.registerInGroup('late', { description: 'Late' }, 'files', () => 'came late')
    registry.register('loose', { outputSchema: z.array(z.number()) }, () => ({ structuredContent: [1], content: [] }))
    await client.waitForListChanges(1)
    if (testTransport.era === 'session') await client.call('activate_files')
    expect((await client.call('late')).content).toEqual([{ type: 'text', text: 'came late' }])
    expect(await client.toolNames()).toEqual(expect.arrayContaining(['read_file', 'late', 'loose']))
    const wrapped = testTransport.era === 'session' ? { result: [1] } : [1]
    expect((await client.call('loose')).structuredContent).toEqual(wrapped)
  }
})

test('a gate hides everything but the `always` tools', async () => {
  const served = adopt(workshop(), { gate: 'Everything a workshop needs', always: ['measure'] })
  await using client = await testContext(served)
  expect(client.toolNames()).toEqual(['activate', 'measure'])
  await client.call('activate')
  expect(client.toolNames()).toContain('read_file')
  expect(await client.call('read_file', { path: 'x' })).toEqual({ content: [{ type: 'text', text: 'read x' }] })
})

test('views, permissions and external activation work as for a toolbox', async () => {
  const served = adopt(workshop(), {
    ...files,
    permit: (principal, { name }) => principal !== undefined || name !== 'write_file',
  })
  await using guest = await testContext(served, { view: 'groups=files' })
  expect(guest.toolNames()).toContain('read_file')
  expect(guest.toolNames()).not.toContain('write_file')
  await using member = await testContext(served, { principal: { id: 'ann' } })
  await served.activate('files', 'principal:ann')
  expect(member.toolNames()).toContain('write_file')
  await expect(testContext(served, { view: 'groups=fils' })).rejects.toThrow('Nearest: files')
})

test("the server's cache hint applies, unless the list differs between clients", async () => {
  const hintOf = async (served: object) => {
    await using server = await testServer(served, { transport: 'http', era: 'stateless' })
    await using client = await server.connect()
    const { ttlMs, cacheScope } = JSON.parse(await responseTo(client, 'tools/list'))
    return { ttlMs, cacheScope }
  }
  expect(await hintOf(adopt(workshop()))).toEqual({ ttlMs: 4_000, cacheScope: 'public' })
  expect(await hintOf(adopt(workshop(), { protocol: { ttlMs: 9 } }))).toEqual({ ttlMs: 9, cacheScope: 'private' })
  expect(await hintOf(adopt(workshop(), { permit: () => true }))).toEqual({ ttlMs: 0, cacheScope: 'private' })
})

test("the server's oninitialized and onclose still run", async () => {
  const happened: string[] = []
  const factory: McpServerFactory = (ctx) => {
    const mcp = workshop()(ctx) as McpServer
    mcp.server.oninitialized = () => void happened.push('initialised')
    mcp.server.onclose = () => void happened.push('closed')
    return mcp
  }
  for (const testTransport of testTransports.filter(({ era }) => era === 'session')) {
    const server = await testServer(adopt(factory), testTransport)
    await server.connect()
    await server.close()
    expect(happened.splice(0)).toEqual(['initialised', 'closed'])
  }
})

test('the factory gets the same context as from the SDK', async () => {
  const contexts: unknown[] = []
  const factory: McpServerFactory = (ctx) => {
    contexts.push([ctx.era, ctx.authInfo?.clientId, ctx.requestInfo?.headers.get('x-test-principal') !== undefined])
    return workshop()(ctx)
  }
  for (const era of ['session', 'stateless'] as const) {
    await using server = await testServer(adopt(factory), { transport: 'memory', era })
    await using client = await server.connect({ principal: { id: 'ann' } })
    await client.tools()
  }
  expect(contexts[0]).toEqual(['legacy', 'ann', true])
  expect(contexts.at(-1)).toEqual(['modern', 'ann', true])
})

describe('a server that cannot be adopted is rejected with the reason:', () => {
  const open = (factory: McpServerFactory) => testContext(adopt(factory, { report: () => undefined }))

  test('one without tools', async () => {
    await expect(open(() => new McpServer({ name: 'empty', version: '1' }))).rejects.toThrow(
      'empty cannot be adopted: it has no tools',
    )
  })

  test('one that is connected', async () => {
    const factory: McpServerFactory = async (ctx) => {
      const mcp = await workshop()(ctx)
      await mcp.connect(new StdioServerTransport(new PassThrough(), new PassThrough()))
      return mcp
    }
    await expect(open(factory)).rejects.toThrow('already connected')
  })

  test('the same one for two clients', async () => {
    const mcp = await workshop()({ era: 'legacy' })
    const errors: string[] = []
    await using server = await testServer(
      adopt(() => mcp, { report: () => undefined }),
      { transport: 'memory', era: 'session' },
      { onerror: (error) => void errors.push(error.message) },
    )
    await server.connect()
    await expect(server.connect()).rejects.toThrow('internal_error')
    expect(errors).toEqual([expect.stringContaining('the same server twice')])
  })

  test('one whose cursor repeats', async () => {
    const factory: McpServerFactory = () => {
      const server = new Server({ name: 'endless', version: '1' }, { capabilities: { tools: {} } })
      server.setRequestHandler('tools/list', () => ({ tools: [], nextCursor: 'again' }))
      server.setRequestHandler('tools/call', () => ({ content: [] }))
      return server
    }
    await expect(open(factory)).rejects.toThrow('its tools/list repeats the cursor "again"')
  })

  test('one that lists a tool twice', async () => {
    await expect(open(lowLevel(['one', 'one']))).rejects.toThrow('plain lists the tool "one" twice')
  })
})

test('a later tool with a duplicate name is skipped and reported', async () => {
  const reports: string[] = []
  const names = ['one']
  const served = adopt(lowLevel(names), { report: ({ message }) => void reports.push(message) })
  await using server = await testServer(served, { transport: 'memory', era: 'session' })
  await using client = await server.connect()
  await client.toolNames()
  names.push('call_tool', 'two')
  expect(await client.toolNames()).toEqual(['one', 'two'])
  expect(reports).toEqual([expect.stringContaining('"call_tool"')])
})

test('a misspelt tool is reported with the nearest name', async () => {
  const reports: string[] = []
  const served = adopt(lowLevel(), {
    groups: { files: { description: 'Files' } },
    assign: { raed_file: 'files' },
    report: ({ message }) => void reports.push(message),
  })
  await using _first = await testContext(served)
  await using _second = await testContext(served)
  expect(reports).toEqual([expect.stringContaining('no tool "raed_file", which "assign" or "always" names. Nearest: read_file.')])
})

test('a misspelt group is a compile error', async () => {
  const groups = { files: { description: 'Files' }, web: { description: 'Web', parent: 'files' } } as const
  adopt(lowLevel(), { groups, assign: { read_file: 'files', write_file: 'web' } })
  adopt(lowLevel(), { groups, assign: ({ name }) => (name === 'read_file' ? 'files' : undefined) })
  // @ts-expect-error 'fils' is not a group of this server
  adopt(lowLevel(), { groups: { files: { description: 'Files' } }, assign: { read_file: 'fils' } })
  // @ts-expect-error 'fils' is not a group of this server
  adopt(lowLevel(), { groups: { files: { description: 'Files' } }, assign: () => 'fils' })
  // @ts-expect-error a server has its own name
  expect(() => adopt(lowLevel(), { name: 'plain' })).toThrow('Unknown key "name" in the options of an adopted server.')
  // @ts-expect-error 'webs' is not a group of this server
  await expect(adopt(lowLevel(), { groups }).activate('webs', 'all')).rejects.toThrow('Nearest: web')
})
