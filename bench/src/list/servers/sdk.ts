// Plain SDK servers: sessions under /session, 2026-07-28 under /stateless, so that neither has to detect the era.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type NodeIncomingMessageLike, NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { lowLevelServer, mcpServer } from '../sdk.ts'
import { toolsOf } from '../tools.ts'
import { serveAsChild } from './child.ts'

const [kind, count] = process.argv.slice(2)
const tools = toolsOf(Number(count))
const make = kind === 'mcp' ? () => mcpServer(tools) : lowLevelServer(tools)
const sessions = new Map<string, NodeStreamableHTTPServerTransport>()
const stateless = toNodeHandler(createMcpHandler(make, { legacy: 'reject' }))

async function inSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const known = sessions.get(String(request.headers['mcp-session-id']))
  await (known ?? (await begun())).handleRequest(request, response)
}

async function begun(): Promise<NodeStreamableHTTPServerTransport> {
  const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    // Faster than the default event streams.
    enableJsonResponse: true,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  })
  await make().connect(transport)
  return transport
}

serveAsChild(
  createServer((request, response) => {
    void (request.url === '/stateless' ? stateless(request as NodeIncomingMessageLike, response) : inSession(request, response))
  }),
)
