import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js'
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { McpServer, Server } from '@modelcontextprotocol/server'
import { adopt } from '@unfold-mcp/server'
import { adoptV1 } from '@unfold-mcp/server/adopt-v1'
import { expect } from 'vitest'
import { z } from 'zod'
import { sdkEndpoint } from '../fixtures/sdk-server.ts'
import { textOf } from '../replies.ts'
import { type Harness, verifies } from '../verifies.ts'
import { wireTo } from '../wire.ts'

const info = { name: 'workshop', version: '3.0.0' }
const path = z.object({ path: z.string() })
const textResult = (text: string) => ({ content: [{ type: 'text' as const, text }] })

const workshop = () => {
  const server = new McpServer(info)
  server.registerTool('read_file', { description: 'Read', inputSchema: path }, (input) => textResult(`contents of ${input.path}`))
  server.registerTool('write_file', { description: 'Write', inputSchema: path }, (input) => textResult(`wrote ${input.path}`))
  server.registerTool('status', { description: 'How it is' }, () => textResult('fine'))
  server.registerPrompt('review', {}, () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Review it' } }] }))
  server.registerResource('readme', 'docs://readme', {}, ({ href }) => ({ contents: [{ uri: href, text: 'Read me' }] }))
  return server
}

const tools = ['read_file', 'write_file', 'status'].map((name) => ({ name, inputSchema: { type: 'object' as const } }))
const answered = (name: string, args: unknown) =>
  textResult(name === 'status' ? 'fine' : `contents of ${(args as { path: string }).path}`)

const lowLevelWorkshop = () => {
  const server = new Server(info, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', ({ params }) => answered(params.name, params.arguments))
  return server
}

const workshopV1 = () => {
  const server = new McpServerV1(info)
  server.registerTool('read_file', { inputSchema: { path: z.string() } }, (input) => textResult(`contents of ${input.path}`))
  server.registerTool('write_file', { inputSchema: { path: z.string() } }, (input) => textResult(`wrote ${input.path}`))
  server.registerTool('status', {}, () => textResult('fine'))
  return server
}

const lowLevelWorkshopV1 = () => {
  const server = new ServerV1(info, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => answered(params.name, params.arguments))
  return server
}

const grouped = { groups: { files: { description: 'Files' } }, assign: { read_file: 'files', write_file: 'files' } } as const

/** Checks that an adopted server activates groups for session clients and lists everything for stateless clients. */
async function unfolds({ connect, testTransport }: Harness, served: object): Promise<void> {
  const client = await connect(served)
  if (testTransport.era === 'session') {
    expect(await client.toolNames()).toEqual(['activate_files', 'deactivate', 'status'])
    await expect(client.call('read_file', { path: 'a.txt' })).rejects.toThrow('not found')
    await client.call('activate_files')
    await client.waitForListChanges(1)
  }
  expect((await client.toolNames()).filter((name) => !name.includes('activate'))).toEqual(['read_file', 'write_file', 'status'])
  expect(textOf(await client.call('read_file', { path: 'a.txt' }))).toBe('contents of a.txt')
  expect(textOf(await client.call('status'))).toBe('fine')
}

verifies('R11-1', async (harness) => {
  await unfolds(harness, adopt(workshop, grouped))
  const ours = await harness.wire(adopt(workshop))
  await using theirs = await wireTo(sdkEndpoint(workshop, harness.testTransport.era), harness.testTransport)
  const list = await theirs.ask('tools/list')
  expect((await ours.ask('tools/list')).text).toContain(`"tools":${JSON.stringify(list.result.tools)}`)
  const params = { name: 'read_file', arguments: { path: 'a.txt' } }
  expect((await ours.ask('tools/call', params)).text).toBe((await theirs.ask('tools/call', params)).text)
})

verifies('R11-2', async (harness) => {
  await unfolds(harness, adopt(lowLevelWorkshop, grouped))
})

verifies('R11-3', async (harness) => {
  for (const make of [workshopV1, lowLevelWorkshopV1]) await unfolds(harness, adoptV1(make, grouped))
})

verifies('R11-4', async ({ connect }) => {
  const { client } = await connect(adopt(workshop, grouped))
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['review'])
  expect((await client.readResource({ uri: 'docs://readme' })).contents).toEqual([{ uri: 'docs://readme', text: 'Read me' }])
})
