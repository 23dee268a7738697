import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const pollMs = 2_000
const deadlineMs = 240_000

/** Waits until the gateway follows all servers at full speed: on a busy machine, its status says for a minute that it does not. */
export async function untilCalm(main, env) {
  const end = Date.now() + deadlineMs
  for (;;) {
    const { stdout } = await run(process.execPath, [main, 'status', '--json'], { env, maxBuffer: 16e6 })
    if (!stdout.includes('"slowdown"')) return
    if (Date.now() > end) throw new Error(`A server is still refreshed less often after ${deadlineMs / 1_000} s`)
    await delay(pollMs)
  }
}
