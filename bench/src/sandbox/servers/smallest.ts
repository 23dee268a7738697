// The smallest server: what is measured is its start.
import { createInterface } from 'node:readline'

interface Request {
  readonly id?: number | string
  readonly method: string
  readonly params?: { readonly protocolVersion?: string }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line) as Request
  if (id === undefined) return
  const serverInfo = { name: 'smallest', version: '1.0.0' }
  const reply =
    method === 'initialize'
      ? { result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo } }
      : method === 'tools/list'
        ? { result: { tools: [] } }
        : { error: { code: -32_601, message: 'Method not found' } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`)
})
