// A server whose handlers forget promises, and whose schemas are expensive. By default it has no listener for rejections.
// Usage: careless.mjs serve|listen|adopt [--off] [--own-listener] [--reject-outside]
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { adopt, defineToolbox, listen, serve } from '@unfold-mcp/server'

const [how, ...flags] = process.argv.slice(2)
const has = (flag) => flags.includes(flag)

const rows = {
  type: 'object',
  properties: { rows: { type: 'array', uniqueItems: true, items: { type: 'object' } } },
}
const tree = {
  type: 'object',
  properties: { tree: { $ref: '#/$defs/node' } },
  $defs: {
    node: {
      oneOf: ['and', 'or', 'not'].map((kind) => ({
        type: 'object',
        properties: { kind: { const: kind }, left: { $ref: '#/$defs/node' }, right: { $ref: '#/$defs/node' } },
        required: ['kind'],
      })),
    },
  },
}

const nested = (depth) => (depth === 0 ? { kind: 'and' } : { kind: 'and', left: nested(depth - 1) })

const forget = async () => {
  await new Promise((resolve) => setTimeout(resolve, 5))
  throw new Error('not awaited')
}

const box = () =>
  defineToolbox({ name: 'careless', version: '1.0.0' })
    .tool('ping', {}, () => 'pong')
    .tool('forget', {}, () => {
      void forget()
      return 'started'
    })
    .tool('forget_anything', {}, () => {
      // Not even an error.
      void Promise.reject(undefined)
      return 'started'
    })
    .tool('reject_outside', {}, () => {
      outside.emit?.()
      return 'started'
    })
    .tool('throw_later', {}, () => {
      setTimeout(() => {
        throw new Error('thrown by a timer')
      }, 5)
      return 'started'
    })
    .tool('store', { inputSchema: rows }, ({ rows: stored }) => String(stored.length))
    .tool('filter', { inputSchema: tree }, () => 'filtered')
    .tool('deep', { outputSchema: tree }, () => ({ tree: nested(60) }))
    .tool('cpu', {}, () => String(Math.round(process.cpuUsage().user / 1_000)))

// Its promise belongs to the program, not to the handler that rejects it.
const outside = {}
void new Promise((resolve) => {
  outside.emit = resolve
}).then(() => {
  throw new Error('rejected outside of a handler')
})

function adopted() {
  return adopt(() => {
    const server = new McpServer({ name: 'adopted', version: '1.0.0' })
    server.registerTool('store', { inputSchema: fromJsonSchema(rows) }, ({ rows: stored }) => ({
      content: [{ type: 'text', text: String(stored.length) }],
    }))
    return server
  })
}

if (has('--own-listener'))
  process.on('unhandledRejection', (error) => console.error(`The program's own listener: ${error?.message}`))

const options = { ...(has('--off') && { reportRejections: false }) }
if (how === 'serve') await serve(box(), { argv: ['--http', '0'], ...options })
else {
  const { url } = await listen(how === 'adopt' ? adopted() : box(), { port: 0, ...options })
  console.error(`Serving on ${url}`)
}
