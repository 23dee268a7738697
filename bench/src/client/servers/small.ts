// A typical small server over standard input and output.
import { defineToolbox, serve } from '@unfold-mcp/server'
import { answerText, toolsOf } from '../../list/tools.ts'

const toolbox = defineToolbox({ name: 'desk', version: '1.0.0' })
for (const { name, description, input } of toolsOf(10))
  toolbox.tool(name, { description, inputSchema: input }, ({ path }) => answerText(String(path)))

await serve(toolbox)
