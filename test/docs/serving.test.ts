import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { serveAccounts } from '../../docs/examples/permissions.ts'
import * as inExpress from '../../docs/examples/serving-express.ts'
import * as inFastify from '../../docs/examples/serving-fastify.ts'
import * as inHono from '../../docs/examples/serving-hono.ts'
import { start } from '../../docs/examples/serving-listen.ts'
import worker from '../../docs/examples/serving-worker.ts'

const eras = ['legacy', { pin: '2026-07-28' }] as const

/** Checks that clients of both eras can list and call. */
async function works(url: string, fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>): Promise<void> {
  for (const mode of eras) {
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL(url), fetch === undefined ? {} : { fetch }))
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['now'])
    expect((await client.callTool({ name: 'now' })).isError).toBeUndefined()
    await client.close()
  }
}

test('Hono', async () => {
  await works('http://tools.example.com/mcp', async (url, init) => inHono.app.fetch(new Request(url, init)))
  await inHono.mcp.close()
})

test('a worker', async () => {
  await works('http://tools.example.com/mcp', (url, init) => worker.fetch(new Request(url, init)))
})

test('Express', async () => {
  const server = createServer(inExpress.app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await works(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  await inExpress.mcp.close()
  server.closeAllConnections()
  server.close()
})

test('Fastify', async () => {
  const address = await inFastify.app.listen({ port: 0, host: '127.0.0.1' })
  await works(`${address}/mcp`)
  await inFastify.mcp.close()
  inFastify.app.server.closeAllConnections()
  await inFastify.app.close()
})

test('listen, with limits', async () => {
  await using listening = await start()
  await works(listening.url)
  const large = await fetch(listening.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify('x'.repeat(300 * 1024)),
  })
  expect(large.status).toBe(413)
})

test('permissions: a token identifies the caller, and a request without one is rejected', async () => {
  await using listening = await serveAccounts(0)
  const names = async (token: string): Promise<string[]> => {
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    const headers = { authorization: `Bearer ${token}` }
    await client.connect(new StreamableHTTPClientTransport(new URL(listening.url), { requestInit: { headers } }))
    const { tools } = await client.listTools()
    await client.close()
    return tools.map((tool) => tool.name)
  }
  expect(await names('token-of-ada')).toEqual(['list_accounts', 'reset'])
  expect(await names('token-of-bob')).toEqual(['list_accounts'])
  await expect(names('unknown-token')).rejects.toThrow('HTTP 401')
})
