/**
 * Shows tools from a folder: every module in `plugins` is a plugin in a separate process. Saving, adding or removing a plugin
 * notifies clients; a broken plugin does not affect the others.
 *
 *   npm run -s example -- plugin-folder                     the plugins next to this file, over standard input and output
 *   npm run -s example -- plugin-folder ./mine --http 8000  the plugins of another folder, at http://127.0.0.1:8000/mcp
 */
import { defineToolbox } from '@unfold-mcp/server'
import { pluginFolder } from '@unfold-mcp/server/plugins'

export function pluginFolderServer(directory: string) {
  const plugins = pluginFolder(directory, { log: (line) => console.error(line) })
  const toolbox = defineToolbox({
    name: 'plugin-folder',
    version: '1.0.0',
    description: 'Whatever the plugins in its folder can do.',
  })
    .use(plugins)
    .tool(
      'list_plugins',
      { description: 'List the plugins, how each stands, and the tools it brought.', readOnly: true },
      () => ({
        plugins: plugins.plugins().map(({ key, name, state, tools, problem }) => ({ file: key, name, state, tools, problem })),
      }),
    )
  return { toolbox, plugins }
}
