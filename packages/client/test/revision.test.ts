import { randomUUID } from 'node:crypto'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { expect, test } from 'vitest'
import { connect } from '../src/connect.ts'
import type { ConnectionEvent } from '../src/tools/announcements.ts'
import { tap } from './counting-proxy.ts'
import { failure } from './failing.ts'
import { until } from './processes.ts'
import { changeable, type Served, serveHttp, serveToolbox } from './servers.ts'

/** Server built on the first SDK, with sessions; it rejects requests without a known one with 400. */
async function serveSessions(): Promise<Served & { add(name: string): void }> {
  const sessions = new Map<string, { transport: StreamableHTTPServerTransport; mcp: McpServer }>()
  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const mcp = new McpServer({ name: 'sessions', version: '0.9.0' })
    mcp.registerTool('tool_0', { description: 'Does tool_0' }, () => ({ content: [{ type: 'text', text: 'in a session' }] }))
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, { transport, mcp }),
    })
    await mcp.connect(transport)
    return transport
  }
  const http = await serveHttp((request, response) => {
    void (async () => {
      const known = sessions.get(String(request.headers['mcp-session-id']))
      if (known !== undefined) return known.transport.handleRequest(request, response)
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      const text = Buffer.concat(parts).toString()
      if (text.includes('"initialize"')) return (await open()).handleRequest(request, response, JSON.parse(text))
      const error = { code: -32_000, message: 'Bad Request: No valid session ID provided' }
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', error, id: null }))
    })()
  })
  return {
    ...http,
    add(name) {
      for (const { mcp } of sessions.values()) mcp.registerTool(name, { description: 'More' }, () => ({ content: [] }))
    },
  }
}

test('a server that returns with another protocol revision is used in that revision, and still followed', async () => {
  const { toolbox, put } = changeable(1)
  await using stateless = await serveToolbox(toolbox)
  await using sessions = await serveSessions()
  await using wire = await tap(stateless.port)
  const warnings: string[] = []
  await using connection = await connect({ url: wire.url }, { onWarning: (warning) => warnings.push(warning) })
  const events: ConnectionEvent[] = []
  await connection.watch((event) => events.push(event))
  const count = (): number => events.filter((event) => event === 'changed').length
  const servers = [
    { era: 'session', port: sessions.port, change: (name: string) => sessions.add(name) },
    { era: 'stateless', port: stateless.port, change: (name: string) => put(name) },
  ] as const
  expect(connection.era).toBe('stateless')
  for (const round of [1, 2])
    for (const { era, port, change } of servers) {
      wire.leadTo(port)
      wire.cut()
      await until(() => wire.open === 0, 'the end of all connections')
      await until(() => connection.ping().then(() => connection.era === era), `the ${era} era`)
      expect((await connection.tools()).map(({ name }) => name)).toContain('tool_0')
      const before = count()
      // Notifications arrive only when their stream is open.
      await until(() => {
        change(`more_${round}_${Math.random()}`.replace('.', ''))
        return count() > before
      }, `a change in the ${era} era`)
    }
  expect(warnings.filter((warning) => warning.includes('changed its protocol revision'))).toHaveLength(4)
  expect(warnings.filter((warning) => warning.includes('does not announce'))).toEqual([])
})

test('a call that the server refused because of its revision is sent again, once', async () => {
  const { toolbox } = changeable(1)
  await using stateless = await serveToolbox(toolbox)
  await using sessions = await serveSessions()
  await using wire = await tap(stateless.port)
  await using connection = await connect({ url: wire.url })
  await connection.call('tool_0')
  wire.leadTo(sessions.port)
  wire.cut()
  await until(() => wire.open === 0, 'the end of all connections')
  const calls = [1, 2, 3].map(() => connection.call('tool_0', {}, { validate: false, unlisted: true }))
  for (const { content } of await Promise.all(calls)) expect(content).toEqual([{ type: 'text', text: 'in a session' }])
  // One before, and three refused.
  expect(wire.count('tools/call')).toBe(1 + 3 + 3)
  expect(wire.count('initialize')).toBe(1)
})

test('a selected revision is not replaced by another one', async () => {
  const { toolbox } = changeable(1)
  await using stateless = await serveToolbox(toolbox)
  await using sessions = await serveSessions()
  await using wire = await tap(stateless.port)
  await using connection = await connect({ url: wire.url }, { protocol: '2026-07-28' })
  wire.leadTo(sessions.port)
  wire.cut()
  await until(() => wire.open === 0, 'the end of all connections')
  expect(await failure(connection.ping())).toMatchObject({ reason: 'protocol' })
  expect(connection.era).toBe('stateless')
})

test('an error of the server is not mistaken for another revision, and a busy server is not probed repeatedly', async () => {
  const asked: string[] = []
  await using http = await serveHttp((request, response) => {
    void (async () => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      const { id, method, params } = JSON.parse(Buffer.concat(parts).toString()) as {
        id?: number
        method: string
        params: { protocolVersion?: string }
      }
      asked.push(method)
      const capabilities = { tools: {} }
      const results: Record<string, object> = {
        initialize: { protocolVersion: params?.protocolVersion, capabilities, serverInfo: { name: 'odd', version: '1' } },
        ping: {},
      }
      const result = results[method]
      const error = { code: -32_000, message: 'The database is down' }
      if (id === undefined) response.writeHead(202).end()
      else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }))
    })().catch(() => response.writeHead(405).end())
  })
  await using connection = await connect({ url: http.url })
  for (let time = 0; time < 5; time++)
    expect(await failure(connection.call('odd', {}, { validate: false, unlisted: true }))).toMatchObject({
      details: { code: -32_000 },
    })
  expect(asked.filter((method) => method === 'ping')).toHaveLength(1)
  expect(asked.filter((method) => method === 'initialize')).toHaveLength(1)
  expect(asked.filter((method) => method === 'tools/call')).toHaveLength(5)
})
