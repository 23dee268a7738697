//#region folder
import { defineToolbox } from '@unfold-mcp/server'
import { pluginFolder } from '@unfold-mcp/server/plugins'

export function toolsOf(folder: string) {
  const plugins = pluginFolder(folder, { callTimeoutMs: 5_000, memoryMb: 64 })
  const toolbox = defineToolbox({ name: 'tools', version: '1.0.0' }).use(plugins)
  return { plugins, toolbox }
}
//#endregion
