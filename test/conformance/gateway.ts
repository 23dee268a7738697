import { connect } from '@unfold-mcp/client'
import { until } from '../../packages/client/test/processes.ts'
import { runningGateway } from '../../packages/gateway/test/faults/running.ts'
import { serveFixture } from './fixture.ts'
import { prefixing, sessionsAlone } from './front.ts'
import type { Serve } from './suite.ts'

/** Serves the fixture, as a server of one era, through a gateway that keeps the tool names. */
export const serveBehindGateway: Serve = async (era) => {
  const fixture = await serveFixture()
  const server = era === 'session' ? await sessionsAlone(fixture.url) : undefined
  const direct = await connect({ url: fixture.url })
  const names = (await direct.tools()).map(({ name }) => name)
  await direct.close()
  // Tools added later keep their names as well.
  const kept = [...names, 'test_changing_tool'].map((name) => [name, { name }])
  const behind = { url: server?.url ?? fixture.url, tools: Object.fromEntries(kept) }
  const all = await runningGateway({ fixture: behind }, { rest: { store: { kind: 'memory' } } })
  await until(() => all.listed().length >= names.length, 'the gateway lists the tools of the fixture')
  const front = await prefixing(all.url ?? '', 'fixture__')
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
