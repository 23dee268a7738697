// Stdio server of the library. It logs every method to stderr.
import { PassThrough } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { defineToolbox, serveStdio } from '@unfold-mcp/server'
import { z } from 'zod'

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

const toolbox = defineToolbox({ name: 'library', version: '1.0.0', groups: { files: { description: 'Files' } } })
  .tool(
    'add',
    { description: 'Adds', inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: z.object({ sum: z.number() }) },
    ({ a, b }) => ({
      sum: a + b,
    }),
  )
  .tool('names', { description: 'A list as output', outputSchema: z.array(z.string()) }, () => ['a', 'b'])
  .tool('read_file', { group: 'files', inputSchema: z.object({ path: z.string() }) }, ({ path }) => path)

if (process.argv[2] === 'late') await new Promise((resolve) => setTimeout(resolve, 2_500))
serveStdio(toolbox, { transport: new StdioServerTransport(input, process.stdout) })
