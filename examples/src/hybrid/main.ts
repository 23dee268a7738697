import { serve } from '@unfold-mcp/server'
import { hybridServer } from './server.ts'

await serve(hybridServer())
