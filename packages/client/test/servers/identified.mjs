// Server built on the second SDK with its own identity implementation, over stdio; with `lying`, a wrong identity.
import { createHash } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { Server } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { identityOf } from '@unfold-mcp/core'

const isLying = process.argv[2] === 'lying'
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

const tools = ['a', 'b', 'c'].map((name) => ({ name, description: `Does ${name}`, inputSchema: { type: 'object' } }))
const sha256 = (data) => createHash('sha256').update(data).digest()
const identity = isLying ? '00000000-0000-8000-8000-000000000000' : identityOf(tools, sha256)
const anything = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } }

serveStdio(
  () => {
    const capabilities = { tools: {}, extensions: { 'io.github.unfold-mcp/discovery': {} } }
    const server = new Server({ name: 'identified', version: '1.0.0' }, { capabilities })
    server.setRequestHandler('tools/list', () => ({ tools, _meta: { 'io.github.unfold-mcp/identity': identity } }))
    server.setRequestHandler('server/identity', { params: anything }, () => ({
      server_id: identity,
      tools_count: tools.length,
      protocol_version: '1.0',
    }))
    return server
  },
  { transport: new StdioServerTransport(input, process.stdout) },
)
