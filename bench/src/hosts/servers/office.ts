// An upstream server of the gateway under test: stdio, without an SDK. It reports every call to the lab over a socket and
// receives change requests over it.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { type LabServer, type LabTool, lateTool, toolsOf } from '../catalogue.ts'
import type { FromOffice, ToOffice } from '../offices.ts'
import { type Reply, replyTo } from './replies.ts'

const [name = 'files', count = '100', port = '0'] = process.argv.slice(2)
const tools: LabTool[] = toolsOf(name as LabServer).slice(0, Number(count))

let isChanged = false

const backstage = connect(Number(port), '127.0.0.1')
const report = (message: FromOffice): void => void backstage.write(`${JSON.stringify(message)}\n`)
backstage.on('error', () => process.exit(0)).on('close', () => process.exit(0))
report({ kind: 'started', server: name, pid: process.pid })

createInterface({ input: backstage }).on('line', (line) => {
  const message = JSON.parse(line) as ToOffice
  const isAdded = message.kind === 'add'
  if (isAdded && tools.includes(lateTool)) return
  const next = isAdded
    ? [...tools, lateTool]
    : tools.map((tool) => (tool.name === message.tool ? { ...tool, description: message.description } : tool))
  tools.splice(0, tools.length, ...next)
  isChanged = true
  write({ method: 'notifications/tools/list_changed' })
})

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: { readonly name?: string; readonly uri?: string; readonly arguments?: Record<string, unknown> }
  readonly result?: unknown
}

const handlers: { readonly [method: string]: (params: NonNullable<Message['params']>) => object } = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: { listChanged: true }, ...(name === 'files' && { prompts: {}, resources: {} }) },
    serverInfo: { name, version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => {
    if (isChanged) report({ kind: 'listed' })
    return { tools }
  },
  'prompts/list': () => ({ prompts: [prompt] }),
  'prompts/get': (params) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Review ${String(params.arguments?.path)} line by line.` } }],
  }),
  'resources/list': () => ({ resources: [resource] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': () => ({ contents: [{ uri: resource.uri, mimeType: 'text/plain', text: 'Keep reports for ten years.' }] }),
}

const prompt = { name: 'review_file', description: 'Review one file', arguments: [{ name: 'path', required: true }] }
const resource = { uri: 'lab://policy', name: 'policy', description: 'How long files are kept', mimeType: 'text/plain' }

// Pending elicitations by request id.
const asked = new Map<string, (answer: unknown) => void>()

createInterface({ input: process.stdin })
  .on('line', (line) => void received(JSON.parse(line) as Message))
  .on('close', () => process.exit(0))

async function received({ id, method, params = {}, result }: Message): Promise<void> {
  if (id === undefined) return
  if (method === undefined) {
    asked.get(String(id))?.(result)
    return
  }
  if (method === 'tools/call') {
    report({ kind: 'called', server: name, tool: params.name ?? '', arguments: params.arguments ?? {} })
    write({ id, ...(await replied(params.name ?? '', params.arguments ?? {})) })
    return
  }
  const handler = handlers[method]
  if (handler === undefined) write({ id, error: { code: -32601, message: 'Method not found' } })
  else write({ id, result: handler(params) })
}

async function replied(tool: string, args: Record<string, unknown>): Promise<Reply> {
  if (!tools.some((each) => each.name === tool)) return { error: { code: -32602, message: `Unknown tool: ${tool}` } }
  return replyTo(tool, args, ask)
}

function ask(params: object): Promise<unknown> {
  const id = `ask-${asked.size}`
  return new Promise((resolve) => {
    asked.set(id, resolve)
    write({ id, method: 'elicitation/create', params })
  })
}

function write(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}
