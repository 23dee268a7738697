import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../test/runs.ts'
import { isAlive, until } from '../../../client/test/processes.ts'
import { gatewayFolder } from '../gateway-file.ts'
import { textOf } from '../result-text.ts'
import { server } from '../upstreams.ts'
import { runningGateway } from './running.ts'

const own = (file: string): string => fileURLToPath(new URL(file, import.meta.url))
const tree = (...args: readonly string[]) => ({ command: 'sh', args: [own('tree.sh'), ...args] })

/** The running processes of these process groups. */
function membersOf(leaders: ReadonlySet<number>): readonly number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,pgid=,stat='], { encoding: 'utf8' })
  return stdout.split('\n').flatMap((line) => {
    const [pid, group, state = ''] = line.trim().split(/\s+/u)
    return leaders.has(Number(group)) && !state.startsWith('Z') ? [Number(pid)] : []
  })
}

describe.skipIf(process.platform === 'win32')('the process of an upstream', () => {
  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'terminated by %s fails its calls with a message, and nothing else is affected',
    async (signal) => {
      const { command, args } = server('toolbox.mjs')
      await using all = await runningGateway({ up: { command, args }, other: tree() })
      await Promise.all([all.lists('up__wait'), all.lists('other__one')])
      await using client = await all.connect()
      const pid = Number(textOf(await client.call('up__pid')))
      const other = all.gateway.upstreams.get('other')?.status.pid
      const call = client.call('up__wait')
      await until(() => all.of('stderr', 'up').some(({ line }) => line === 'waiting'), 'the call is running')
      const read = all.of('listed', 'up').length
      process.kill(pid, signal)
      const result = await call
      expect(result.isError).toBe(true)
      expect(textOf(result)).toContain(`The server "up" ended (by ${signal}) while "wait" was running, and is being restarted.`)
      // A call that arrives meanwhile waits for the next process.
      expect(Number(textOf(await client.call('up__pid')))).not.toBe(pid)
      await until(() => all.of('listed', 'up').length === read + 1, 'its tools were read again')
      expect(client.notices).toBe(0)
      expect(all.gateway.upstreams.get('other')?.status.pid).toBe(other)
    },
  )

  test('that is suspended is detected by a ping, replaced, and ended', async () => {
    const { command, args } = server('toolbox.mjs')
    await using all = await runningGateway({ up: { command, args, pingMs: 200 }, other: tree() })
    await Promise.all([all.lists('up__pid'), all.lists('other__one')])
    await using client = await all.connect('stateless')
    const pid = Number(textOf(await client.call('up__pid')))
    process.kill(pid, 'SIGSTOP')
    await until(() => all.of('state', 'up').some(({ state }) => state === 'reconnecting'), 'it is found out')
    expect(all.state('other')).toBe('ready')
    expect(Number(textOf(await client.call('up__pid')))).not.toBe(pid)
    await until(() => !isAlive(pid), 'the suspended process has exited')
    expect(client.notices).toBe(0)
  })

  test('leaves no processes behind, however many it started and however often it is replaced', async () => {
    const leaders = new Set<number>()
    const rounds = runs({ long: 200, sample: 8 })
    const wanted = (round: number) => ({ up: { ...tree(), env: { ROUND: String(round) } } })
    {
      await using all = await runningGateway(wanted(0), { rest: { store: { kind: 'memory' } } })
      const { upstreams } = all.gateway
      const pid = (): number => upstreams.get('up')?.status.pid ?? 0
      for (let round = 1; round <= rounds; round++) {
        await until(() => pid() > 0 && !leaders.has(pid()), `process ${round}`)
        leaders.add(pid())
        if (round < rounds) await all.edit(wanted(round))
      }
      expect(leaders.size).toBe(rounds)
      await all.lists('up__one')
      await until(() => membersOf(leaders).length === 3, 'only the processes of the last one are running')
    }
    // The system may take a moment to remove killed processes.
    await until(() => membersOf(leaders).length === 0, 'all processes have ended')
  }, 300_000)
})

describe.skipIf(process.platform === 'win32')('no process outlives a gateway, even if it ignores signals', () => {
  test.concurrent.each(['SIGTERM', 'SIGKILL'] as const)('terminated by %s', async (signal) => {
    await using folder = await gatewayFolder()
    const file = join(folder.path, 'unfold.json')
    await writeFile(file, JSON.stringify({ mcpServers: { stubborn: tree('stubborn'), polite: tree() } }))
    const gateway = spawn(process.execPath, [own('gateway.mjs'), file, folder.path], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const exited = once(gateway, 'exit')
      const [line] = await once(createInterface({ input: gateway.stdout }), 'line')
      const { pids, guard }: { pids: readonly number[]; guard: number } = JSON.parse(String(line))
      const leaders = new Set(pids)
      await until(() => membersOf(leaders).length === 6, 'all processes are running')
      gateway.kill(signal)
      await exited
      await until(() => membersOf(leaders).length === 0 && !isAlive(guard), 'all processes have exited')
    } finally {
      gateway.kill('SIGKILL')
    }
  })
})
