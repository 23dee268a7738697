import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainAgent } from '../../bench/src/hosts/agents/chain.ts'
import { claudeCode } from '../../bench/src/hosts/drivers/claude-code.ts'
import { codex } from '../../bench/src/hosts/drivers/codex.ts'
import { geminiCli } from '../../bench/src/hosts/drivers/gemini-cli.ts'
import { commandOf, fullTitle } from '../../bench/src/hosts/installed.ts'
import { prompt, wishes } from '../../bench/src/hosts/lab.ts'
import { Offices } from '../../bench/src/hosts/offices.ts'
import { freePort } from '../../bench/src/hosts/ports.ts'
import { runHost } from '../../bench/src/hosts/run.ts'
import { type Balancer, balance } from '../cluster/balancer.ts'
import { type Replica, startReplica } from '../cluster/replica.ts'
import { redisServer, startRedis, type TestRedis } from '../redis.ts'

const wanted = [wishes.read, wishes.long, wishes.fail]

describe.skipIf(redisServer.isMissing)(`Hosts: three replicas behind a load balancer${redisServer.note}`, () => {
  let folder: string
  let offices: Offices
  let redis: TestRedis
  let balancer: Balancer
  const replicas: Replica[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unfold-lab-replicas-'))
    offices = await Offices.open()
    redis = await startRedis()
    const file = join(folder, 'unfold.json')
    await writeFile(file, JSON.stringify({ mcpServers: offices.config() }))
    for (const name of ['a', 'b', 'c']) {
      const env = {
        ...process.env,
        UNFOLD_HOME: join(folder, name),
        UNFOLD_CLUSTER_URL: redis.url,
        UNFOLD_CLUSTER_SECRET: 'a secret of more than thirty-two characters',
      }
      replicas.push(await startReplica({ name, file, port: await freePort(), env }))
    }
    balancer = await balance(replicas.map(({ port }) => port))
  }, 300_000)

  afterAll(async () => {
    await balancer?.[Symbol.asyncDispose]()
    for (const replica of replicas) await replica[Symbol.asyncDispose]()
    await redis?.[Symbol.asyncDispose]()
    await offices?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  const present = [claudeCode, codex, geminiCli].filter((driver) => commandOf(driver) !== undefined)

  test.each(present.map((driver) => [fullTitle(driver), driver] as const))(
    '%s continues when replicas are killed between its calls',
    async (_title, driver) => {
      const before = offices.calls.length
      const chain = chainAgent(wanted)
      let killed = 0
      const { turns } = await runHost(driver, {
        gateway: { url: balancer.url },
        prompt,
        agent: async (request, turn) => {
          const calls = offices.calls.length - before
          // After the first call one replica dies, after the second another; each starts again.
          if (calls > killed && killed < 2) {
            const replica = replicas[killed++]
            await replica?.kill()
            await replica?.start()
          }
          return chain(request, turn)
        },
      })
      const conversation = JSON.stringify(turns.at(-1)?.request)
      for (const wish of wanted) expect(conversation).toContain(wish.expect)
      expect(killed).toBe(2)
      expect(offices.calls.slice(before).map(({ tool }) => tool)).toEqual(wanted.map(({ tool }) => tool.split('__').at(-1)))
    },
  )
})
