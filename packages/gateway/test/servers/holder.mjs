// A process with upstreams, each of which has started a child process. It prints all pids, and waits to be killed.
import { fileURLToPath } from 'node:url'
import { Upstreams } from '@unfold-mcp/gateway'

const [count] = process.argv.slice(2)
const program = fileURLToPath(new URL('dist/toolbox.cjs', import.meta.url))
const upstreams = new Upstreams()
const pids = []
const total = Number(count)
const say = () => {
  const own = upstreams.statuses().flatMap(({ pid }) => (pid === undefined ? [] : [pid]))
  if (own.length === total && pids.length === total)
    process.stdout.write(`${JSON.stringify([...own, ...pids, upstreams.guardPid])}\n`)
}
upstreams.events.on('stderr', ({ line }) => {
  if (line.startsWith('grandchild ')) pids.push(Number(line.split(' ')[1]))
  say()
})
upstreams.events.on('listed', say)
const target = { command: process.execPath, args: [program, 'parent'] }
await upstreams.apply(Object.fromEntries(Array.from({ length: total }, (_, each) => [`up${each}`, { target }])))
process.on('SIGTERM', () => void upstreams.close().then(() => process.exit(0)))
setInterval(() => undefined, 1_000)
