import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { defineToolbox, type ListeningServer, listen } from '@unfold-mcp/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainAgent } from '../../bench/src/hosts/agents/chain.ts'
import { isAttempt, plainAgent } from '../../bench/src/hosts/agents/plain.ts'
import { exchangesOf } from '../../bench/src/hosts/agents/tools.ts'
import { claudeCode } from '../../bench/src/hosts/drivers/claude-code.ts'
import { codex } from '../../bench/src/hosts/drivers/codex.ts'
import type { Driver } from '../../bench/src/hosts/drivers/driver.ts'
import { geminiCli } from '../../bench/src/hosts/drivers/gemini-cli.ts'
import type { Turn } from '../../bench/src/hosts/endpoint/endpoint.ts'
import { commandOf, fullTitle } from '../../bench/src/hosts/installed.ts'
import { prompt, wishes } from '../../bench/src/hosts/lab.ts'
import { Offices } from '../../bench/src/hosts/offices.ts'
import { freePort } from '../../bench/src/hosts/ports.ts'
import { runHost } from '../../bench/src/hosts/run.ts'
import { type Balancer, balance } from '../cluster/balancer.ts'
import { type Replica, startReplica } from '../cluster/replica.ts'
import { redisServer, startRedis, type TestRedis } from '../redis.ts'

const wanted = [wishes.read, wishes.long, wishes.fail]

const exported = {
  server: 'depot',
  tool: 'export_stock',
  arguments: {},
  query: 'export the stock of a depot',
  expect: 'stock exported',
}

describe.skipIf(redisServer.isMissing)(`Hosts: three replicas behind a load balancer${redisServer.note}`, () => {
  let folder: string
  let offices: Offices
  let redis: TestRedis
  let balancer: Balancer
  let depot: ListeningServer
  /** Called when the export starts; its result waits for it. */
  let exporting: () => Promise<void> = async () => undefined
  const replicas: Replica[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unfold-lab-replicas-'))
    offices = await Offices.open()
    redis = await startRedis()
    const file = join(folder, 'unfold.json')
    const toolbox = defineToolbox({ name: 'depot', version: '1.0.0' }).tool(
      exported.tool,
      { description: 'Export the stock of a depot' },
      async () => {
        await exporting()
        return exported.expect
      },
    )
    depot = await listen(toolbox, { port: 0 })
    await writeFile(file, JSON.stringify({ mcpServers: { ...offices.config(), depot: { url: depot.url } } }))
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
    await depot?.close()
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

  /** Runs a host whose first export is disturbed. Returns what its model got as results. */
  async function disturbed(driver: Driver, disturb: () => Promise<void>): Promise<{ results: readonly string[]; runs: number }> {
    let runs = 0
    let disturbing: Promise<void> | undefined
    exporting = async () => {
      if (++runs === 1) disturbing = disturb()
      // The host may have repeated the call meanwhile.
      if (runs === 1) await disturbing
    }
    try {
      const { turns } = await runHost(driver, { gateway: { url: balancer.url }, prompt, agent: plainAgent(exported) })
      const exchanges = turns.length === 0 ? [] : exchangesOf((turns.at(-1) as Turn).request)
      return { results: exchanges.filter((each) => isAttempt(each, exported)).map(({ result }) => result.text), runs }
    } finally {
      await disturbing
      exporting = async () => undefined
      balancer.ports = replicas.map(({ port }) => port)
    }
  }

  test.each(present.map((driver) => [fullTitle(driver), driver] as const))(
    '%s continues when the replica that runs its call is killed',
    async (_title, driver) => {
      const [first, ...others] = replicas
      balancer.ports = first === undefined ? [] : [first.port]
      const { results, runs } = await disturbed(driver, async () => {
        balancer.ports = others.map(({ port }) => port)
        await first?.kill()
        await first?.start()
      })
      console.error(`${driver.id}, replica killed: ${JSON.stringify(results)}`)
      expect(results.at(-1)).toContain(exported.expect)
      // The first call ended with an error, which the model saw, or which made the host repeat it.
      expect(runs).toBe(2)
    },
  )

  test.each(present.map((driver) => [fullTitle(driver), driver] as const))(
    '%s continues when the connection breaks during its call',
    async (_title, driver) => {
      const [first, ...others] = replicas
      balancer.ports = first === undefined ? [] : [first.port]
      const { results, runs } = await disturbed(driver, async () => {
        balancer.ports = others.map(({ port }) => port)
        // The reply has become a stream that the client can resume.
        await pause(1_000)
        balancer.disconnect()
        await pause(1_000)
      })
      console.error(`${driver.id}, connection broken: ${runs} runs, ${JSON.stringify(results)}`)
      expect(results.at(-1)).toContain(exported.expect)
    },
  )
})
