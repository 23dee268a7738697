import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'
import { isAlive, until } from '../../../../client/test/processes.ts'
import { server, watched } from '../../../test/upstreams.ts'
import { Guard } from './guard.ts'

/** A gateway process with two upstreams, and the pids of all its descendants, the guard last. */
async function holder() {
  const { command, args = [] } = server('holder.mjs', '2')
  const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const pids: readonly number[] = JSON.parse(String(line))
  return {
    child,
    pids,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
    },
  }
}

const gone = (pids: readonly number[]): Promise<void> => until(() => !pids.some(isAlive), `${pids.filter(isAlive).join()} to end`)

describe.skipIf(process.platform === 'win32')('no upstream process, nor a descendant of it, outlives the gateway', () => {
  test.each(['SIGTERM', 'SIGKILL'] as const)('terminated by %s', async (signal) => {
    await using gateway = await holder()
    expect(gateway.pids).toHaveLength(5)
    expect(gateway.pids.filter(isAlive)).toHaveLength(5)
    gateway.child.kill(signal)
    await gone(gateway.pids)
  })

  test('killed after its guard, which had been replaced', async () => {
    await using gateway = await holder()
    const guard = gateway.pids.at(-1) ?? 0
    process.kill(guard, 'SIGKILL')
    await until(() => guardsOf(gateway.child.pid).length > 0 && !isAlive(guard), 'another guard')
    const guards = guardsOf(gateway.child.pid)
    gateway.child.kill('SIGKILL')
    await gone([...gateway.pids, ...guards])
  })

  test('that reloads them twenty times', async () => {
    const seen = new Set<number>()
    {
      await using all = watched()
      all.upstreams.events.on('stderr', ({ line }) => {
        if (line.startsWith('grandchild ')) seen.add(Number(line.split(' ')[1]))
      })
      for (let round = 0; round < 20; round++) {
        const env = { ROUND: String(round) }
        await all.upstreams.apply({ up: { target: { ...server('raw.mjs', 'parent'), env } } })
        await all.reaches('up', 'ready')
        seen.add(all.upstreams.get('up')?.status.pid ?? 0)
      }
    }
    expect(seen.size).toBe(40)
    await gone([...seen])
  }, 300_000)
})

test.skipIf(process.platform === 'win32')('a guard ends all running processes when it is closed', async () => {
  const guard = new Guard()
  const child = spawn('sleep', ['600'], { stdio: 'ignore', detached: true })
  const ended = spawn('sleep', ['600'], { stdio: 'ignore', detached: true })
  try {
    for (const { pid = 0 } of [child, ended]) guard.track(pid, 'started')
    guard.track(ended.pid ?? 0, 'ended')
    const exited = once(child, 'exit')
    guard.close()
    await exited
    expect(isAlive(ended.pid)).toBe(true)
  } finally {
    child.kill('SIGKILL')
    ended.kill('SIGKILL')
  }
})

/** The guard processes among the children of this process. */
function guardsOf(parent: number | undefined): readonly number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  return stdout.split('\n').flatMap((line) => {
    const [pid, ppid, ...args] = line.trim().split(/\s+/u)
    return Number(ppid) === parent && args.some((each) => each.endsWith('guard.mjs')) ? [Number(pid)] : []
  })
}
