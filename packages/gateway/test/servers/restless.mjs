// A server of the session era, written by hand, whose tools and resources all change every few milliseconds. Its first argument is
// { tools, resources, everyMs, changes }; without changes, it changes until its tool "stop" is called. Its tools return how often it was
// listed and how often it has changed.
import { createInterface } from 'node:readline'

const { tools, resources = 0, everyMs, changes } = JSON.parse(process.argv[2] ?? '{}')
const counts = { lists: 0, changes: 0 }
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const properties = { path: { type: 'string', description: 'Path of the file' }, size: { type: 'number', description: 'Bytes' } }

const listed = () => [
  { name: 'counts', inputSchema: { type: 'object' } },
  { name: 'stop', inputSchema: { type: 'object' } },
  ...Array.from({ length: tools }, (_, at) => ({
    name: `tool_${at}`,
    description: `Reads the file number ${at} from the disk, and returns its size. Version ${counts.changes}.`,
    inputSchema: { type: 'object', properties, required: ['path'] },
  })),
]

function change() {
  counts.changes += 1
  say({ method: `notifications/${resources > 0 ? 'resources' : 'tools'}/list_changed` })
  if (counts.changes === changes) clearInterval(timer)
}

let timer
function count() {
  counts.lists += 1
  timer ??= setInterval(change, everyMs)
}

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true }, ...(resources > 0 && { resources: { listChanged: true } }) },
    serverInfo: { name: 'restless', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => {
    if (resources === 0) count()
    return { tools: listed() }
  },
  'resources/list': () => {
    count()
    const described = (_, at) => ({ uri: `memo://${at}`, name: `memo ${at}`, description: `Version ${counts.changes}.` })
    return { resources: Array.from({ length: resources }, described) }
  },
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'tools/call': ({ name }) => {
    if (name === 'stop') clearInterval(timer)
    return { content: [{ type: 'text', text: JSON.stringify(counts) }] }
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line)
  if (id === undefined || method === undefined) continue
  if (Object.hasOwn(answers, method)) say({ id, result: answers[method](params) })
  else say({ id, error: { code: -32601, message: 'Method not found' } })
}
process.exit(0)
