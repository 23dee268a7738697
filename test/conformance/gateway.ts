import { connect } from '@unfold-mcp/client'
import { until } from '../../packages/client/test/processes.ts'
import { runningGateway } from '../../packages/gateway/test/faults/running.ts'
import { balance } from '../cluster/balancer.ts'
import { startRedis } from '../redis.ts'
import { serveFixture } from './fixture.ts'
import { prefixing, sessionsAlone } from './front.ts'
import type { Serve } from './suite.ts'

interface Gateways {
  readonly url: string
  close(): Promise<void>
}

/** Serves the fixture, as a server of one era, through gateways that keep the tool names. */
const serveBehind =
  (gateways: (servers: Readonly<Record<string, object>>, tools: number) => Promise<Gateways>): Serve =>
  async (era) => {
    const fixture = await serveFixture()
    const server = era === 'session' ? await sessionsAlone(fixture.url) : undefined
    const direct = await connect({ url: fixture.url })
    const names = (await direct.tools()).map(({ name }) => name)
    await direct.close()
    // Tools added later keep their names as well.
    const kept = [...names, 'test_changing_tool'].map((name) => [name, { name }])
    const behind = { url: server?.url ?? fixture.url, tools: Object.fromEntries(kept) }
    const all = await gateways({ fixture: behind }, names.length)
    const front = await prefixing(all.url, 'fixture__')
    return {
      url: front.url,
      async [Symbol.asyncDispose]() {
        await front[Symbol.asyncDispose]()
        await all.close()
        await server?.[Symbol.asyncDispose]()
        await fixture.close()
      },
    }
  }

async function started(servers: Readonly<Record<string, object>>, tools: number, rest: object) {
  const gateway = await runningGateway(servers, { rest: { store: { kind: 'memory' }, ...rest } })
  await until(() => gateway.listed().length >= tools, 'the gateway lists the tools of the fixture')
  return gateway
}

export const serveBehindGateway = serveBehind(async (servers, tools) => {
  const { url = '', close } = await started(servers, tools, {})
  return { url, close }
})

/** Three replicas that share a Redis, behind a load balancer that sends each request to the next one. */
export const serveBehindReplicas = serveBehind(async (servers, tools) => {
  const redis = await startRedis()
  const cluster = { url: redis.url, secret: 'a secret of more than thirty-two characters' }
  const replicas = await Promise.all([1, 2, 3].map(() => started(servers, tools, { cluster })))
  const balancer = await balance(replicas.map(({ url = '' }) => Number(new URL(url).port)))
  return {
    url: balancer.url,
    async close() {
      await balancer[Symbol.asyncDispose]()
      await Promise.all(replicas.map(({ close }) => close()))
      await redis[Symbol.asyncDispose]()
    },
  }
})
