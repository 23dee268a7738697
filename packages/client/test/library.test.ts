import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { defineToolbox } from '@unfold-mcp/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { memoryCache } from '../src/cache/cache.ts'
import { connect } from '../src/connect.ts'
import { identityOfTools } from '../src/tools/identity.ts'
import { tap } from './counting-proxy.ts'
import { failure } from './failing.ts'
import { isAlive, server, until } from './processes.ts'
import { serveFetch, serveToolbox } from './servers.ts'

describe.each(['session', '2026-07-28'] as const)('a server of the library (%s)', (protocol) => {
  test('as a process: a later connection sends only the handshake', async () => {
    const cache = memoryCache()
    for (const wanted of [1, 0]) {
      const lines: string[] = []
      const connection = await connect(server('library.mjs'), { cache, protocol, onStderr: (line) => void lines.push(line) })
      expect((await connection.tools()).map(({ name }) => name)).toContain('add')
      expect((await connection.call('add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 })
      await connection.close()
      const count = (method: string): number => lines.filter((line) => line === `wire: ${method}`).length
      expect([count('tools/list'), count('server/identity'), count('tools/call')]).toEqual([wanted, 0, 1])
    }
  })

  test('has the identity of the tools it lists', async () => {
    const warnings: string[] = []
    const toolbox = defineToolbox({ name: 'various', version: '1.0.0' })
      .tool('plain', { description: 'Plain' }, () => 'x')
      .tool('object', { outputSchema: z.object({ a: z.number() }) }, () => ({ a: 1 }))
      .tool('list', { outputSchema: z.array(z.string()) }, () => ['a'])
      .tool('hinted', { readOnly: true, title: 'Hinted', _meta: { 'example.com/x': 1 } }, () => 'x')
    await using http = await serveToolbox(toolbox)
    await using connection = await connect({ url: http.url }, { protocol, onWarning: (warning) => void warnings.push(warning) })
    const tools = await connection.tools()
    expect(await connection.identity()).toMatchObject({
      server_id: identityOfTools(tools),
      tools_count: tools.length,
      protocol_version: '1.0',
      server: { name: 'various', version: '1.0.0' },
    })
    expect(warnings).toEqual([])
  })
})

test('a server of the library changes its identity with its list, and the client notices', async () => {
  const toolbox = defineToolbox({ name: 'groups', version: '1.0.0', groups: { files: { description: 'Files' } } }).tool(
    'read_file',
    { group: 'files' },
    () => 'x',
  )
  await using http = await serveToolbox(toolbox)
  await using connection = await connect({ url: http.url }, { protocol: 'session' })
  expect((await connection.tools()).map(({ name }) => name)).not.toContain('read_file')
  await connection.call('activate_files')
  await until(async () => (await connection.tools()).some(({ name }) => name === 'read_file'), 'the tool to appear')
  expect((await connection.identity())?.server_id).toBe(identityOfTools(await connection.tools()))
})

test('a view is selected in the query of the URL', async () => {
  const toolbox = defineToolbox({ name: 'views', version: '1.0.0', groups: { a: { description: 'A' }, b: { description: 'B' } } })
    .tool('in_a', { group: 'a' }, () => 'a')
    .tool('in_b', { group: 'b' }, () => 'b')
  await using http = await serveToolbox(toolbox)
  await using connection = await connect({ url: http.url }, { view: 'groups=a' })
  const names = (await connection.tools()).map(({ name }) => name)
  expect(names).toContain('in_a')
  expect(names).not.toContain('in_b')
  await using local = await connect({ server: toolbox }, { view: 'groups=b' })
  expect((await local.tools()).map(({ name }) => name)).toContain('in_b')
  expect(await failure(connect({ url: http.url }, { view: 'groups=nonsense' }))).toMatchObject({ reason: 'protocol' })
})

test('a protocol server in this process can be connected directly', async () => {
  const mcp = new McpServer({ name: 'inside', version: '1.0.0' })
  mcp.registerTool('hello', { description: 'Greets' }, () => ({ content: [{ type: 'text', text: 'hello' }] }))
  await using connection = await connect({ server: mcp })
  await using changes = connection.changes()
  await changes.ready
  mcp.registerTool('bye', { description: 'Leaves' }, () => ({ content: [] }))
  const { value } = await changes.next()
  expect(value).toMatchObject({ added: [{ name: 'bye' }] })
  expect((await connection.call('hello')).content).toEqual([{ type: 'text', text: 'hello' }])
  expect(await failure(connect({ server: mcp }, { protocol: '2026-07-28' }))).toMatchObject({ reason: 'protocol' })
})

test('a process that exits without closing leaves no server behind', async () => {
  const leaver = fileURLToPath(new URL('servers/leaver.mjs', import.meta.url))
  const { command, args = [] } = server('odd.mjs', 'stubborn')
  const { stdout } = await promisify(execFile)(process.execPath, [leaver, command, ...args])
  await until(() => !isAlive(Number(stdout)), 'the end of the server')
})

describe('a plain SDK server', () => {
  const schema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } } as const

  const handler = (input: Parameters<typeof fromJsonSchema>[0], options = {}) =>
    createMcpHandler(() => {
      const mcp = new McpServer({ name: 'sdk', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } })
      const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
      mcp.registerTool('deploy', { inputSchema: fromJsonSchema<{ region?: string }>(input) }, ({ region = 'none' }) =>
        text(region),
      )
      return mcp
    }, options)

  test('receives parameter headers, also when its tools come from the cache', async () => {
    const sdk = handler(schema)
    const seen: unknown[] = []
    await using http = await serveFetch((request) => {
      if (request.headers.get('mcp-method') === 'tools/call') seen.push(request.headers.get('mcp-param-region'))
      return sdk.fetch(request)
    })
    const cache = memoryCache()
    for (let i = 0; i < 2; i++) {
      await using connection = await connect({ url: http.url }, { cache })
      expect((await connection.call('deploy', { region: 'eu' })).content).toEqual([{ type: 'text', text: 'eu' }])
    }
    expect(seen).toEqual(['eu', 'eu'])
    await sdk.close()
  })

  test('with a tool that requires invalid headers is used without that tool', async () => {
    const impossible = { type: 'object', properties: { region: { type: 'object', 'x-mcp-header': 'Region' } } } as const
    const sdk = handler(impossible)
    const warnings: string[] = []
    await using connection = await connect({ server: sdk }, { onWarning: (warning) => void warnings.push(warning) })
    expect(await connection.tools()).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('"deploy"')])
    await using session = await connect({ server: sdk }, { protocol: 'session' })
    expect(await session.tools()).toHaveLength(1)
    await sdk.close()
  })

  test('that declares listChanged but refuses subscriptions is polled', async () => {
    for (const [protocol, options] of [
      ['session', {}],
      ['2026-07-28', { maxSubscriptions: 0 }],
    ] as const) {
      let extra = 0
      const sdk = createMcpHandler(() => {
        const mcp = new McpServer({ name: 'sdk', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } })
        for (let i = 0; i <= extra; i++) mcp.registerTool(`tool_${i}`, {}, () => ({ content: [] }))
        return mcp
      }, options)
      await using connection = await connect({ server: sdk }, { protocol })
      await using changes = connection.changes({ pollMs: 20 })
      await changes.ready
      extra++
      const { value } = await changes.next()
      expect(value).toMatchObject({ added: [{ name: 'tool_1' }] })
      await sdk.close()
    }
  })
})

test('concurrent readers share one list request', async () => {
  const toolbox = defineToolbox({ name: 'shared', version: '1.0.0' }).tool('one', {}, () => '1')
  await using http = await serveToolbox(toolbox)
  await using wire = await tap(http.port)
  await using connection = await connect({ url: wire.url })
  await Promise.all(Array.from({ length: 20 }, () => connection.tools()))
  expect(wire.count('tools/list')).toBe(1)
})

test('a paginated list has one identity and one cache entry', async () => {
  const toolbox = defineToolbox({ name: 'paged', version: '1.0.0', protocol: { pageSize: 2 } })
  for (let i = 0; i < 5; i++) toolbox.tool(`tool_${i}`, {}, () => 'x')
  await using http = await serveToolbox(toolbox)
  await using wire = await tap(http.port)
  const cache = memoryCache()
  for (let i = 0; i < 2; i++) {
    await using connection = await connect({ url: wire.url }, { cache })
    expect(await connection.tools()).toHaveLength(5)
  }
  expect(wire.count('tools/list')).toBe(3)
})

test('a server that floods the client causes at most a hundred warnings', async () => {
  const warnings: string[] = []
  await using connection = await connect(server('odd.mjs', 'unasked'), { onWarning: (warning) => void warnings.push(warning) })
  expect((await connection.call('go')).content).toEqual([{ type: 'text', text: 'gone' }])
  await until(() => warnings.length >= 101, 'the warnings')
  expect(warnings).toHaveLength(101)
  expect(warnings.at(-1)).toContain('Further warnings')
})
