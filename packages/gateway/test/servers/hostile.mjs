// A handwritten session-era server with arbitrary contents and messages. Its first argument describes the contents:
// { title, instructions, tools, prompts, resources, templates, many }, where `many` creates that many resources of that many
// characters. Its tools write the argument `say` to stdout `times` times, and respond with `result` or `error`.
import { createInterface } from 'node:readline'

const {
  title = 'hostile',
  instructions,
  tools = [],
  prompts,
  resources,
  templates = [],
  many,
} = JSON.parse(process.argv[2] ?? '{}')
const write = (text) => (process.stdout.write(text) ? undefined : new Promise((resolve) => process.stdout.once('drain', resolve)))
const say = (message) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

const hasResources = resources !== undefined || many !== undefined
const page = (index) => ({
  resources: Array.from({ length: 100 }, (_, each) => ({
    uri: `many://${index}/${each}`,
    name: `${each}`,
    description: 'x'.repeat(many.characters),
  })),
  ...((index + 1) * 100 < many.count && { nextCursor: `${index + 1}` }),
})

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: {
      tools: { listChanged: true },
      logging: {},
      ...(prompts !== undefined && { prompts: { listChanged: true }, completions: {} }),
      ...(hasResources && { resources: { listChanged: true, subscribe: true } }),
    },
    serverInfo: { name: title, version: '1.0.0' },
    ...(instructions !== undefined && { instructions }),
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: tools.map((tool) => ({ inputSchema: { type: 'object' }, ...(typeof tool === 'string' ? { name: tool } : tool) })),
  }),
  'prompts/list': () => ({ prompts }),
  'prompts/get': ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `${title} says ${name}` } }] }),
  'resources/list': ({ cursor = '0' }) => (many === undefined ? { resources } : page(Number(cursor))),
  'resources/templates/list': () => ({ resourceTemplates: templates }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, text: `${uri} of ${title}` }] }),
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
  'completion/complete': () => ({ completion: { values: [`${title} completes`] } }),
}

async function called(id, { name, arguments: given = {}, _meta }) {
  const { say: message, times = 1, result, error } = given
  if (message !== undefined) {
    const text = `${JSON.stringify({ jsonrpc: '2.0', ...message }).replaceAll('"$token"', JSON.stringify(_meta?.progressToken ?? null))}\n`
    for (let time = 0; time < times; time += 1_000) await write(text.repeat(Math.min(1_000, times - time)))
  }
  if (error !== undefined) return say({ id, error })
  return say({ id, result: result ?? { content: [{ type: 'text', text: `${name} of ${title}` }] } })
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line)
  if (id === undefined || method === undefined) continue
  if (method === 'tools/call') void called(id, params)
  else if (Object.hasOwn(answers, method)) void say({ id, result: answers[method](params) })
  else void say({ id, error: { code: -32601, message: 'Method not found' } })
}
process.exit(0)
