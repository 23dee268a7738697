// A server that returns its pid, elicits input, and waits until it is cancelled.
import { writeFileSync } from 'node:fs'
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

const text = (words) => ({ content: [{ type: 'text', text: words }] })
const server = new McpServer({ name: 'shared', version: '1.0.0' })
server.registerTool('pid', { description: 'The number of this process' }, () => text(String(process.pid)))
server.registerTool('ask', { description: 'Asks the person for a name' }, async (ctx) => {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  const params = { mode: 'form', message: 'Who are you?', requestedSchema }
  const { action, content } = await ctx.mcpReq.send({ method: 'elicitation/create', params })
  return text(`${action} ${String(content?.name)}`)
})
server.registerTool(
  'wait',
  {
    description: 'Waits until it is cancelled, and says so in a file',
    inputSchema: fromJsonSchema({ type: 'object', properties: { file: { type: 'string' } }, required: ['file'] }),
  },
  ({ file }, ctx) =>
    new Promise((resolve) => {
      writeFileSync(file, 'waiting')
      ctx.mcpReq.signal.addEventListener('abort', () => {
        writeFileSync(file, 'cancelled')
        resolve(text('cancelled'))
      })
    }),
)
await server.connect(new StdioServerTransport())
