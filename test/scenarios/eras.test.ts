import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { McpServer } from '@modelcontextprotocol/server'
import { defineToolbox, listen } from '@unfold-mcp/server'
import { type TestTransport, testServer } from '@unfold-mcp/server/testing'
import { expect } from 'vitest'
import { z } from 'zod'
import { automationHub } from '../fixtures/automation-hub.ts'
import { sdkEndpoint } from '../fixtures/sdk-server.ts'
import { textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'
import { wireTo } from '../wire.ts'

const info = { name: 'hub', version: '1.0.0' }
const activators = ['activate_file_ops', 'activate_network', 'activate_database', 'deactivate']
const everyTool = ['read_file', 'write_file', 'fetch_url', 'query', 'menu']

const point = z.object({ x: z.number(), y: z.number().default(0), label: z.string().optional().describe('What to call it') })
const sum = z.object({ total: z.number() })
const picture = { type: 'image', data: 'aGk=', mimeType: 'image/png' } as const
const failed = { content: [{ type: 'text' as const, text: 'no' }], isError: true }

const plainToolbox = () =>
  defineToolbox(info)
    .tool('ping', {}, () => 'pong')
    .tool(
      'greet',
      { title: 'Greet', description: 'Say hello', inputSchema: z.object({ name: z.string() }) },
      ({ name }) => `Hello, ${name}`,
    )
    .tool('add', { description: 'Add', inputSchema: point, outputSchema: sum, readOnly: true, idempotent: true }, ({ x, y }) => ({
      total: x + y,
    }))
    .tool('draw', { description: 'Draw', annotations: { title: 'Artist' }, _meta: { colour: 'red' } }, () => [picture])
    .tool('refuse', { destructive: true }, () => failed)

const plainSdkServer = () => {
  const server = new McpServer(info)
  server.registerTool('ping', {}, () => ({ content: [{ type: 'text', text: 'pong' }] }))
  server.registerTool(
    'greet',
    { title: 'Greet', description: 'Say hello', inputSchema: z.object({ name: z.string() }) },
    ({ name }) => ({ content: [{ type: 'text', text: `Hello, ${name}` }] }),
  )
  server.registerTool(
    'add',
    { description: 'Add', inputSchema: point, outputSchema: sum, annotations: { readOnlyHint: true, idempotentHint: true } },
    ({ x, y }) => ({ content: [{ type: 'text', text: JSON.stringify({ total: x + y }) }], structuredContent: { total: x + y } }),
  )
  server.registerTool('draw', { description: 'Draw', annotations: { title: 'Artist' }, _meta: { colour: 'red' } }, () => ({
    content: [picture],
  }))
  server.registerTool('refuse', { annotations: { destructiveHint: true } }, () => failed)
  return server
}

verifies('A21', async ({ wire, testTransport }) => {
  const ours = await wire(plainToolbox())
  await using theirs = await wireTo(sdkEndpoint(plainSdkServer, testTransport.era), testTransport)
  const [list, reference] = [await ours.ask('tools/list'), await theirs.ask('tools/list')]
  const bytes = JSON.stringify(reference.result.tools)
  expect(reference.text).toContain(bytes)
  expect(list.text).toContain(`"tools":${bytes}`)
  const calls = { ping: {}, greet: { name: 'Ann' }, add: { x: 1, y: 2 }, draw: {}, refuse: {} }
  for (const [name, args] of Object.entries(calls)) {
    const params = { name, arguments: args }
    expect((await ours.ask('tools/call', params)).text).toBe((await theirs.ask('tools/call', params)).text)
  }
})

verifies('G01', automationHub, async ({ connect, served, written, testTransport }) => {
  const other: TestTransport = {
    transport: testTransport.transport,
    era: testTransport.era === 'session' ? 'stateless' : 'session',
  }
  await using elsewhere = await testServer(served, other)
  const clients = { [testTransport.era]: await connect(served), [other.era]: await elsewhere.connect() }
  const { session, stateless } = clients
  expect(await session?.toolNames()).toEqual([...activators, 'menu'])
  expect(await stateless?.toolNames()).toEqual([...written, ...everyTool])
  await session?.call('activate_network')
  await session?.waitForListChanges(1)
  await stateless?.settle()
  expect(await session?.toolNames()).toEqual([...activators, 'fetch_url', 'menu'])
  expect(await stateless?.toolNames()).toEqual([...written, ...everyTool])
  expect(stateless?.listChanges).toBe(0)
})

verifies('G02', automationHub, async ({ served, written }) => {
  await using server = await listen(served, { port: 0 })
  const lists: Record<string, readonly string[]> = {}
  for (const mode of ['legacy', 'auto'] as const) {
    const client = new Client({ name: 'both', version: '1.0.0' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
    lists[client.getProtocolEra() ?? ''] = (await client.listTools()).tools.map(({ name }) => name)
    await client.close()
  }
  expect(lists).toEqual({ legacy: [...activators, 'menu'], modern: [...written, ...everyTool] })
})

verifies('G03', automationHub, async ({ wire, served, toolbox }) => {
  toolbox.tool('fail', {}, () => {
    throw new Error('on purpose')
  })
  const client = await wire(served)
  const before = (await client.ask('tools/list')).text
  const { tools } = (await client.ask('tools/list')).result as { tools: { name: string }[] }
  const names = [...tools.map(({ name }) => name), ...activators, 'unknown', 'fail']
  for (const name of names) {
    for (const args of [{}, { path: 'a.txt' }, { group: 'file_ops' }, { path: 1 }]) {
      await client.ask('tools/call', { name, arguments: args })
      expect((await client.ask('tools/list')).text).toBe(before)
    }
  }
})

verifies('G04', async ({ wire }) => {
  const toolbox = defineToolbox({ ...info, permit: (principal, { name }) => name !== 'reset' || principal?.id === 'ann' })
    .tool('ping', {}, () => 'pong')
    .tool('reset', {}, () => 'reset')
  const [ann, bob] = [{ id: 'ann' }, { id: 'bob' }]
  const first = await wire(toolbox, { principal: ann })
  await first.ask('tools/call', { name: 'reset' })
  const list = await first.ask('tools/list')
  const otherName = { _meta: { 'io.modelcontextprotocol/clientInfo': { name: 'other', version: '9.0.0' } } }
  expect((await first.ask('tools/list', otherName)).text).toBe(list.text)
  const second = await wire(toolbox, { principal: ann })
  expect((await second.ask('tools/list')).text).toBe(list.text)
  const third = await wire(toolbox, { principal: bob })
  const shown = (await third.ask('tools/list')).result.tools as { name: string }[]
  expect(shown.map(({ name }) => name)).toEqual(['ping'])
})

verifies('G05', async ({ wire }) => {
  const fixed = await wire(defineToolbox(info).tool('ping', {}, () => 'pong'))
  const { ttlMs, cacheScope } = (await fixed.ask('tools/list')).result
  expect(ttlMs).toBeGreaterThan(0)
  expect(cacheScope).toBe('public')
  const changing = await wire(defineToolbox(info).tool('ping', { when: () => true }, () => 'pong'))
  expect((await changing.ask('tools/list')).result).toMatchObject({ ttlMs: 0, cacheScope: 'public' })
  const chosen = await wire(
    defineToolbox({ ...info, protocol: { ttlMs: 5_000 } }).tool('ping', { when: () => true }, () => 'pong'),
  )
  expect((await chosen.ask('tools/list')).result).toMatchObject({ ttlMs: 5_000, cacheScope: 'public' })
})

verifies('G06', async ({ wire }) => {
  const permitting = defineToolbox({ ...info, permit: () => true }).tool('ping', {}, () => 'pong')
  const remembering = defineToolbox({ ...info, remember: 'principal', groups: { more: { description: 'More' } } })
  remembering.tool('ping', { group: 'more' }, () => 'pong')
  for (const toolbox of [permitting, remembering]) {
    const client = await wire(toolbox, { principal: { id: 'ann' } })
    expect((await client.ask('tools/list')).result).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
    expect(client.greeting.result).toMatchObject({ cacheScope: 'private' })
  }
})

verifies('G09', automationHub, async ({ connect, served, written }) => {
  const client = await connect(served)
  expect(await client.toolNames()).toEqual([...written, ...everyTool])
  for (const name of everyTool) expect((await client.call(name, { path: 'a.txt' })).isError).not.toBe(true)
  expect(textOf(await client.call('read_file', { path: 'a.txt' }))).toBe('contents of a.txt')
})
