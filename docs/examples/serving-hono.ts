//#region hono
import { createHandler } from '@unfold-mcp/server'
import { Hono } from 'hono'
import { clock } from './serving.ts'

export const mcp = createHandler(clock, { allowedHosts: ['localhost', 'tools.example.com'] })

export const app = new Hono()
app.all('/mcp', (context) => mcp.fetch(context.req.raw))
//#endregion
