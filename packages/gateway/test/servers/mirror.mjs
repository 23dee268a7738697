// A handwritten session-era server that returns everything it receives: its environment, its arguments, and every line it was
// sent. It also leaks its first argument everywhere a careless server could.
import { createInterface } from 'node:readline'

const [slip = 'nothing'] = process.argv.slice(2)
const lines = []
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
process.stderr.write(`started with ${slip}\n`)

const answers = {
  initialize: ({ params }) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: `mirror ${slip}`, version: '0.0.1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: ['show', 'refuse', 'die'].map((name) => ({ name, inputSchema: { type: 'object' } })) }),
}

const show = () => ({
  content: [{ type: 'text', text: JSON.stringify({ environment: process.env, arguments: process.argv, lines }) }],
})

for await (const line of createInterface({ input: process.stdin })) {
  lines.push(line)
  const message = JSON.parse(line)
  const { id, method, params } = message
  if (id === undefined) continue
  if (method === 'tools/call' && params.name === 'die') {
    process.stderr.write(`died of ${slip}\n`)
    process.exit(3)
  }
  if (method === 'tools/call' && params.name === 'refuse') say({ id, error: { code: -32602, message: `not with ${slip}` } })
  else if (method === 'tools/call') say({ id, result: show() })
  else if (Object.hasOwn(answers, method)) say({ id, result: answers[method](message) })
  else say({ id, error: { code: -32601, message: 'Method not found' } })
}
process.exit(0)
