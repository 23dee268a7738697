//#region before
import { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

export function office(): McpServer {
  const mcp = new McpServer({ name: 'office', version: '3.0.0' })
  const file = z.object({ path: z.string() })
  mcp.registerTool('read_file', { description: 'Read a file', inputSchema: file }, async ({ path }) => text(`Read ${path}.`))
  mcp.registerTool('write_file', { description: 'Write a file', inputSchema: file }, async ({ path }) => text(`Wrote ${path}.`))
  mcp.registerTool('send_mail', { description: 'Send a mail' }, async () => text('Sent.'))
  mcp.registerTool('help', { description: 'What this server can do' }, async () => text('Files and mail.'))
  return mcp
}

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
//#endregion
