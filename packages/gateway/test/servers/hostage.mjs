// A server that a stranger controls: its only tool runs the code in its arguments.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const require = createRequire(import.meta.url)
const AsyncFunction = (async () => undefined).constructor
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

process.on('SIGTERM', () => {
  process.stderr.write('asked to end\n')
  process.exit(0)
})

async function run({ code }) {
  try {
    return `done: ${JSON.stringify(await new AsyncFunction('require', code)(require))}`
  } catch (error) {
    return `refused: ${error.code ?? error.message}`
  }
}

const answers = {
  initialize: ({ params }) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'hostage', version: '0.0.1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: [{ name: 'run', inputSchema: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] } }],
  }),
  'tools/call': async ({ params }) => ({ content: [{ type: 'text', text: await run(params.arguments) }] }),
}

async function reply(line) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const answer = answers[method]
  say(
    answer === undefined
      ? { id, error: { code: -32_601, message: 'Method not found' } }
      : { id, result: await answer({ params }) },
  )
}

createInterface({ input: process.stdin }).on('line', (line) => void reply(line))
