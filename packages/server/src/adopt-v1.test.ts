import { PassThrough } from 'node:stream'
import { completable } from '@modelcontextprotocol/sdk/server/completable.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { McpServer, type RegisteredTool } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport as StdioServerTransportV1 } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js'
import { McpServer as McpServerV2 } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { responseTo, toolsIn } from '../test/responses.ts'
import { adopt } from './adopt.ts'
import { adoptV1, type FactoryV1 } from './adopt-v1.ts'
import { type TestClient, testClient } from './testing/client.ts'
import { replyData, testContext, testServer, testTransports } from './testing/index.ts'
import { listen } from './transports/node.ts'

interface Made {
  readonly mcp: McpServer
  readonly tools: Map<string, RegisteredTool>
  isClosed: boolean
  isWaiting: boolean
  isCancelled: boolean
}

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

/** A server as its author wrote it for version 1 of the SDK; every instance is recorded. */
function workshop(made: Made[] = []): FactoryV1 {
  return () => {
    const mcp = new McpServer(
      { name: 'workshop', version: '3.2.1', title: 'Workshop' },
      { capabilities: { logging: {}, resources: { subscribe: true } }, instructions: 'A workshop.' },
    )
    const tools = new Map<string, RegisteredTool>()
    const self: Made = { mcp, tools, isClosed: false, isWaiting: false, isCancelled: false }
    made.push(self)
    mcp.server.onclose = () => {
      self.isClosed = true
    }
    const path = { path: z.string() }
    const read = { title: 'Read', description: 'Reads', inputSchema: path, annotations: { readOnlyHint: true } }
    tools.set(
      'read_file',
      mcp.registerTool('read_file', read, (input) => text(`read ${input.path}`)),
    )
    tools.set(
      'write_file',
      mcp.registerTool('write_file', { description: 'Writes', inputSchema: path }, (input) => ({
        _meta: { 'example.com/trace': 'abc' },
        ...text(`wrote ${input.path}`),
      })),
    )
    mcp.registerTool('fail', { description: 'Fails' }, () => {
      throw new McpError(ErrorCode.InvalidRequest, 'Out of paper')
    })
    mcp.registerTool('measure', { description: 'Measures', outputSchema: { size: z.number() } }, () => ({
      structuredContent: { size: 1 },
      content: [],
    }))
    mcp.registerTool('work', { description: 'Works', inputSchema: {} }, async (_input, extra) => {
      const progressToken = extra._meta?.progressToken
      if (progressToken !== undefined)
        await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } })
      await mcp.sendLoggingMessage({ level: 'info', data: 'working' }, extra.sessionId)
      return text('worked')
    })
    mcp.registerTool('ask', { description: 'Asks' }, async () => {
      const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } }
      const { content } = await mcp.server.elicitInput({ message: 'Who?', requestedSchema })
      return text(`hello ${JSON.stringify(content?.name)}`)
    })
    mcp.registerTool('roots', { description: 'Looks around' }, async () =>
      text((await mcp.server.listRoots()).roots.map(({ uri }) => uri).join()),
    )
    mcp.registerTool('who', { description: 'Says who asks' }, ({ authInfo, requestInfo, sessionId }) =>
      text(JSON.stringify([authInfo?.clientId, requestInfo?.headers['x-test-principal'] !== undefined, sessionId !== undefined])),
    )
    mcp.registerTool('wait', { description: 'Waits' }, async ({ signal }) => {
      self.isWaiting = true
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      self.isCancelled = true
      return text('gave up')
    })
    mcp.registerPrompt(
      'greet',
      { description: 'Greets', argsSchema: { name: completable(z.string(), (value) => [`${value}a`, `${value}b`]) } },
      ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello ${name}` } }] }),
    )
    mcp.registerResource('readme', 'docs://readme', { description: 'Read me' }, ({ href }) => ({
      contents: [{ uri: href, text: 'Read me first' }],
    }))
    return mcp
  }
}

/** A low-level server with its own paginated list and its own error messages. */
function lowLevel(names: readonly string[] = ['read_file', 'write_file', 'refuse', 'crash']): FactoryV1 {
  return () => {
    const server = new Server({ name: 'plain', version: '1.0.0' }, { capabilities: { tools: {} } })
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
      const at = Number(params?.cursor ?? 0)
      const tools = names.slice(at, at + 2).map((name) => ({ inputSchema: { type: 'object' as const }, name }))
      return { tools, ...(at + 2 < names.length && { nextCursor: String(at + 2) }) }
    })
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      if (params.name === 'refuse') throw new McpError(-32_001, 'Not today', { until: 'tomorrow' })
      if (params.name === 'crash') throw new Error('Broken')
      return { 'x-own': true, content: [{ text: `${params.name} ${JSON.stringify(params.arguments)}`, type: 'text' as const }] }
    })
    return server
  }
}

const files = {
  groups: { files: { description: 'Files: read and write' } },
  assign: { read_file: 'files', write_file: 'files' },
} as const

/** A client of the server as version 1 of the SDK itself serves it. */
async function connectWithSdk(factory: FactoryV1): Promise<TestClient> {
  const [there, back] = [new PassThrough(), new PassThrough()]
  await (await factory()).connect(new StdioServerTransportV1(there, back))
  return testClient(new StdioServerTransport(back, there), { era: 'session', listens: false })
}

const sessionTransports = testTransports.filter(({ era }) => era === 'session')
const statelessTransports = testTransports.filter(({ era }) => era === 'stateless')

test.each(testTransports.filter(({ era }) => era === 'session'))(
  'groups gate tools, and activation shows them ($transport)',
  async (testTransport) => {
    for (const factory of [workshop(), lowLevel()]) {
      await using server = await testServer(adoptV1(factory, files), testTransport)
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
      await using server = await testServer(adoptV1(factory, files), testTransport)
      await using client = await server.connect()
      expect(await client.toolNames()).toContain('read_file')
      expect(await client.toolNames()).not.toContain('activate_files')
      expect((await client.call('read_file', { path: 'x' })).content).toMatchObject([{ text: expect.stringMatching(/^read/u) }])
      await using narrow = await server.connect({ view: 'exposure=groups' })
      expect(await narrow.toolNames()).not.toContain('read_file')
    }
  },
)

describe.each(testTransports)('a server of version 1 over $transport, $era era', (testTransport) => {
  const isSession = testTransport.era === 'session'

  test("the server's info is kept, and its groups are added", async () => {
    await using server = await testServer(adoptV1(workshop(), files), testTransport)
    await using client = await server.connect()
    expect(client.client.getServerVersion()).toMatchObject({ name: 'workshop', version: '3.2.1', title: 'Workshop' })
    expect(client.client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      prompts: {},
      resources: { subscribe: true },
      completions: {},
      logging: {},
      extensions: { 'io.github.unfold-mcp/discovery': {} },
    })
    expect(client.client.getInstructions()).toMatch(/^A workshop\.\n\n.*files/su)
  })

  test('prompts, resources and completions are forwarded', async () => {
    await using server = await testServer(adoptV1(workshop(), files), testTransport)
    await using client = await server.connect()
    const { client: mcp } = client
    expect((await mcp.listPrompts()).prompts.map(({ name }) => name)).toEqual(['greet'])
    const { messages } = await mcp.getPrompt({ name: 'greet', arguments: { name: 'Ann' } })
    expect(messages[0]?.content).toMatchObject({ text: 'Hello Ann' })
    await expect(mcp.getPrompt({ name: 'great' })).rejects.toThrow('Prompt great not found')
    expect((await mcp.listResources()).resources).toMatchObject([{ uri: 'docs://readme' }])
    expect((await mcp.readResource({ uri: 'docs://readme' })).contents[0]).toMatchObject({ text: 'Read me first' })
    const { completion } = await mcp.complete({
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'name', value: 'x' },
    })
    expect(completion.values).toEqual(['xa', 'xb'])
  })

  test('progress and log messages reach the client', async () => {
    await using server = await testServer(adoptV1(workshop()), testTransport)
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

  test('cancellation reaches the server', async () => {
    const made: Made[] = []
    await using server = await testServer(adoptV1(workshop(made)), testTransport)
    await using client = await server.connect()
    const gone = new AbortController()
    const call = client.client.callTool({ name: 'wait' }, { signal: gone.signal })
    await vi.waitFor(() => expect(made.some(({ isWaiting }) => isWaiting)).toBe(true), 120_000)
    gone.abort()
    await expect(call).rejects.toThrow('abort')
    await vi.waitFor(() => expect(made.filter(({ isCancelled }) => isCancelled).length).toBe(1), 120_000)
    expect((await client.call('read_file', { path: 'x' })).content).toEqual(text('read x').content)
  })

  test('every created server is closed when its client disconnects', async () => {
    const made: Made[] = []
    const server = await testServer(adoptV1(workshop(made), files), testTransport)
    const client = await server.connect()
    await client.toolNames()
    await client.call('measure')
    await server.close()
    expect(made.length).toBeGreaterThan(0)
    expect(made.every(({ isClosed }) => isClosed)).toBe(true)
  })

  test('its handlers get the principal', async () => {
    await using server = await testServer(adoptV1(workshop()), testTransport)
    await using client = await server.connect({ principal: { id: 'ann' } })
    const isHttp = testTransport.transport === 'http'
    const expected = isHttp ? ['ann', true, isSession] : [null, false, false]
    expect((await client.call('who')).content).toEqual(text(JSON.stringify(expected)).content)
  })
})

describe.each(sessionTransports)('sessions over $transport', (testTransport) => {
  test('without groups its list is byte-identical to that of the SDK', async () => {
    for (const factory of [workshop(), lowLevel(['one', 'two'])]) {
      await using server = await testServer(adoptV1(factory), testTransport)
      await using adopted = await server.connect()
      await using before = await connectWithSdk(factory)
      expect(toolsIn(await responseTo(adopted, 'tools/list'))).toBe(toolsIn(await responseTo(before, 'tools/list')))
    }
  })

  test('calls return byte-identical responses to the SDK: results, errors, validation', async () => {
    const calls = [
      { name: 'read_file', arguments: { path: 'x' } },
      { name: 'read_file', arguments: { path: 1 } },
      { name: 'write_file', arguments: { path: 'y' } },
      { name: 'fail' },
      { name: 'measure' },
      { name: 'refuse' },
      { name: 'crash', arguments: {} },
    ]
    for (const [factory, names] of [
      [workshop(), ['read_file', 'write_file', 'fail', 'measure']],
      [lowLevel(), ['read_file', 'write_file', 'refuse', 'crash']],
    ] as const) {
      await using server = await testServer(adoptV1(factory), testTransport)
      await using adopted = await server.connect()
      await using before = await connectWithSdk(factory)
      for (const call of calls.filter(({ name }) => names.some((each) => each === name))) {
        expect(await responseTo(adopted, 'tools/call', call)).toBe(await responseTo(before, 'tools/call', call))
      }
    }
  })

  test('it elicits input as before', async () => {
    await using server = await testServer(adoptV1(workshop(), files), testTransport)
    await using client = await server.connect()
    client.client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ann' } }))
    expect((await client.call('ask')).content).toEqual(text('hello "Ann"').content)
    // This client does not support roots, and the SDK rejects the request.
    expect((await client.call('roots')).content).toEqual(text('MCP error -32601: Method not found').content)
  })

  test("changes to the tools of one session's server affect only that session", async () => {
    const made: Made[] = []
    await using server = await testServer(adoptV1(workshop(made)), testTransport)
    await using ann = await server.connect()
    const hers = made.at(-1)?.tools
    await using bob = await server.connect()
    hers?.get('write_file')?.disable()
    await ann.waitForListChanges(1)
    expect(await ann.toolNames()).not.toContain('write_file')
    expect(await bob.toolNames()).toContain('write_file')
    hers?.get('write_file')?.enable()
    await ann.waitForListChanges(2)
    await ann.settle()
    expect([ann.listChanges, bob.listChanges]).toEqual([2, 0])
  })

  test('its other notifications are forwarded', async () => {
    const made: Made[] = []
    await using server = await testServer(adoptV1(workshop(made)), testTransport)
    await using client = await server.connect()
    const received: string[] = []
    client.client.setNotificationHandler('notifications/prompts/list_changed', () => void received.push('prompts'))
    client.client.setNotificationHandler('notifications/resources/updated', ({ params }) => void received.push(params.uri))
    const mcp = made.at(-1)?.mcp
    mcp?.sendPromptListChanged()
    await mcp?.server.sendResourceUpdated({ uri: 'docs://readme' })
    await client.settle()
    expect(received).toEqual(['prompts', 'docs://readme'])
  })

  test("it gets the client's capabilities and the initialized notification", async () => {
    const made: Made[] = []
    let initialised = 0
    const factory: FactoryV1 = async () => {
      const mcp = await workshop(made)()
      if (mcp instanceof McpServer) mcp.server.oninitialized = () => void initialised++
      return mcp
    }
    await using server = await testServer(adoptV1(factory), testTransport)
    initialised = 0
    await using _client = await server.connect()
    const inner = made.at(-1)?.mcp.server
    expect(inner?.getClientCapabilities()).toEqual({ elicitation: { form: {} } })
    expect(inner?.getClientVersion()).toMatchObject({ name: 'test-client' })
    expect(initialised).toBe(1)
  })
})

test.each(statelessTransports)(
  'on 2026-07-28 its requests to the client fail with the reason ($transport)',
  async (testTransport) => {
    await using server = await testServer(adoptV1(workshop()), testTransport)
    await using client = await server.connect()
    const roots = await client.call('roots')
    expect(roots).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('cannot send requests to a client on protocol revision 2026-07-28') }],
    })
    expect(await client.call('ask')).toMatchObject({ isError: true })
  },
)

test('toolListChanged() notifies 2026-07-28 clients that listen', async () => {
  for (const testTransport of statelessTransports) {
    const names = ['one']
    const served = adoptV1(lowLevel(names))
    await using server = await testServer(served, testTransport)
    await using client = await server.connect()
    names.push('two')
    served.toolListChanged()
    await client.waitForListChanges(1)
    expect(await client.toolNames()).toEqual(['one', 'two'])
  }
})

test('a reserved tool name is rejected', async () => {
  const served = adoptV1(lowLevel(['activate_files']), { groups: { files: { description: 'Files' } }, report: () => undefined })
  await expect(listen(served, { port: 0 })).rejects.toThrow('"activate_files" is a name of this library')
})

describe('a server of the other version is rejected with the right function:', () => {
  test('version 1 with adoptV1', async () => {
    const served = adopt(workshop() as never, { report: () => undefined })
    await expect(testContext(served)).rejects.toThrow("use adoptV1 from '@unfold-mcp/server/adopt-v1'")
  })

  test('version 2 with adopt', async () => {
    const served = adoptV1((() => new McpServerV2({ name: 'two', version: '2' })) as never, { report: () => undefined })
    await expect(testContext(served)).rejects.toThrow("Use adopt from '@unfold-mcp/server'")
  })

  test('and one without tools', async () => {
    const served = adoptV1(() => new McpServer({ name: 'empty', version: '1' }), { report: () => undefined })
    await expect(testContext(served)).rejects.toThrow('empty cannot be adopted: it has no tools')
  })
})

test('a misspelt group is a compile error', () => {
  // @ts-expect-error 'fils' is not a group of this server
  adoptV1(lowLevel(), { groups: { files: { description: 'Files' } }, assign: { read_file: 'fils' } })
})
