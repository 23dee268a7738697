// A gateway as a separate process. Once all are running, it prints the pids of its upstreams and of their guard.
import { startGateway } from '@unfold-mcp/gateway'

const [file, home] = process.argv.slice(2)
const quiet = () => undefined
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
const running = await startGateway({ file, environment: {}, home, log, port: 0 })
const { upstreams } = running.gateway
process.on('SIGTERM', () => void running.close().then(() => process.exit(0)))
const waiting = setInterval(() => {
  const all = upstreams.statuses()
  if (all.some(({ state, tools }) => state !== 'ready' || tools === 0)) return
  clearInterval(waiting)
  process.stdout.write(`${JSON.stringify({ pids: all.map(({ pid }) => pid), guard: upstreams.guardPid })}\n`)
}, 10)
