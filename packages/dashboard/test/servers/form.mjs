// A server whose tool takes every kind of argument, and tools that ask, report progress, and return a table, an image and markup.
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

const server = new McpServer({ name: 'form', version: '1.0.0' })
const text = (value) => ({ content: [{ type: 'text', text: value }] })
const everything = {
  type: 'object',
  properties: {
    title: { type: 'string', description: 'A short title' },
    count: { type: 'integer', minimum: 1, maximum: 10 },
    isUrgent: { type: 'boolean' },
    colour: { enum: ['red', 'green'] },
    tags: { type: 'array', items: { type: 'string' } },
    place: {
      type: 'object',
      properties: { city: { type: 'string' }, zip: { type: 'string' } },
      required: ['city'],
    },
    target: {
      anyOf: [
        { type: 'object', title: 'By name', properties: { name: { type: 'string' } }, required: ['name'] },
        { type: 'object', title: 'By id', properties: { id: { type: 'integer' } }, required: ['id'] },
      ],
    },
    attachment: { type: 'string', contentEncoding: 'base64' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    anything: {},
  },
  required: ['title'],
}
server.registerTool('echo', { description: 'Returns its arguments', inputSchema: fromJsonSchema(everything) }, (input) =>
  text(JSON.stringify(input)),
)
server.registerTool('table', { description: 'Lists rows' }, () =>
  text(
    JSON.stringify([
      { city: 'Bern', people: 134_794 },
      { city: '<img src=x onerror="document.title=\'attacked\'">', people: 2 },
    ]),
  ),
)
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
server.registerTool('picture', { description: 'Draws a pixel' }, () => ({
  content: [{ type: 'image', data: pixel, mimeType: 'image/png' }],
}))
server.registerTool('ask', { description: 'Asks for a name' }, async (ctx) => {
  const answer = await ctx.mcpReq.send({
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: 'Who are you?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string', title: 'Your name' } }, required: ['name'] },
    },
  })
  return text(`${answer.action} ${String(answer.content?.name ?? '')}`)
})
server.registerTool('wait', { description: 'Reports progress and never answers' }, async (ctx) => {
  const { signal, _meta } = ctx.mcpReq
  if (_meta?.progressToken !== undefined)
    await ctx.mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken: _meta.progressToken, progress: 1, total: 4, message: 'Step 1' },
    })
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
})
await server.connect(new StdioServerTransport())
