// Stdio server built on the first SDK.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

process.stderr.write(`started ${process.pid}\n`)
const mcp = new McpServer({ name: 'one', version: '1.0.0' })
const text = (value) => ({ content: [{ type: 'text', text: value }] })
mcp.registerTool('echo', { description: 'Echoes the message', inputSchema: { message: z.string() } }, ({ message }) =>
  text(message),
)
mcp.registerTool('add', { description: 'Adds a tool', inputSchema: { name: z.string() } }, ({ name }) => {
  mcp.registerTool(name, { description: 'A new one' }, () => text(name))
  return text('added')
})
mcp.registerTool('ask', { description: 'Asks the person' }, async () => {
  const answer = await mcp.server.elicitInput({
    message: 'Who are you?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  })
  return text(answer.action === 'accept' ? `Hello ${String(answer.content.name)}` : answer.action)
})
let isVisited = false
mcp.registerTool('visit', { description: 'Wants an address to be visited first' }, () => {
  if (isVisited) return text('thank you')
  isVisited = true
  throw new UrlElicitationRequiredError([
    { mode: 'url', message: 'Sign in', url: 'https://example.com/sign-in', elicitationId: '1' },
  ])
})
await mcp.connect(new StdioServerTransport())
