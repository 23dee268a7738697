// Fake npx: installs a package slowly, then acts as its server. Every step is written to
// $LAUNCHER_STATE, so that a test sees what ran concurrently and what was killed halfway.
//   <package>.part     exists during the installation
//   <package>.done     exists afterwards
//   <package>.go       written by a test to continue the installation
//   events             one line per event
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'

const state = process.env.LAUNCHER_STATE
const name = process.argv.slice(2).find((word) => !word.startsWith('-'))
const file = (ending) => join(state, `${name}.${ending}`)
const note = (what) => appendFileSync(join(state, 'events'), `${what} ${name} ${process.pid}\n`)

note('begun')
if (name === 'damaged') {
  const folder = join(process.env.npm_config_cache, '_npx', '5b2dd62b9d0bddd4')
  if (existsSync(folder)) {
    process.stderr.write(
      `Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from ${folder}/node_modules/x/index.js\n`,
    )
    process.exit(1)
  }
}
if (name === 'unset') {
  process.stderr.write('Error: STATION_TOKEN is not set\n\nUsage: unset [options]\n  --token  The token\n')
  process.exit(1)
}
if (!existsSync(file('done'))) {
  let isEnded = false
  process.on('SIGTERM', () => {
    isEnded = true
  })
  process.stderr.write(`Downloading ${name}\n`)
  note('installing')
  writeFileSync(file('part'), '')
  while (!existsSync(file('go'))) {
    await wait(10)
    if (!isEnded) continue
    // Like npm, takes longer than the grace period of other servers.
    await wait(Number(process.env.LAUNCHER_ROLLBACK_MS ?? 0))
    rmSync(file('part'))
    note('rolled-back')
    process.exit(1)
  }
  process.removeAllListeners('SIGTERM')
  rmSync(file('part'))
  writeFileSync(file('done'), '')
  note('installed')
}

const answers = {
  initialize: ({ params }) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name, version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [{ name: 'go', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: name }] }),
}
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  const { id, method } = message
  if (id === undefined) continue
  const reply = Object.hasOwn(answers, method)
    ? { result: answers[method](message) }
    : { error: { code: -32601, message: 'Method not found' } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`)
}
process.exit(0)
