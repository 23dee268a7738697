// Serves a plugin folder: prints the process ids of its plugins, then does what the second argument says.
import { defineToolbox, serve } from '@unfold-mcp/server'
import { pluginFolder } from '@unfold-mcp/server/plugins'

const [folder, then] = process.argv.slice(2)
const plugins = pluginFolder(folder, {
  report: ({ message }) => console.error(message),
  onOutput: (_, line) => console.error(line),
})
const toolbox = defineToolbox({ name: 'server', version: '1.0.0' }).use(plugins)
await plugins.ready()
console.error(
  `pids ${plugins
    .plugins()
    .flatMap(({ pid }) => pid ?? [])
    .join()}`,
)
if (then === 'serve') await serve(toolbox, { argv: [] })
// Gives the plugins time to print.
else await new Promise((resolve) => setTimeout(resolve, 1_000))
if (then === 'throw') throw new Error('the server itself is broken')
