// A server with one tool. Its description is the content of description.txt.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'demo', version: '1.0.0' },
  }),
  'tools/list': () => ({
    tools: [{ name: 'read_note', description: readFileSync('description.txt', 'utf8').trim(), inputSchema: { type: 'object' } }],
  }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'Milk, bread, apples' }] }),
  ping: () => ({}),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  const result = results[method]?.(params)
  const reply = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...reply }))
}
