//#region worker
import { createHandler } from '@unfold-mcp/server'
import { clock } from './serving.ts'

const mcp = createHandler(clock, { allowedHosts: ['tools.example.com'] })

export default { fetch: (request: Request) => mcp.fetch(request) }
//#endregion
