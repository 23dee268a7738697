// The measured tools in a toolbox.
import { defineToolbox, type Toolbox } from '@unfold-mcp/server'
import { answerText, groupsOf, toolsOf } from './tools.ts'

export type Shape = 'plain' | 'grouped'

export function toolboxOf(count: number, shape: Shape): Toolbox {
  const described = (name: string) => ({ description: `Everything about ${name}` })
  const groups = Object.fromEntries(groupsOf(count).map((name) => [name, described(name)]))
  const toolbox: Toolbox = defineToolbox({ name: 'bench', version: '1.0.0', ...(shape === 'grouped' && { groups }) })
  for (const { name, description: what, group, input } of toolsOf(count)) {
    toolbox.tool(name, { description: what, inputSchema: input, ...(shape === 'grouped' && { group }) }, ({ path }) =>
      answerText(String(path)),
    )
  }
  return toolbox
}
