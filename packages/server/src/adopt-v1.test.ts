import { PassThrough } from 'node:stream'
import { completable } from '@modelcontextprotocol/sdk/server/completable.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { McpServer, type RegisteredTool } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport as StdioServerTransportV1 } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js'
import { McpServer as McpServerV2 } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { answerTo, toolsIn } from '../test/answers.ts'
import { adopt } from './adopt.ts'
import { adoptV1, type FactoryV1 } from './adopt-v1.ts'
import { type TestClient, testClient } from './testing/client.ts'
import { replyData, testContext, testServer, ways } from './testing/index.ts'
import { listen } from './transports/node.ts'

interface Made {
  readonly mcp: McpServer
  readonly tools: Map<string, RegisteredTool>
  isClosed: boolean
  isCancelled: boolean
}

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

/** A server as its author wrote it for version 1 of the SDK; each one made is kept. */
function workshop(made: Made[] = []): FactoryV1 {
  return () => {
    const mcp = new McpServer(
      { name: 'workshop', version: '3.2.1', title: 'Workshop' },
      { capabilities: { logging: {}, resources: { subscribe: true } }, instructions: 'A workshop.' },
    )
    const tools = new Map<string, RegisteredTool>()
    const self: Made = { mcp, tools, isClosed: false, isCancelled: false }
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

/** A low-level server with its own list, in pages, and its own words for what goes wrong. */
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
  groups: { files: { about: 'Files: read and write' } },
  assign: { read_file: 'files', write_file: 'files' },
} as const

/** A client of the server as version 1 of the SDK itself serves it. */
async function alone(factory: FactoryV1): Promise<TestClient> {
  const [there, back] = [new PassThrough(), new PassThrough()]
  await (await factory()).connect(new StdioServerTransportV1(there, back))
  return testClient(new StdioServerTransport(back, there), { era: 'session', listens: false })
}

const sessionWays = ways.filter(({ era }) => era === 'session')
const statelessWays = ways.filter(({ era }) => era === 'stateless')

test.each(ways.filter(({ era }) => era === 'session'))(
  'groups gate tools, and activation shows them ($transport)',
  async (way) => {
    for (const factory of [workshop(), lowLevel()]) {
      await using server = await testServer(adoptV1(factory, files), way)
      await using client = await server.connect()
      const first = await client.toolNames()
      expect(first).toEqual(expect.arrayContaining(['activate_files', 'deactivate']))
      expect(first).not.toContain('read_file')
      await expect(client.call('read_file', { path: 'x' })).rejects.toThrow('not found')

      expect(replyData(await client.call('activate_files'))).toMatchObject({ activated: ['files'] })
      await client.told(1)
      expect(await client.toolNames()).toEqual(expect.arrayContaining(['read_file', 'write_file']))
      expect((await client.call('read_file', { path: 'x' })).content).toMatchObject([{ text: expect.stringMatching(/^read/u) }])
    }
  },
)

test.each(ways.filter(({ era }) => era === 'stateless'))(
  'on 2026-07-28 all is listed, or the groups of the address ($transport)',
  async (way) => {
    for (const factory of [workshop(), lowLevel()]) {
      await using server = await testServer(adoptV1(factory, files), way)
      await using client = await server.connect()
      expect(await client.toolNames()).toContain('read_file')
      expect(await client.toolNames()).not.toContain('activate_files')
      expect((await client.call('read_file', { path: 'x' })).content).toMatchObject([{ text: expect.stringMatching(/^read/u) }])
      await using narrow = await server.connect({ view: 'exposure=groups' })
      expect(await narrow.toolNames()).not.toContain('read_file')
    }
  },
)

describe.each(ways)('a server of version 1 over $transport, $era era', (way) => {
  const isSession = way.era === 'session'

  test('what the server says of itself is kept, and its groups are added', async () => {
    await using server = await testServer(adoptV1(workshop(), files), way)
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

  test('prompts, resources and completions are passed on', async () => {
    await using server = await testServer(adoptV1(workshop(), files), way)
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
    await using server = await testServer(adoptV1(workshop()), way)
    await using client = await server.connect()
    const heard: unknown[] = []
    client.client.setNotificationHandler('notifications/message', ({ params }) => void heard.push(params.data))
    if (isSession) await client.client.setLoggingLevel('debug')
    const meta = isSession ? {} : { _meta: { 'io.modelcontextprotocol/logLevel': 'debug' } }
    await client.client.callTool(
      { name: 'work', arguments: {}, ...meta },
      { onprogress: ({ progress }) => void heard.push(progress) },
    )
    await client.quiet()
    expect(heard).toEqual([1, 'working'])
  })

  test('a call that is cancelled is cancelled there', async () => {
    const made: Made[] = []
    await using server = await testServer(adoptV1(workshop(made)), way)
    await using client = await server.connect()
    const gone = new AbortController()
    const call = client.client.callTool({ name: 'wait' }, { signal: gone.signal })
    setTimeout(() => gone.abort(), 30)
    await expect(call).rejects.toThrow('abort')
    await client.quiet()
    expect(made.filter(({ isCancelled }) => isCancelled).length).toBe(1)
    expect((await client.call('read_file', { path: 'x' })).content).toEqual(text('read x').content)
  })

  test('every server that was made is closed when its client is gone', async () => {
    const made: Made[] = []
    const server = await testServer(adoptV1(workshop(made), files), way)
    const client = await server.connect()
    await client.toolNames()
    await client.call('measure')
    await server.close()
    expect(made.length).toBeGreaterThan(0)
    expect(made.every(({ isClosed }) => isClosed)).toBe(true)
  })

  test('who asks is told to its handlers', async () => {
    await using server = await testServer(adoptV1(workshop()), way)
    await using client = await server.connect({ principal: { id: 'ann' } })
    const isHttp = way.transport === 'http'
    const expected = isHttp ? ['ann', true, isSession] : [null, false, false]
    expect((await client.call('who')).content).toEqual(text(JSON.stringify(expected)).content)
  })
})

describe.each(sessionWays)('sessions over $transport', (way) => {
  test('without groups it lists the same bytes as alone', async () => {
    for (const factory of [workshop(), lowLevel(['one', 'two'])]) {
      await using server = await testServer(adoptV1(factory), way)
      await using adopted = await server.connect()
      await using before = await alone(factory)
      expect(toolsIn(await answerTo(adopted, 'tools/list'))).toBe(toolsIn(await answerTo(before, 'tools/list')))
    }
  })

  test('calls answer with the same bytes as alone: results, errors, validation', async () => {
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
      await using server = await testServer(adoptV1(factory), way)
      await using adopted = await server.connect()
      await using before = await alone(factory)
      for (const call of calls.filter(({ name }) => names.some((each) => each === name))) {
        expect(await answerTo(adopted, 'tools/call', call)).toBe(await answerTo(before, 'tools/call', call))
      }
    }
  })

  test('it asks its client as before', async () => {
    await using server = await testServer(adoptV1(workshop(), files), way)
    await using client = await server.connect()
    client.client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ann' } }))
    expect((await client.call('ask')).content).toEqual(text('hello "Ann"').content)
    // This client knows no roots, and says so itself.
    expect((await client.call('roots')).content).toEqual(text('MCP error -32601: Method not found').content)
  })

  test("what one session's server does to its tools, only that session sees and hears of", async () => {
    const made: Made[] = []
    await using server = await testServer(adoptV1(workshop(made)), way)
    await using ann = await server.connect()
    const hers = made.at(-1)?.tools
    await using bob = await server.connect()
    hers?.get('write_file')?.disable()
    await ann.told(1)
    expect(await ann.toolNames()).not.toContain('write_file')
    expect(await bob.toolNames()).toContain('write_file')
    hers?.get('write_file')?.enable()
    await ann.told(2)
    await ann.quiet()
    expect([ann.notices, bob.notices]).toEqual([2, 0])
  })

  test('its other notices are passed on', async () => {
    const made: Made[] = []
    await using server = await testServer(adoptV1(workshop(made)), way)
    await using client = await server.connect()
    const heard: string[] = []
    client.client.setNotificationHandler('notifications/prompts/list_changed', () => void heard.push('prompts'))
    client.client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri))
    const mcp = made.at(-1)?.mcp
    mcp?.sendPromptListChanged()
    await mcp?.server.sendResourceUpdated({ uri: 'docs://readme' })
    await client.quiet()
    expect(heard).toEqual(['prompts', 'docs://readme'])
  })

  test('it learns what its client can do, and when it is initialised', async () => {
    const made: Made[] = []
    let initialised = 0
    const factory: FactoryV1 = async () => {
      const mcp = await workshop(made)()
      if (mcp instanceof McpServer) mcp.server.oninitialized = () => void initialised++
      return mcp
    }
    await using server = await testServer(adoptV1(factory), way)
    initialised = 0
    await using _client = await server.connect()
    const inner = made.at(-1)?.mcp.server
    expect(inner?.getClientCapabilities()).toEqual({ elicitation: { form: {} } })
    expect(inner?.getClientVersion()).toMatchObject({ name: 'test-client' })
    expect(initialised).toBe(1)
  })
})

test.each(statelessWays)('on 2026-07-28 it can ask its client nothing, and is told so ($transport)', async (way) => {
  await using server = await testServer(adoptV1(workshop()), way)
  await using client = await server.connect()
  const roots = await client.call('roots')
  expect(roots).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('can ask its client nothing') }] })
  expect(await client.call('ask')).toMatchObject({ isError: true })
})

test('2026-07-28 clients that listen are told when the author says that the tools changed', async () => {
  for (const way of statelessWays) {
    const names = ['one']
    const served = adoptV1(lowLevel(names))
    await using server = await testServer(served, way)
    await using client = await server.connect()
    names.push('two')
    served.toolListChanged()
    await client.told(1)
    expect(await client.toolNames()).toEqual(['one', 'two'])
  }
})

test('a name that this library uses is refused in words', async () => {
  const served = adoptV1(lowLevel(['activate_files']), { groups: { files: { about: 'Files' } }, report: () => undefined })
  await expect(listen(served, { port: 0 })).rejects.toThrow('"activate_files" is a name of this library')
})

describe('a server of the other version is sent to the other function', () => {
  test('version 1 to adoptV1', async () => {
    const served = adopt(workshop() as never, { report: () => undefined })
    await expect(testContext(served)).rejects.toThrow("use adoptV1 from '@unfold-mcp/server/adopt-v1'")
  })

  test('version 2 to adopt', async () => {
    const served = adoptV1((() => new McpServerV2({ name: 'two', version: '2' })) as never, { report: () => undefined })
    await expect(testContext(served)).rejects.toThrow("Use adopt from '@unfold-mcp/server'")
  })

  test('one without tools to neither', async () => {
    const served = adoptV1(() => new McpServer({ name: 'empty', version: '1' }), { report: () => undefined })
    await expect(testContext(served)).rejects.toThrow('empty cannot be adopted: it has no tools')
  })
})

test('a misspelt group is a compile error', () => {
  // @ts-expect-error 'fils' is not a group of this server
  adoptV1(lowLevel(), { groups: { files: { about: 'Files' } }, assign: { read_file: 'fils' } })
})
