//#region registry
import { defineToolbox, ToolRegistry } from '@unfold-mcp/server'
import { z } from 'zod'

export const plugins = new ToolRegistry({ name: 'plugins' })

export const workbench = defineToolbox({
  name: 'workbench',
  version: '1.0.0',
  groups: { text: { description: 'Work on text' } },
}).use(plugins)

workbench.tool(
  'load_plugin',
  { description: 'Load a plugin', inputSchema: z.object({ name: z.enum(['letters']) }) },
  ({ name }) => {
    plugins.registerInGroup(
      'reverse',
      { description: 'Reverse a text', inputSchema: z.object({ text: z.string() }) },
      'text',
      ({ text }) => text.split('').toReversed().join(''),
    )
    plugins.register(
      'count_letters',
      { description: 'Count letters', inputSchema: z.object({ text: z.string() }) },
      ({ text }) => ({
        letters: text.length,
      }),
    )
    return `Loaded ${name}.`
  },
)

workbench.tool(
  'unload_plugin',
  { description: 'Unload a plugin', inputSchema: z.object({ name: z.enum(['letters']) }) },
  ({ name }) => {
    for (const tool of ['reverse', 'count_letters']) plugins.unregister(tool)
    return `Unloaded ${name}.`
  },
)
//#endregion
