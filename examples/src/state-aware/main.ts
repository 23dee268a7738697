import { serve } from '@unfold-mcp/server'
import { JobQueue } from './queue.ts'
import { jobServer } from './server.ts'

await serve(jobServer(new JobQueue()))
