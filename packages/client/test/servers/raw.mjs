// Session-era server without an SDK, so that it can send arbitrary responses.
import { createInterface } from 'node:readline'

const line = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const text = (value) => ({ content: [{ type: 'text', text: value }] })
const held = []

const tools = {
  // Sends all responses together with the last one, in reverse order.
  hold(id, { name, last }) {
    held.unshift(line({ id, result: text(name) }))
    return last ? held.splice(0).join('') : ''
  },
  talk(id, _args, { progressToken }) {
    const log = line({ method: 'notifications/message', params: { level: 'info', data: 'logged' } })
    const progress = line({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } })
    return `${log}${progress}${line({ id: String(id), result: text('done') })}`
  },
  never: () => '',
  wordless: (id) => line({ id, result: 'no object' }),
  shapeless: (id) => line({ id, result: { content: [{ type: 'text' }] } }),
  refused: (id) => line({ id, error: { code: -32_050, message: 'not today' } }),
}

createInterface({ input: process.stdin })
  .on('line', (written) => {
    const { id, method, params } = JSON.parse(written)
    if (method === 'initialize') {
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {}, logging: {} },
        serverInfo: { name: 'raw', version: '1' },
      }
      process.stdout.write(line({ id, result }))
    } else if (method === 'tools/call') process.stdout.write(tools[params.name](id, params.arguments, params._meta))
    else if (method === 'notifications/cancelled') process.stderr.write(`${params.reason}\n`)
    else if (id !== undefined) process.stdout.write(line({ id, error: { code: -32_601, message: 'Method not found' } }))
  })
  .on('close', () => process.exit(0))
