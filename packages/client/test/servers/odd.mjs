// Handwritten server that misbehaves as selected by its first argument.
import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [manner] = process.argv.slice(2)
process.stderr.write(`started ${process.pid} as ${manner}\n`)
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
let lists = 0
const tool = { name: 'go', inputSchema: { type: 'object' } }

if (manner === 'banner') process.stdout.write('Welcome to the odd server!\n\n{"not":"a message"}\n')
if (manner === 'throw') throw new TypeError('the key is missing', { cause: 'API_KEY is not set' })
if (manner === 'crash') {
  process.stderr.write('no configuration found\n')
  process.exit(7)
}
if (manner === 'stubborn') for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined)
if (manner === 'parent') {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: ['ignore', 'inherit', 'inherit'] })
  process.stderr.write(`child ${child.pid}\n`)
}
if (manner === 'late') await new Promise((resolve) => setTimeout(resolve, 400))

const answers = {
  initialize: ({ params }) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'odd', version: '0.0.1' },
  }),
  ping: () => ({}),
  'tools/list': ({ params }) => {
    if (manner === 'shifting') {
      const isFirst = params?.cursor === undefined
      if (isFirst) lists++
      const _meta = { 'io.github.unfold-mcp/identity': isFirst || lists > 1 ? 'after' : 'before' }
      return isFirst ? { tools: [tool], nextCursor: 'next', _meta } : { tools: [{ ...tool, name: `of list ${lists}` }], _meta }
    }
    if (manner === 'circle') return { tools: [tool], nextCursor: params?.cursor === 'a' ? 'b' : 'a' }
    if (manner === 'endless') return { tools: [tool], nextCursor: String(Math.random()) }
    if (manner === 'shapeless') return { tools: [tool, { name: 'no schema' }, 7, { ...tool, description: 'twice' }] }
    if (manner === 'nonsense') return { tools: 'none' }
    return { tools: [tool] }
  },
  'tools/call': () => {
    if (manner === 'unasked') for (let i = 0; i < 500; i++) say({ id: 10_000 + i, result: {} })
    if (manner === 'huge') return { content: [{ type: 'text', text: 'x'.repeat(3_000_000) }] }
    if (manner === 'dying') process.exit(9)
    if (manner === 'deaf') {
      // Breaks the pipe of its client a second before it exits.
      // Node itself never closes its standard streams.
      closeSync(0)
      setTimeout(() => process.exit(9), 1_000)
      process.stderr.write('deaf\n')
    }
    return { content: [{ type: 'text', text: 'gone' }] }
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  process.stderr.write(`wire: ${message.method}\n`)
  const { id, method } = message
  if (id === undefined) continue
  if (manner === 'hang') continue
  if (manner === 'flood' && method === 'tools/call') {
    const more = () => {
      while (process.stdout.write('x'.repeat(65_536)));
      process.stdout.once('drain', more)
    }
    more()
    continue
  }
  if (manner === 'strict' && method === 'server/discover') process.exit(1)
  if (manner === 'silent' && method === 'server/discover') continue
  if (Object.hasOwn(answers, method)) say({ id, result: answers[method](message) })
  else say({ id, error: { code: -32601, message: 'Method not found' } })
}
if (manner === 'stubborn') setInterval(() => undefined, 1000)
else process.exit(0)
