// Stdio server built on the second SDK. It logs every message to stderr.
import { PassThrough } from 'node:stream'
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'

const input = new PassThrough()
let line = ''
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  line += chunk
  const lines = line.split('\n')
  line = lines.pop()
  for (const each of lines) process.stderr.write(`wire: ${JSON.parse(each).method ?? 'answer'}\n`)
  input.write(chunk)
})
process.stdin.on('end', () => process.exit(0))

const object = (properties = {}, required = []) => fromJsonSchema({ type: 'object', properties, required })

serveStdio(
  ({ era }) => {
    const mcp = new McpServer({ name: 'two', version: '2.0.0' }, { capabilities: { tools: { listChanged: true }, logging: {} } })
    const text = (value) => ({ content: [{ type: 'text', text: value }] })
    mcp.registerTool(
      'echo',
      { description: 'Echoes the message', inputSchema: object({ message: { type: 'string' } }, ['message']) },
      ({ message }) => text(message),
    )
    mcp.registerTool('era', { description: 'Which era it is' }, () => text(era))
    mcp.registerTool(
      'add',
      { description: 'Adds a tool', inputSchema: object({ name: { type: 'string' } }, ['name']) },
      ({ name }) => {
        mcp.registerTool(name, { description: 'A new one' }, () => text(name))
        return text('added')
      },
    )
    mcp.registerTool(
      'slowly',
      { description: 'Reports progress', inputSchema: object({ steps: { type: 'integer' }, everyMs: { type: 'number' } }) },
      async ({ steps = 3, everyMs = 10 }, ctx) => {
        const token = ctx.mcpReq._meta?.progressToken
        for (let step = 1; step <= steps; step++) {
          await new Promise((resolve) => setTimeout(resolve, everyMs))
          if (ctx.mcpReq.signal.aborted) process.stderr.write('aborted\n')
          await ctx.mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken: token, progress: step, total: steps },
          })
        }
        return text('done')
      },
    )
    mcp.registerTool('wait', { description: 'Never answers' }, (ctx) => {
      process.stderr.write('waiting\n')
      return new Promise((_, reject) => {
        ctx.mcpReq.signal.addEventListener('abort', () => {
          process.stderr.write('aborted\n')
          reject(new Error('aborted'))
        })
      })
    })
    mcp.registerTool('log', { description: 'Writes to the log' }, async (ctx) => {
      await ctx.mcpReq.log?.('warning', 'be careful')
      return text('logged')
    })
    mcp.registerTool('die', { description: 'Ends the process' }, () => {
      process.stderr.write('I must go now\n')
      process.exit(3)
    })
    return mcp
  },
  { transport: new StdioServerTransport(input, process.stdout) },
)
