// A session-era server with state. Its argument is a file: it appends its pid and the monotonic time to it at its start and every
// few milliseconds, so that the file shows when it was running. `count` counts its calls, and `stall` never answers; a `nonce` in their
// arguments is recorded as well. It ignores SIGTERM.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [file = ''] = process.argv.slice(2)
const mark = (what) => appendFileSync(file, `${process.pid} ${process.hrtime.bigint() / 1000n} ${what}\n`)
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
let count = 0

mark('start')
setInterval(() => mark('alive'), 20)
process.on('SIGTERM', () => mark('asked to end'))

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'stateful', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: ['count', 'stall'].map((name) => ({ name, inputSchema: { type: 'object' } })) }),
  'tools/call': ({ name, arguments: args }) => {
    mark(args?.nonce === undefined ? name : `${name} ${args.nonce}`)
    count++
    return name === 'stall' ? undefined : { content: [{ type: 'text', text: `${process.pid} ${count}` }] }
  },
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined || method === undefined) return
    const answer = answers[method]
    if (answer === undefined) say({ id, error: { code: -32601, message: 'unknown method' } })
    else {
      const result = answer(params)
      if (result !== undefined) say({ id, result })
    }
  })
  .on('close', () => process.exit(0))
