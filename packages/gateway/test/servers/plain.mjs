// A handwritten session-era server. Its first argument describes it: { info, instructions, title, tools, resources }, the last one with
// texts by URI; `file` is a file with the same content. Each tool responds with its argument `result`, or does what `make` requests;
// `become` changes the tools. With `wait`, the tools change when the file `wait.change` exists, and the response is sent when `wait.end`
// exists.
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'

const argument = JSON.parse(process.argv[2] ?? '{}')
const description = argument.file === undefined ? argument : JSON.parse(readFileSync(argument.file, 'utf8'))
let tools = description.tools ?? []
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (value) => ({ content: [{ type: 'text', text: value }] })

const makers = {
  lines: (count) => text(Array.from({ length: count }, (_, each) => `line ${each} of ${count}`).join('\n')),
  symbols: (count) => text('😀'.repeat(count)),
  image: (bytes) => ({ content: [{ type: 'image', mimeType: 'image/png', data: Buffer.alloc(bytes, 7).toString('base64') }] }),
  rows: (count) => {
    const structuredContent = { rows: Array.from({ length: count }, (_, id) => ({ id, name: `row ${id}` })) }
    return { ...text(JSON.stringify(structuredContent)), structuredContent }
  },
  pid: () => text(String(process.pid)),
}

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true }, ...(description.resources !== undefined && { resources: {} }) },
    serverInfo: {
      name: 'plain',
      version: '1.0.0',
      ...(description.title !== undefined && { title: description.title }),
      ...description.info,
    },
    ...(description.instructions !== undefined && { instructions: description.instructions }),
  }),
  ping: () => ({}),
  'resources/list': () => ({ resources: Object.keys(description.resources ?? {}).map((uri) => ({ uri, name: uri })) }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, text: description.resources?.[uri] ?? '' }] }),
  'tools/list': () => ({
    tools: tools.map((tool) => ({ inputSchema: { type: 'object' }, ...(typeof tool === 'string' ? { name: tool } : tool) })),
  }),
  'tools/call': async ({ name, arguments: given = {} }) => {
    if (given.wait !== undefined) {
      await exists(given.wait.change)
      tools = JSON.parse(readFileSync(given.wait.change, 'utf8'))
      say({ method: 'notifications/tools/list_changed' })
      await exists(given.wait.end)
    }
    if (given.become !== undefined) {
      tools = given.become
      say({ method: 'notifications/tools/list_changed' })
    }
    if (given.result !== undefined) return given.result
    const [[maker, value] = ['', undefined]] = Object.entries(given.make ?? {})
    if (Object.hasOwn(makers, maker)) {
      const made = makers[maker](value)
      return { ...made, ...(given.isError === true && { isError: true }), ...(given.meta !== undefined && { _meta: given.meta }) }
    }
    return text(`${name} ${JSON.stringify(given)}`)
  },
}

async function exists(file) {
  while (!existsSync(file)) await setTimeout(10)
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  if (method === 'tools/call') void answers[method](params ?? {}).then((result) => say({ id, result }))
  else if (Object.hasOwn(answers, method)) say({ id, result: answers[method](params ?? {}) })
  else say({ id, error: { code: -32601, message: 'Method not found' } })
}
process.exit(0)
