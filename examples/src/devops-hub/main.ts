import { serve } from '@unfold-mcp/server'
import { Fleet } from './fleet.ts'
import { devopsHub } from './hub.ts'

await serve(devopsHub(new Fleet(Date.now)))
