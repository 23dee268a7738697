import { serve } from '@unfold-mcp/server'
import { smartHome } from './home.ts'
import { House } from './house.ts'

await serve(smartHome(new House(Date.now)))
