// A handwritten session-era server with the behaviour in its first argument.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const [manner] = process.argv.slice(2)
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const changed = () => say({ method: 'notifications/tools/list_changed' })
const names = ['more']
let refusals = 0
if (manner === 'parent') process.stderr.write(`grandchild ${spawn('sleep', ['600'], { stdio: 'ignore' }).pid}\n`)
// Processes that leave the process group of the server: one that exits on SIGTERM, and one that does not.
if (manner === 'strays')
  for (const script of ['sleep 600; :', 'trap "" TERM; while :; do sleep 1; done'])
    spawn('sh', ['-c', script], { detached: true, stdio: 'ignore' }).unref()
// A process without the environment of the server.
if (manner === 'forgetful') spawn('env', ['-i', 'sleep', process.argv[3]], { detached: true, stdio: 'ignore' }).unref()
if (manner === 'polite')
  process.on('SIGTERM', () => {
    process.stderr.write('asked to end\n')
    process.exit(0)
  })
const listChanged = manner !== 'undeclared'

const answers = {
  initialize: ({ params }) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: listChanged ? { listChanged } : {} },
    serverInfo: { name: 'raw', version: '0.0.1' },
  }),
  ping: () => ({}),
  'tools/list': () => {
    process.stderr.write('list\n')
    if (manner === 'throttled') changed()
    if (manner === 'empty') return { tools: [] }
    return { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) }
  },
  'tools/call': () => {
    for (let time = 0; time < (manner === 'burst' ? 20 : 1); time++) {
      names.push(`tool_${names.length}`)
      if (manner !== 'silent') changed()
    }
    return { content: [{ type: 'text', text: String(process.pid) }] }
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  const { id, method } = message
  if (id === undefined) continue
  if (manner === 'mute' && method === 'ping') continue
  const isRefused = method === 'tools/list' && (manner === 'unlisted' || (manner === 'reluctant' && refusals++ < 2))
  if (isRefused) say({ id, error: { code: -32603, message: 'not today' } })
  else if (manner === 'failing' && method === 'tools/call')
    say({ id, error: { code: -32603, message: 'line one\nline two\n  indented' } })
  else if (manner === 'both' && method === 'tools/call')
    say({ id, result: { content: [] }, error: { code: -32603, message: 'and yet it failed' } })
  else if (manner === 'late' && method === 'tools/call')
    setTimeout(() => {
      say({ id, result: { content: [{ type: 'text', text: 'the-contents-of-a-late-result' }] } })
      process.stderr.write('late\n')
    }, 900)
  else if (Object.hasOwn(answers, method)) say({ id, result: answers[method](message) })
  else say({ id, error: { code: -32601, message: 'Method not found' } })
}
// Like `polite`, it does not exit at the end of its input.
if (manner !== 'polite') process.exit(0)
setInterval(() => undefined, 1_000)
