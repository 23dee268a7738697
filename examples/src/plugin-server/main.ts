import { serve } from '@unfold-mcp/server'
import { pluginServer } from './server.ts'

await serve(pluginServer(Date.now))
