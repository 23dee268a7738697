import { describe, expect, test } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { textOf } from '../result-text.ts'
import { type Kind, Peer } from './peer.ts'
import { faultProxy } from './proxy.ts'
import { runningGateway } from './running.ts'

const quick = { pingMs: 200, startTimeoutMs: 600, graceMs: 300, sweepMs: 0 }
const remote: readonly Kind[] = ['http', 'listen', 'sse']

describe.each(remote)('between the gateway and an upstream (%s)', (kind) => {
  test.each(['cut', 'reset'] as const)(
    'a connection that is %s fails its call with a clear message, and nothing else',
    async (fault) => {
      await using peer = await Peer.open(kind, ['one', 'wait'])
      await using other = await Peer.open('stdio')
      await using proxy = await faultProxy(peer.port)
      await using all = await runningGateway({ up: { ...peer.config(proxy.port), sweepMs: 0 }, other: other.config() })
      await Promise.all([all.lists('up__wait'), all.lists('other__one')])
      await using client = await all.connect()
      const calling = client.call('up__wait')
      await until(() => peer.calls.includes('wait'), 'the call has arrived')
      proxy[fault]()
      const result = await calling
      expect(result.isError).toBe(true)
      expect(textOf(result)).toMatch(/^The server "up" disconnected while "wait" was running\. The call may have had an effect/u)
      expect(textOf(await client.call('other__one'))).toBe('one was called')
      expect(textOf(await client.call('up__one'))).toBe('one was called')
      expect(peer.calls).toEqual(['wait', 'one'])
      // Its tools are unchanged, so clients are not notified.
      await until(() => peer.subscribers > 0, 'it is subscribed to again')
      peer.put('two')
      await all.lists('up__two')
      await until(() => client.notices === 1, 'one notification')
      expect(all.of('state', 'other').filter(({ state }) => state !== 'ready')).toEqual([])
    },
  )

  test('a dead connection that stays open is detected; its tools disappear with one notification and return with one', async () => {
    await using peer = await Peer.open(kind)
    await using other = await Peer.open('stdio')
    await using proxy = await faultProxy(peer.port)
    await using all = await runningGateway({ up: { ...peer.config(proxy.port), ...quick }, other: other.config() })
    await Promise.all([all.lists('up__one'), all.lists('other__one')])
    await using client = await all.connect('stateless')
    await until(() => peer.subscribers > 0, 'it is subscribed to')
    proxy.behave('half-open')
    await all.reaches('up', 'reconnecting')
    // The result also says what is no longer listed, if the list changes during the call.
    expect(textOf(await client.call('other__one'))).toMatch(/^one was called/u)
    await until(() => client.notices === 1, 'its tools are gone')
    expect(await client.names()).toEqual(['other__one'])
    await expect(client.call('up__one')).rejects.toThrow('Tool "up__one" not found')
    peer.tools.set('two', 'Added while disconnected')
    proxy.cut()
    proxy.behave('fine')
    await until(() => client.notices === 2, 'its tools are back')
    expect(await client.names()).toEqual(['up__one', 'up__two', 'other__one'])
    expect(textOf(await client.call('up__two'))).toBe('two was called')
    expect(client.notices).toBe(2)
  })

  test('late and slow bytes do not delay other calls, and every response reaches its request', async () => {
    const names = Array.from({ length: 20 }, (_, each) => `tool_${each}`)
    await using peer = await Peer.open(kind, [...names, 'wait'])
    await using other = await Peer.open('stdio')
    await using proxy = await faultProxy(peer.port)
    proxy.behave('slow')
    await using all = await runningGateway({ up: peer.config(proxy.port), other: other.config() })
    await Promise.all([all.lists('up__wait'), all.lists('other__one')])
    await using client = await all.connect()
    const stop = new AbortController()
    const waiting = client.call('up__wait', {}, stop.signal).catch(() => 'stopped')
    await until(() => peer.calls.includes('wait'), 'a call without a response')
    expect(textOf(await client.call('other__one'))).toBe('one was called')
    proxy.behave('latency')
    const answers = await Promise.all(names.map(async (name) => textOf(await client.call(`up__${name}`))))
    expect(answers).toEqual(names.map((name) => `${name} was called`))
    stop.abort()
    expect(await waiting).toBe('stopped')
  })

  test('a server that is unreachable at first is retried, and the gateway serves the others', async () => {
    await using peer = await Peer.open(kind)
    await using other = await Peer.open('stdio')
    await using proxy = await faultProxy(peer.port)
    proxy.behave('refuse')
    await using all = await runningGateway({ up: { ...peer.config(proxy.port), ...quick }, other: other.config() })
    await using client = await all.connect()
    await all.lists('other__one')
    await all.reaches('up', 'failed')
    expect(await client.names()).toEqual(['other__one'])
    proxy.behave('fine')
    await all.lists('up__one')
    expect(textOf(await client.call('up__one'))).toBe('one was called')
  })
})

describe('a session that the upstream has lost', () => {
  test('is replaced by the next call, which is sent once; the running call is not repeated', async () => {
    await using peer = await Peer.open('http', ['one', 'wait'])
    await using all = await runningGateway({ up: { ...peer.config(), sweepMs: 0, pingMs: 0 } })
    await all.lists('up__wait')
    await using client = await all.connect()
    const running = client.call('up__wait')
    await until(() => peer.calls.includes('wait'), 'the call has arrived')
    const begun = (): number => peer.asked.filter((method) => method === 'initialize').length
    expect(begun()).toBe(1)
    peer.forget()
    peer.tools.set('two', 'Came with the restart')
    expect(textOf(await client.call('up__one'))).toBe('one was called')
    expect(textOf(await running)).toContain('disconnected while')
    await all.lists('up__two')
    expect(begun()).toBe(2)
    expect(peer.calls).toEqual(['wait', 'one'])
  })
})
