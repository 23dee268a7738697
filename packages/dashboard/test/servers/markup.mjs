// A handwritten session-era server with markup in every text that the dashboard shows.
import { createInterface } from 'node:readline'

const markup = '<img src=x onerror="document.title=`attacked`">'
const tool = (name, description) => ({ name, description, inputSchema: { type: 'object', description } })

process.stderr.write(`${markup}\n`)
const answers = {
  initialize: ({ params }) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: markup, version: markup },
    instructions: markup,
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [tool('decorate', `Decorates ${markup}`), tool(markup, markup)] }),
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  if (message.id === undefined) continue
  const result = answers[message.method]?.(message)
  const answer = result === undefined ? { error: { code: -32601, message: markup } } : { result }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer })}\n`)
}
