// A minimal stdio server without an SDK, so that its cost is negligible compared with the gateway. It reports to the benchmark
// over a socket and receives change requests over it.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { type Definition, definitionOf, definitionsOf, slowTool } from '../definitions.ts'
import type { FromUpstream, ToUpstream } from '../upstreams.ts'

const [name = '', count = '0', port = '0'] = process.argv.slice(2)
const tools: Definition[] = [...definitionsOf(name, Number(count))]
let listed = JSON.stringify(tools)

const controlSocket = connect(Number(port), '127.0.0.1')
const report = (message: FromUpstream): void => void controlSocket.write(`${JSON.stringify(message)}\n`)
controlSocket.on('error', () => process.exit(0)).on('close', () => process.exit(0))
report({ name, pid: process.pid })

createInterface({ input: controlSocket }).on('line', (line) => {
  const { add, gapMs } = JSON.parse(line) as ToUpstream
  if (gapMs === 0) for (const each of add) put(each)
  else add.forEach((each, index) => void setTimeout(() => put(each), index * gapMs))
})

function put(tool: string): void {
  tools.push(definitionOf(tool, tool.replaceAll('_', ' ')))
  listed = JSON.stringify(tools)
  write({ method: 'notifications/tools/list_changed' })
}

const slowMs = 1_000

const answers: { readonly [method: string]: (params: { readonly name?: string }) => object } = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name, version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/call': () => ({ content: [{ type: 'text', text: 'Done with reports/2026/summary.txt.' }] }),
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params = {} } = JSON.parse(line) as { id?: number; method: string; params?: { name?: string } }
    if (id === undefined) return
    if (method === 'tools/list') {
      process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"tools":${listed}}}\n`)
      report({ name, listed: true })
      return
    }
    const answer = answers[method]
    if (method === 'tools/call' && params.name === slowTool) {
      setTimeout(() => write({ id, result: answer?.(params) }), slowMs)
      return
    }
    if (answer === undefined) write({ id, error: { code: -32601, message: 'Method not found' } })
    else write({ id, result: answer(params) })
  })
  .on('close', () => process.exit(0))

function write(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}
