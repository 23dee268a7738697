// The measured tools on plain SDK servers.
import { McpServer, Server } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { answerText, type SampleTool } from './tools.ts'

const info = { name: 'bench', version: '1.0.0' }

/** The SDK's high-level server, with tools registered as documented. */
export function mcpServer(tools: readonly SampleTool[]): McpServer {
  const server = new McpServer(info)
  for (const { name, description, input } of tools) {
    server.registerTool(name, { description, inputSchema: input }, ({ path }) => ({
      content: [{ type: 'text', text: answerText(String(path)) }],
    }))
  }
  return server
}

/** The SDK's low-level server with a prebuilt list: the fastest possible SDK server. */
export function lowLevelServer(tools: readonly SampleTool[]): () => Server {
  const inputs = new Map(tools.map(({ name, input }) => [name, input]))
  const listed = tools.map(({ name, description, input }) => ({
    name,
    description,
    inputSchema: z.toJSONSchema(input, { io: 'input' }) as { type: 'object' },
  }))
  return () => {
    const server = new Server(info, { capabilities: { tools: { listChanged: true } } })
    server.setRequestHandler('tools/list', () => ({ tools: listed }))
    server.setRequestHandler('tools/call', ({ params }) => {
      const { path } = inputs.get(params.name)?.parse(params.arguments) ?? {}
      return { content: [{ type: 'text', text: answerText(String(path)) }] }
    })
    return server
  }
}
