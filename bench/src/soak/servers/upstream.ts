// A stdio server for the soak, written without our library. Its tools change its list, return large results and end its process.
// The first argument is a file to which it appends its process id.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , pids = ''] = process.argv
appendFileSync(pids, `${process.pid}\n`)

interface Request {
  readonly id?: number | string
  readonly method: string
  readonly params?: {
    readonly name?: string
    readonly uri?: string
    readonly protocolVersion?: string
    readonly arguments?: Arguments
  }
}

interface Arguments {
  readonly text?: string
  readonly size?: number
}

const send = (message: object): boolean => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (value: string): object => ({ content: [{ type: 'text', text: value }] })
const inputSchema = { type: 'object', properties: { text: { type: 'string' }, size: { type: 'integer' } } }
const names = ['echo', 'produce', 'change', 'crash', ...Array.from({ length: 60 }, (_, index) => `filler_${index}`)]
let changes = 0

const calls: { readonly [name: string]: (given: Arguments) => object } = {
  produce: ({ size = 100_000 }) => text('0123456789'.repeat(size / 10)),
  change() {
    changes++
    send({ method: 'notifications/tools/list_changed' })
    return text(`change ${changes}`)
  },
  crash: () => process.exit(1),
}

const methods: { readonly [name: string]: (params: NonNullable<Request['params']>) => object } = {
  initialize: ({ protocolVersion = '' }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true }, resources: {} },
    serverInfo: { name: 'soak', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: [...names, ...(changes % 2 === 0 ? [] : [`changed_${changes}`])].map((name) => ({
      name,
      description: `Tool ${name} of the soak.`,
      inputSchema,
    })),
  }),
  'tools/call': ({ name = '', arguments: given = {} }) => calls[name]?.(given) ?? text(given.text ?? name),
  'resources/list': () => ({ resources: [{ uri: 'soak://large', name: 'large' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': ({ uri = '' }) => ({ contents: [{ uri, text: 'x'.repeat(4_000_000) }] }),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line) as Request
  if (id === undefined) continue
  const respond = methods[method]
  if (respond === undefined) send({ id, error: { code: -32_601, message: 'Method not found' } })
  else send({ id, result: respond(params) })
}
process.exit(0)
