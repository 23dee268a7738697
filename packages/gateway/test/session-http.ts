import { randomUUID } from 'node:crypto'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { type Served, serveHttp } from '../../client/test/servers.ts'

/** A server of the first SDK over Streamable HTTP, whose tool `ask_later` elicits once `go` was called. */
export async function serveSessions(): Promise<Served & { readonly waiting: number; go(): void }> {
  const transports = new Map<string, StreamableHTTPServerTransport>()
  const waiting: (() => void)[] = []
  const begin = async (): Promise<StreamableHTTPServerTransport> => {
    const mcp = new McpServer({ name: 'sessions', version: '1.0.0' }, { capabilities: { logging: {} } })
    mcp.registerTool('ask_later', { description: 'Asks the person when it is let go' }, async (extra) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data: 'asking' } })
      const params = { message: 'Who are you?', requestedSchema: { type: 'object' as const, properties: {} } }
      const answer = await extra.sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema)
      return { content: [{ type: 'text', text: `${answer.action} ${String(answer.content?.name)}` }] }
    })
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void transports.set(id, transport),
    })
    await mcp.connect(transport)
    return transport
  }
  const http = await serveHttp((request, response) => {
    const known = transports.get(String(request.headers['mcp-session-id']))
    void (async () => (known ?? (await begin())).handleRequest(request, response))()
  })
  return {
    ...http,
    get waiting() {
      return waiting.length
    },
    go() {
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}
