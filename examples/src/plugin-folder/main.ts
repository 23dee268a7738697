import { fileURLToPath } from 'node:url'
import { serve } from '@unfold-mcp/server'
import { pluginFolderServer } from './server.ts'

// The plugins of the example are not compiled, so that they can be edited while it runs.
const ours = fileURLToPath(new URL('../../src/plugin-folder/plugins/', import.meta.url))
const [first = '', ...rest] = process.argv.slice(2)
const isFolder = first !== '' && !first.startsWith('--')
const { toolbox, plugins } = pluginFolderServer(isFolder ? first : ours)
await plugins.ready()
await serve(toolbox, { argv: isFolder ? rest : process.argv.slice(2) })
