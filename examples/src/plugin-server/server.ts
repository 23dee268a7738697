/**
 * Shows tools that are registered at run time: a registry has `load_plugin`, `unload_plugin` and `list_plugins`, and loading a
 * plugin registers its tools. That changes the list of all clients, so all of them are notified, in both eras.
 *
 *   npm run -s example -- plugin-server                  over standard input and output
 *   npm run -s example -- plugin-server --http 8000      at http://127.0.0.1:8000/mcp
 */
import { defineToolbox, ToolError, ToolRegistry } from '@unfold-mcp/server'
import { z } from 'zod'
import type { Plugin } from './plugin.ts'
import { mathPlugin } from './plugins/math.ts'
import { textPlugin } from './plugins/text.ts'
import { timePlugin } from './plugins/time.ts'

export function pluginServer(now: () => number) {
  const plugins: readonly Plugin[] = [textPlugin, mathPlugin, timePlugin(now)]
  const registry = new ToolRegistry()
  /** Tool names of each loaded plugin. */
  const loaded = new Map<string, readonly string[]>()
  const inputSchema = z.object({ name: z.string().describe('The plugin’s name') })

  registry.register(
    'load_plugin',
    {
      description: `Load a plugin by name. This will add the plugin's tools. Plugins: ${plugins.map(({ name }) => name).join(', ')}.`,
      inputSchema,
      annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ name }) => {
      const plugin = pluginNamed(plugins, name)
      if (loaded.has(name)) return `${name} is loaded already.`
      const names = addTools(registry, plugin)
      loaded.set(name, names)
      return `Loaded ${name}.`
    },
  )

  registry.register(
    'unload_plugin',
    {
      description: 'Unload a plugin by name. Its tools go away.',
      inputSchema,
      annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ name }) => {
      const names = loaded.get(pluginNamed(plugins, name).name)
      if (names === undefined) return `${name} is not loaded.`
      for (const tool of names) registry.unregister(tool)
      loaded.delete(name)
      return `Unloaded ${name}.`
    },
  )

  registry.register(
    'list_plugins',
    {
      description: 'List the plugins, whether each is loaded, and the tools it brought.',
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    () => ({
      plugins: plugins.map(({ name, description }) => ({
        name,
        description,
        loaded: loaded.has(name),
        tools: loaded.get(name) ?? [],
      })),
    }),
  )

  return defineToolbox({
    name: 'plugin-server',
    version: '1.0.0',
    description: 'Loads plugins, each with tools of its own.',
  }).use(registry)
}

function pluginNamed(plugins: readonly Plugin[], name: string): Plugin {
  const found = plugins.find((plugin) => plugin.name === name)
  if (found === undefined)
    throw new ToolError(`Unknown plugin "${name}". Plugins: ${plugins.map((plugin) => plugin.name).join(', ')}.`)
  return found
}

/** Registers all tools of a plugin, or none, and returns their names. */
function addTools(registry: ToolRegistry, plugin: Plugin): readonly string[] {
  const names: string[] = []
  try {
    plugin.tools((name, tool, handler) => {
      const unregister = registry.register(name, tool, handler)
      names.push(name)
      return unregister
    })
  } catch (error) {
    for (const name of names) registry.unregister(name)
    throw error
  }
  return names
}
