// Handwritten stdio server whose output does not match its output schema.
import { createInterface } from 'node:readline'

const outputSchema = { type: 'object', properties: { degrees: { type: 'number' } }, required: ['degrees'] }
const tools = ['wrong', 'missing'].map((name) => ({ name, inputSchema: { type: 'object' }, outputSchema }))

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'liar', version: '1' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name }) => ({ content: [], ...(name === 'wrong' && { structuredContent: { degrees: 'warm' } }) }),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  const answer = Object.hasOwn(answers, method)
    ? { result: answers[method](params) }
    : { error: { code: -32601, message: 'Method not found' } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
}
