import { serve } from '@unfold-mcp/server'
import { library } from './getting-started.ts'

await serve(library)
