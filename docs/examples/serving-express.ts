//#region express
import { createHandler, toNodeHandler } from '@unfold-mcp/server'
import express from 'express'
import { clock } from './serving.ts'

export const mcp = createHandler(clock)

export const app = express()
app.all('/mcp', toNodeHandler(mcp))
app.use(express.json()) // after it: the handler reads the body itself
//#endregion
