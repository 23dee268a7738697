import { serve } from '@unfold-mcp/server'
import { workshop } from './workshop.ts'

await serve(workshop())
