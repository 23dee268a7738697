// Unfold with default settings, except the port and the session limit.
import { listen } from '@unfold-mcp/server'
import { type Shape, toolboxOf } from '../unfold.ts'
import { serveAsChild } from './child.ts'

const [shape, count] = process.argv.slice(2)
const { server } = await listen(toolboxOf(Number(count), shape as Shape), { port: 0, sessions: { max: 20_000 } })
serveAsChild(server)
