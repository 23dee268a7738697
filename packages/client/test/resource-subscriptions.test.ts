import { randomUUID } from 'node:crypto'
import { McpServer as McpServerOne } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { SubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { connect } from '../src/connect.ts'
import { failure } from './failing.ts'
import { until } from './processes.ts'
import { serveFetch, serveHttp } from './servers.ts'

/** 2026-07-28 server that refuses some resource subscriptions, and whose streams can be cut. */
async function documents(isRefused: (uris: readonly string[]) => boolean) {
  const requested: (readonly string[])[] = []
  const sdk = createMcpHandler(() => {
    const resources = { subscribe: true, listChanged: true }
    const mcp = new McpServer({ name: 'documents', version: '1.0.0' }, { capabilities: { resources } })
    for (const name of ['a', 'b', 'c']) mcp.registerResource(name, `memo://${name}`, {}, async () => ({ contents: [] }))
    return mcp
  })
  const http = await serveFetch(async (request) => {
    if (request.headers.get('mcp-method') !== 'subscriptions/listen') return sdk.fetch(request)
    const body: { id: number; params: { notifications: { resourceSubscriptions: string[] } } } = await request.clone().json()
    const uris = body.params.notifications.resourceSubscriptions
    requested.push(uris)
    if (!isRefused(uris)) return sdk.fetch(request)
    return Response.json({ jsonrpc: '2.0', id: body.id, error: { code: -32_602, message: 'not for you' } }, { status: 400 })
  })
  return {
    url: http.url,
    requested,
    updated: (uri: string) => sdk.notify.resourceUpdated(uri),
    async [Symbol.asyncDispose]() {
      await sdk.close()
      await http[Symbol.asyncDispose]()
    },
  }
}

test('a refused subscription fails each time, and the accepted ones stay active', async () => {
  await using server = await documents((uris) => uris.includes('memo://b'))
  const received: string[] = []
  await using connection = await connect(
    { url: server.url },
    { protocol: '2026-07-28', onDocumentChange: (notice) => notice.kind === 'resource' && received.push(notice.uri) },
  )
  await connection.subscribe('memo://a')
  const both = [connection.subscribe('memo://b'), connection.subscribe('memo://b')]
  for (const each of both) expect(await failure(each)).toMatchObject({ reason: 'protocol' })
  server.updated('memo://a')
  await until(() => received.length === 1, 'the first still gets notifications')
  await connection.subscribe('memo://c')
  await connection.unsubscribe('memo://a')
  server.updated('memo://a')
  server.updated('memo://c')
  await until(() => received.includes('memo://c'), 'an update of the third resource')
  expect(received).toEqual(['memo://a', 'memo://c'])
  expect(server.requested).toEqual([
    ['memo://a'],
    ['memo://a', 'memo://b'],
    ['memo://a', 'memo://b'],
    ['memo://a', 'memo://c'],
    ['memo://c'],
  ])
})

test('a new session subscribes to all resources again, and one refused then is requested again', async () => {
  const requested: string[] = []
  let refused = ''
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const begin = async (): Promise<StreamableHTTPServerTransport> => {
    const mcp = new McpServerOne({ name: 'old', version: '1.0.0' }, { capabilities: { resources: { subscribe: true } } })
    mcp.server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
      requested.push(uri)
      if (uri === refused) throw new Error('not now')
      return {}
    })
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await mcp.connect(transport)
    return transport
  }
  await using http = await serveHttp((request, response) => {
    void (async () => {
      const id = request.headers['mcp-session-id']
      const transport = id === undefined ? await begin() : sessions.get(String(id))
      if (transport === undefined) response.writeHead(404).end()
      else await transport.handleRequest(request, response)
    })()
  })
  await using connection = await connect({ url: http.url }, { protocol: 'session' })
  for (const uri of ['memo://a', 'memo://b', 'memo://a']) await connection.subscribe(uri)
  expect(requested).toEqual(['memo://a', 'memo://b'])
  refused = 'memo://b'
  sessions.clear()
  await connection.ping()
  await until(() => requested.length === 4, 'the subscriptions of the new session')
  expect(requested.slice(2).sort()).toEqual(['memo://a', 'memo://b'])
  expect(await failure(connection.subscribe('memo://b'))).toMatchObject({ reason: 'protocol' })
  refused = ''
  for (const uri of ['memo://b', 'memo://a']) await connection.subscribe(uri)
  expect(requested.slice(4)).toEqual(['memo://b', 'memo://b'])
})
