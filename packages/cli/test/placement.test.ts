import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serverFile } from '../../../test/bundled-servers.ts'
import { redisServer, startRedis, type TestRedis } from '../../../test/redis.ts'
import { runs as runCount } from '../../../test/runs.ts'
import { until } from '../../client/test/processes.ts'
import { clusterSecret, freeLease } from '../../gateway/test/cluster/replicas.ts'
import { person } from '../../gateway/test/proxy-clients.ts'
import { home } from './command.ts'
import { startGatewayProcess } from './gateway-process.ts'

const stateful = serverFile(new URL('../../gateway/test/servers/stateful.mjs', import.meta.url))

const suspendedMs = runCount({ long: 60_000, sample: 0 })

interface Run {
  readonly pid: number
  /** First and last sign of life, in microseconds of the monotonic clock. */
  readonly from: bigint
  to: bigint
}

/** When the server was running, by process. */
async function runsIn(file: string): Promise<readonly Run[]> {
  const runs = new Map<number, Run>()
  for (const line of (await readFile(file, 'utf8').catch(() => '')).split('\n').slice(0, -1)) {
    const [pid, time = '0'] = line.split(' ')
    const run = runs.get(Number(pid))
    if (run === undefined) runs.set(Number(pid), { pid: Number(pid), from: BigInt(time), to: BigInt(time) })
    else run.to = BigInt(time)
  }
  return [...runs.values()].sort((a, b) => (a.from < b.from ? -1 : 1))
}

describe.skipIf(redisServer.isMissing || process.platform === 'win32')(
  `replicas with a stateful server${redisServer.note}`,
  () => {
    let redis: TestRedis

    beforeAll(async () => {
      redis = await startRedis()
    })
    afterAll(() => redis[Symbol.asyncDispose]())

    test('AT-M10-1 (M10): never run it twice: not if one is suspended and resumes, nor if one is killed', {
      timeout: 300_000,
    }, async () => {
      await using first = await home()
      await using second = await home()
      const file = join(first.folder, 'runs.txt')
      const config = {
        mcpServers: { state: { command: process.execPath, args: [stateful, file], placement: 'one' } },
        exposure: 'everything',
        store: { kind: 'memory' },
        cluster: { url: redis.url, secret: clusterSecret, leaseMs: 3_000 },
      }
      freeLease(redis, 'state')
      await using a = await startGatewayProcess(first, config)
      await using b = await startGatewayProcess(second, config)
      await using ada = await person(a.url, { era: 'session' })
      await using bob = await person(b.url, { era: 'session' })
      const runs = (): Promise<readonly Run[]> => runsIn(file)
      const counts = (each: typeof ada): Promise<string> => each.text('state__count').catch(String)
      expect(await counts(ada)).toMatch(/^\d+ 1$/u)
      expect(await counts(bob)).toMatch(/^\d+ 2$/u)
      const status = (await second.unfold(['status'])).stdout.replaceAll(/\s+/gu, ' ')
      expect(status).toMatch(/state ready .*runs on replica [\w-]+ \(http:\/\/127\.0\.0\.1:\d+\/mcp\)/u)
      expect((await first.unfold(['status', 'state'])).stdout).toMatch(/replica +runs on this replica/u)

      // The replica that runs it is suspended, with a call of the other one in progress.
      const stalled = bob.text('state__stall').catch(String)
      await until(async () => (await readFile(file, 'utf8')).includes('stall'), 'the call')
      const before = (await runs()).length
      process.kill(a.pid, 'SIGSTOP')
      expect(await stalled).toContain('The call may have had an effect: check before calling it again.')
      await until(async () => (await runs()).length > before, 'the other replica to start it')
      await until(async () => /^\d+ \d+$/u.test(await counts(bob)), 'a call on the other replica')
      // In the long run it is suspended for a minute: twenty leases.
      await pause(suspendedMs)
      process.kill(a.pid, 'SIGCONT')
      const pidOf = async (each: typeof ada): Promise<string | undefined> => /^(\d+) \d+$/u.exec(await counts(each))?.[1]
      await until(async () => {
        const pid = await pidOf(ada)
        return pid !== undefined && pid === (await pidOf(bob))
      }, 'both replicas to use the same process')

      // The replica that runs it now is killed.
      const [kept, killed] = (await second.unfold(['status', 'state'])).stdout.includes('runs on this replica') ? [a, b] : [b, a]
      const since = (await runs()).length
      process.kill(killed.pid, 'SIGKILL')
      await until(async () => (await runs()).length > since, 'the remaining replica to start it')
      await until(async () => /^\d+ \d+$/u.test(await counts(kept === a ? ada : bob)), 'a call on the remaining replica')

      const all = await runs()
      expect(all.length).toBeGreaterThanOrEqual(3)
      for (const [index, { from }] of all.entries()) expect(from).toBeGreaterThan(all[index - 1]?.to ?? 0n)
    })
  },
)
