import { expect, test } from 'vitest'
import { runs } from '../../../../test/runs.ts'
import { until } from '../../../client/test/processes.ts'
import { type Kind, Peer } from './peer.ts'
import { faultProxy } from './proxy.ts'
import { runningGateway } from './running.ts'

/** Pseudo-random numbers from a seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A server of this kind behind an unreliable network. */
async function remote(kind: Kind) {
  const peer = await Peer.open(kind)
  const proxy = await faultProxy(peer.port)
  return {
    kind,
    peer,
    proxy,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      await peer[Symbol.asyncDispose]()
    },
  }
}

const title = 'with real servers on an unreliable network, the list matches the servers in the end'

test.each([1, 2])(`${title} (%i)`, { timeout: 300_000 }, async (seed) => {
  const next = numbers(seed)
  await using stdio = await remote('stdio')
  await using http = await remote('http')
  await using listen = await remote('listen')
  await using sse = await remote('sse')
  const remotes = [stdio, http, listen, sse] as const
  // Periodic polling would hide a missed change.
  const settings = { sweepMs: 0, pingMs: 150, startTimeoutMs: 1_000, graceMs: 200 }
  const patient = { ...settings, pingMs: 2_000, startTimeoutMs: 30_000 }
  const configured = (common: object): Record<string, object> =>
    Object.fromEntries(remotes.map(({ kind, peer, proxy }) => [kind, { ...peer.config(proxy.port), ...common }]))
  await using all = await runningGateway(configured(settings))
  for (let round = 0; round < runs({ long: 1_200, sample: 60 }); round++) {
    const { peer, proxy, kind } = remotes[next(4)] ?? stdio
    const name = `tool_${next(6)}`
    const burst = (): void => {
      for (let each = 0; each < 10; each++) peer.put(`burst_${each}`, `As of ${round}`)
    }
    const actions = [
      () => peer.put(name, `As of ${round}`),
      () => peer.put(name, `As of ${round}`),
      () => peer.remove(name),
      burst,
      () => proxy.cut(),
      () => proxy.reset(),
      () => peer.forget(),
      () => proxy.behave(next(2) === 0 ? 'half-open' : 'refuse'),
      () => proxy.behave('fine'),
      () => proxy.behave('latency'),
      () => all.gateway.upstreams.restart(kind),
    ]
    actions[next(actions.length)]?.()
    await pause(next(30))
  }
  for (const { proxy } of remotes) proxy.behave('fine')
  const had = (): readonly string[] =>
    remotes.flatMap(({ kind, peer }) => [...peer.tools].map(([name, description]) => `${kind}__${name}: ${description}`))
  const listed = (): readonly string[] => all.gateway.source.entries().map(({ tool }) => `${tool.name}: ${tool.description}`)
  const isSame = (): boolean => listed().join('\n') === had().join('\n')
  // On a busy machine, connections that work may not answer within the short timeouts. New timeouts apply without a new connection.
  await until(isSame, 'the list matches with short timeouts', 10_000).catch(() => all.edit(configured(patient)))
  // On a timeout, the difference is more helpful than the timeout itself.
  await until(isSame, 'the list matches').catch(() => undefined)
  expect(listed()).toEqual(had())
})
