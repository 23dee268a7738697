// A gateway to the server of the other attacks, with the same tool names, so that the attacks apply to it as well. It sends
// its address and, on request, its health to its parent.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLog, startGateway } from '@unfold-mcp/gateway'

const health = { unhandled: [], aborted: 0, errors: 0 }
process.on('unhandledRejection', (error) => health.unhandled.push(String(error)))
process.on('uncaughtException', (error) => health.unhandled.push(String(error)))

const names = ['ping', 'echo', 'measure', 'weigh', 'route', 'wait', 'wait_deaf', 'give_50mb']
const home = await mkdtemp(join(tmpdir(), 'unfold-attacked-'))
const file = join(home, 'unfold.json')
const target = {
  command: process.execPath,
  args: [fileURLToPath(new URL('server.mjs', import.meta.url))],
  tools: Object.fromEntries(names.map((name) => [name, { name }])),
}
const config = { store: { kind: 'memory' }, exposure: 'everything', mcpServers: { target } }
await writeFile(file, JSON.stringify({ ...config, ...JSON.parse(process.argv[2] ?? '{}') }))
const log = createLog({ level: 'error' })
const running = await startGateway({ file, environment: {}, home, log, port: 0 })
await running.gateway.upstreams.discoverTools('target')

async function end() {
  await running.close()
  await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  process.exit(0)
}

process.on('message', (message) => {
  if (message === 'End.') {
    void end()
    return
  }
  global.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  const polluted = Object.keys(Object.prototype).length > 0 || {}.polluted !== undefined
  process.send?.({ ...health, rss, heapUsed, polluted, sessions: 0 })
})
process.send?.({ url: running.url })
