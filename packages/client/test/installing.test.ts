import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { connect } from '../src/connect.ts'
import type { Clock } from '../src/time/clock.ts'
import type { ProcessState } from '../src/transports/server-process.ts'
import { failure } from './failing.ts'
import { fakeLauncher } from './launcher.ts'
import { isAlive, until } from './processes.ts'

/** Clock whose timers the test fires by their length. */
function manualClock() {
  const timers = new Map<number, () => void>()
  const after: Clock['after'] = (ms, work) => {
    timers.set(ms, work)
    return () => timers.delete(ms)
  }
  return { timers, clock: { now: () => 0, wallTime: () => 0, after } }
}

describe.skipIf(process.platform === 'win32')('a server that is started through a launcher', () => {
  test('has a separate timeout for installation; the start timeout begins with its first message', async () => {
    await using npx = await fakeLauncher()
    const { timers, clock } = manualClock()
    const lives: ProcessState[] = []
    const connecting = connect(npx.target('slow'), {
      clock,
      timeoutMs: 30_000,
      installTimeoutMs: 600_000,
      onProcess: (_pid, life) => lives.push(life),
    })
    await until(async () => (await npx.halfInstalled()).includes('slow'), 'it is being installed')
    expect(lives).toEqual(['installing'])
    expect([timers.has(30_000), timers.has(600_000)]).toEqual([false, true])
    await npx.finish('slow')
    await until(() => lives.length > 1, 'its first message')
    await using connection = await connecting
    expect(connection.server.name).toBe('slow')
    expect(lives).toEqual(['installing', 'started'])
  })

  test('receives SIGTERM on timeout and can clean up', async () => {
    await using npx = await fakeLauncher()
    const { timers, clock } = manualClock()
    // Longer than the grace period of other servers.
    const target = npx.target('stuck', { LAUNCHER_ROLLBACK_MS: '3000' })
    let lines = 0
    const onStderr = (): void => {
      lines++
    }
    const failing = failure(connect(target, { clock, timeoutMs: 30_000, installTimeoutMs: 600_000, onStderr }))
    await until(async () => lines > 0 && (await npx.halfInstalled()).includes('stuck'), 'it is being installed')
    timers.get(600_000)?.()
    expect(await failing).toMatchObject({
      reason: 'timeout',
      details: { timeoutMs: 600_000, isInstalling: true, lastLines: ['Downloading stuck'] },
    })
    expect((await npx.events()).map(({ what }) => what)).toEqual(['begun', 'installing', 'rolled-back'])
    expect(await npx.halfInstalled()).toEqual([])
  }, 300_000)

  test('can clean up also when connecting is cancelled or the parent process exits', async () => {
    await using npx = await fakeLauncher()
    const stop = new AbortController()
    const connecting = failure(connect(npx.target('first'), { signal: stop.signal }))
    await until(async () => (await npx.halfInstalled()).includes('first'), 'it is being installed')
    stop.abort()
    expect(await connecting).toMatchObject({ reason: 'cancelled' })
    expect(await npx.halfInstalled()).toEqual([])
    const quitter = fileURLToPath(new URL('servers/quitter.mjs', import.meta.url))
    const child = spawn(process.execPath, [quitter, JSON.stringify(npx.target('second'))], {
      stdio: ['pipe', 'inherit', 'inherit'],
    })
    await until(async () => (await npx.halfInstalled()).includes('second'), 'it is being installed')
    const exited = once(child, 'exit')
    child.stdin.end()
    await exited
    await until(async () => (await npx.halfInstalled()).length === 0, 'it cleaned up')
    const { pid } = (await npx.events()).at(-1) ?? {}
    await until(() => !isAlive(pid), 'its end')
  })

  test('reports the first error it prints, not the last line', async () => {
    await using npx = await fakeLauncher()
    const error = await failure(connect(npx.target('unset')))
    expect(error).toMatchObject({ reason: 'server_died', details: { firstError: 'STATION_TOKEN is not set' } })
    expect(error.message).toMatch(/^npx exited with code 1: STATION_TOKEN is not set\nLast stderr output:\n/u)
  })
})
