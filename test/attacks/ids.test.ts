import { connect } from '@unfold-mcp/client'
import { expect, test } from 'vitest'

// Before each response, the server sends others whose ids have no exact representation.
const program = `
const say = (id, result) => process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":' + JSON.stringify(result) + '}\\n')
const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'ids', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'tell', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'right' }] }),
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const wrong = { content: [{ type: 'text', text: 'wrong' }], tools: [], protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'wrong', version: '1' } }
  for (const other of ['9007199254740993', '-9007199254740993', '1e400', '-1e400']) say(other, wrong)
  say(JSON.stringify(id), results[method]?.(params) ?? {})
})
`

test('AT-R09-6: a response whose id has no exact representation does not answer another request', async () => {
  await using connection = await connect({ command: process.execPath, args: ['-e', program] }, { protocol: 'session' })
  expect(connection.server.name).toBe('ids')
  expect(await connection.call('tell', {})).toMatchObject({ content: [{ type: 'text', text: 'right' }] })
})
