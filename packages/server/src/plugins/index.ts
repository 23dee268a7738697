export { definePlugin, type Plugin, type PluginContext, type PluginTool } from './define.ts'
export { type PluginFolder, type PluginFolderOptions, pluginFolder } from './folder.ts'
export type { PluginStatus } from './runner.ts'
export { Watcher } from './watcher.ts'
