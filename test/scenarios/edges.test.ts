import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createHandler, defineToolbox, listen, toNodeHandler } from '@unfold-mcp/server'
import { testServer } from '@unfold-mcp/server/testing'
import { expect } from 'vitest'
import { automationHub } from '../fixtures/automation-hub.ts'
import { textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }
const toolbox = () => defineToolbox(info).tool('ping', {}, () => 'pong')

const routed = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, path: { type: 'string' } },
  required: ['region'],
} as const

verifies('R12-1', async ({ wire }) => {
  const served = defineToolbox({ ...info, permit: (_, { name }) => name !== 'secret' })
    .tool('deploy', { inputSchema: routed, aliases: ['ship'] }, ({ region }) => `deployed to ${region}`)
    .tool('secret', { inputSchema: routed }, () => 'secret')
  const client = await wire(served)
  const call = (name: string, headers: Record<string, string>) =>
    client.ask('tools/call', { name, arguments: { region: 'eu' } }, headers)
  for (const name of ['deploy', 'ship']) {
    expect(textOf((await call(name, { 'Mcp-Param-Region': 'eu' })).result as never)).toBe('deployed to eu')
    expect(await call(name, { 'Mcp-Param-Region': 'us' })).toMatchObject({ status: 400, error: { code: -32020 } })
    expect(await call(name, {})).toMatchObject({ status: 400, error: { code: -32020 } })
  }
  expect((await call('secret', {})).error?.data).toMatchObject({ reason: 'unknown_tool' })
})

verifies('R14-1', automationHub, async ({ served }) => {
  for (const era of ['session', 'stateless'] as const) {
    await using server = await testServer(served, { transport: 'memory', era })
    const client = await server.connect()
    if (era === 'session') {
      await client.call('activate_network')
      await client.waitForListChanges(1)
    }
    expect(await client.toolNames()).toContain('fetch_url')
    expect(textOf(await client.call('fetch_url'))).toBe('fetched')
  }
  await using handler = createHandler(served)
  const response = await handler.fetch(new Request('http://localhost/mcp', { method: 'POST', body: '{}' }))
  expect(response.status).toBe(415)
})

/** Sends a request with this Host header, which `fetch` does not allow. */
async function askedAs(host: string, url: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const headers = { host, 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const [response] = (await once(request(url, { method: 'POST', headers }).end('{}'), 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, body: await json(response) }
}

verifies('R14-4', async ({ wire }) => {
  await using server = await listen(toolbox(), { port: 0 })
  const refused = await askedAs('evil.example', server.url)
  expect(refused).toMatchObject({ status: 403, body: { error: { data: { reason: 'forbidden_host' } } } })
  expect((await askedAs('localhost', server.url)).status).toBe(400)
  const renamed = await wire(toolbox(), { allowedHosts: ['tools.example'] })
  expect(renamed.greeting).toMatchObject({ status: 403, error: { data: { reason: 'forbidden_host' } } })
})

verifies('R14-5', async ({ wire }) => {
  const client = await wire(toolbox(), { allowedOrigins: ['app.example'] })
  const asked = (origin: string) => client.ask('tools/list', {}, { origin })
  expect(await asked('https://evil.example')).toMatchObject({ status: 403, error: { data: { reason: 'forbidden_origin' } } })
  expect((await asked('https://app.example')).status).toBe(200)
  const local = await wire(toolbox())
  expect((await local.ask('tools/list', {}, { origin: 'http://localhost:3000' })).status).toBe(200)
  expect((await local.ask('tools/list', {}, { origin: 'null' })).status).toBe(403)
})

verifies('R14-6', async ({ wire }) => {
  const client = await wire(toolbox(), { maxBodyBytes: 2_000 })
  const refused = await client.ask('tools/call', { name: 'ping', arguments: { text: 'x'.repeat(3_000) } })
  expect(refused).toMatchObject({ status: 413, error: { data: { reason: 'body_too_large', limit: 2_000 } } })
  expect((await client.ask('tools/call', { name: 'ping' })).status).toBe(200)
})

verifies('R14-7', async ({ wire }) => {
  const client = await wire(toolbox())
  const refused = await client.ask('tools/call', { name: 'ping', arguments: { many: Array.from({ length: 100_001 }, () => 0) } })
  expect(refused.error).toMatchObject({ code: -32602, data: { reason: 'arguments_too_large', what: 'elements' } })
  expect(textOf((await client.ask('tools/call', { name: 'ping' })).result as never)).toBe('pong')
})

verifies('R14-8', async ({ wire }) => {
  const client = await wire(toolbox())
  let deep: unknown = 'bottom'
  for (let level = 0; level < 500; level++) deep = [deep]
  const refused = await client.ask('tools/call', { name: 'ping', arguments: { deep } })
  expect(refused.error).toMatchObject({ code: -32602, data: { reason: 'arguments_too_large', what: 'depth' } })
  expect(textOf((await client.ask('tools/call', { name: 'ping' })).result as never)).toBe('pong')
})

verifies('R14-9', async ({ serve }) => {
  const server = await serve(toolbox(), { sessions: { max: 2 } })
  const [first, second] = [await server.connect(), await server.connect()]
  await expect(server.connect()).rejects.toThrow('session_limit')
  for (const client of [first, second]) expect(await client.toolNames()).toEqual(['ping'])
})

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1.0.0' } },
}

verifies('R14-10', async () => {
  let now = 0
  await using server = await listen(toolbox(), { port: 0, now: () => now, sessions: { idleMs: 1_000 } })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const open = async () => {
    const response = await fetch(server.url, { method: 'POST', headers, body: JSON.stringify(initialize) })
    await response.text()
    return response.headers.get('mcp-session-id') ?? ''
  }
  const list = (session: string) =>
    fetch(server.url, {
      method: 'POST',
      headers: { ...headers, 'mcp-session-id': session },
      body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }),
    })
  const [idle, used, listening] = [await open(), await open(), await open()]
  const hangUp = new AbortController()
  await fetch(server.url, { headers: { accept: 'text/event-stream', 'mcp-session-id': listening }, signal: hangUp.signal })
  now = 900
  await list(used)
  now = 1_500
  await server.handler.sweep()
  expect(server.handler.sessionCount).toBe(2)
  expect([(await list(idle)).status, (await list(used)).status, (await list(listening)).status]).toEqual([404, 200, 200])
  hangUp.abort()
})

verifies('R14-11', automationHub, async ({ served }) => {
  await using handler = createHandler(served)
  const mounted = toNodeHandler(handler)
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === '/tools') mounted(incoming, outgoing)
    else outgoing.end('something else')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const mode of ['legacy', 'auto'] as const) {
    const client = new Client({ name: 'mounted', version: '1.0.0' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${address}/tools`)))
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('menu')
    await client.close()
  }
  expect(await (await fetch(address)).text()).toBe('something else')
  server.closeAllConnections()
  server.close()
})
