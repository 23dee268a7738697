import { serve } from '@unfold-mcp/server'
import { codeIntelligence } from './suite.ts'

await serve(codeIntelligence())
