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

/** A 2026-07-28 server with resources that refuses to tell of some of them, and whose streams can be cut. */
async function documents(isRefused: (uris: readonly string[]) => boolean) {
  const asked: (readonly string[])[] = []
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
    asked.push(uris)
    if (!isRefused(uris)) return sdk.fetch(request)
    return Response.json({ jsonrpc: '2.0', id: body.id, error: { code: -32_602, message: 'not for you' } }, { status: 400 })
  })
  return {
    url: http.url,
    asked,
    updated: (uri: string) => sdk.notify.resourceUpdated(uri),
    async [Symbol.asyncDispose]() {
      await sdk.close()
      await http[Symbol.asyncDispose]()
    },
  }
}

test('a resource that is not told of is refused to whoever asks, as often as it is asked, and those that are told of stay so', async () => {
  await using server = await documents((uris) => uris.includes('memo://b'))
  const heard: string[] = []
  await using connection = await connect(
    { url: server.url },
    { protocol: '2026-07-28', onDocumentChange: (notice) => notice.kind === 'resource' && heard.push(notice.uri) },
  )
  await connection.subscribe('memo://a')
  const both = [connection.subscribe('memo://b'), connection.subscribe('memo://b')]
  for (const each of both) expect(await failure(each)).toMatchObject({ reason: 'protocol' })
  server.updated('memo://a')
  await until(() => heard.length === 1, 'the first is still heard of')
  await connection.subscribe('memo://c')
  await connection.unsubscribe('memo://a')
  server.updated('memo://a')
  server.updated('memo://c')
  await until(() => heard.includes('memo://c'), 'the third is heard of')
  expect(heard).toEqual(['memo://a', 'memo://c'])
  expect(server.asked).toEqual([
    ['memo://a'],
    ['memo://a', 'memo://b'],
    ['memo://a', 'memo://b'],
    ['memo://a', 'memo://c'],
    ['memo://c'],
  ])
})

test('a session that the server forgot is told of all resources again, and who asks for one that was refused then asks anew', async () => {
  const asked: string[] = []
  let refused = ''
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const begin = async (): Promise<StreamableHTTPServerTransport> => {
    const mcp = new McpServerOne({ name: 'old', version: '1.0.0' }, { capabilities: { resources: { subscribe: true } } })
    mcp.server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
      asked.push(uri)
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
  expect(asked).toEqual(['memo://a', 'memo://b'])
  refused = 'memo://b'
  sessions.clear()
  await connection.ping()
  await until(() => asked.length === 4, 'the next session is told')
  expect(asked.slice(2).sort()).toEqual(['memo://a', 'memo://b'])
  expect(await failure(connection.subscribe('memo://b'))).toMatchObject({ reason: 'protocol' })
  refused = ''
  for (const uri of ['memo://b', 'memo://a']) await connection.subscribe(uri)
  expect(asked.slice(4)).toEqual(['memo://b', 'memo://b'])
})
