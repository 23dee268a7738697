// A server with 1,000 tools: over HTTP with `--http <port>`, otherwise over standard input and output. When its input ends, it
// writes the number of bytes transferred to standard error.
import { defineToolbox, serve } from '@unfold-mcp/server'
import { answerText, referenceSize, toolsOf } from '../../list/tools.ts'

const toolbox = defineToolbox({ name: 'thousand', version: '1.0.0' })
for (const { name, description, input } of toolsOf(referenceSize))
  toolbox.tool(name, { description, inputSchema: input }, ({ path }) => answerText(String(path)))

process.stdin.once('end', () => {
  const [input, output] = [process.stdin, process.stdout] as readonly { bytesRead?: number; bytesWritten?: number }[]
  process.stderr.write(`bytes: ${(input?.bytesRead ?? 0) + (output?.bytesWritten ?? 0)}\n`)
})

await serve(toolbox)
