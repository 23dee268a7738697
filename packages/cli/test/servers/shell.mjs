// A server with one tool that runs a program, as the shell tool of a host does.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const reply = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)

const run = (argv) =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
    child.once('close', (code) => resolve(`exit ${code}\n${output}`))
  })

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  if (method === 'initialize')
    reply(id, {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'shell', version: '1.0.0' },
    })
  else if (method === 'tools/list') reply(id, { tools: [{ name: 'run', inputSchema: { type: 'object' } }] })
  else if (method === 'tools/call') reply(id, { content: [{ type: 'text', text: await run(params.arguments.argv) }] })
  else reply(id, {})
}
