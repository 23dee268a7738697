import { describe, expect, test } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { textOf } from '../result-text.ts'
import { server } from '../upstreams.ts'
import { runningGateway } from './running.ts'
import { event, events, scripted, type Turn } from './scripted.ts'

describe('a server that asks for a pause', () => {
  const pauses: readonly (readonly [string, () => string])[] = [
    ['in seconds', () => '30'],
    ['until a date', () => new Date(Date.now() + 30_500).toUTCString()],
  ]
  test.each(pauses)('AT-R04-1: (Retry-After %s) the next attempt to connect is not made before', async (_form, value) => {
    const refuse = ({ response }: Turn): boolean => {
      response.writeHead(503, { 'retry-after': value() }).end('Down for maintenance')
      return true
    }
    await using odd = await scripted({ intercept: refuse })
    await using all = await runningGateway({ odd: { url: odd.url } })
    const status = () => all.gateway.upstreams.get('odd')?.status
    await until(() => status()?.lastError !== undefined, 'the failure')
    expect(status()?.lastError).toMatch(/HTTP 503.*retry after (?:29|30|31) s/u)
    expect(status()?.nextRetryInMs).toBeGreaterThan(15_000)
    expect(odd.asked).toEqual(['server/discover'])
  })

  test('AT-R04-2: a call that is refused with 429 reports the pause and does not disconnect the server', async () => {
    const call = ({ response }: Turn): void => void response.writeHead(429, { 'retry-after': '7' }).end('Too many')
    await using odd = await scripted({ call })
    await using all = await runningGateway({ odd: { url: odd.url } })
    await using client = await all.connect()
    await all.lists('odd__one')
    const text = textOf(await client.call('odd__one'))
    expect(text).toContain('HTTP 429')
    expect(text).toContain('The tool was not called; retry after 7 s.')
    expect(all.state('odd')).toBe('ready')
    expect(odd.count('initialize')).toBe(1)
  })

  test('AT-R04-3: a server that is lost and asks for a pause gets one request, not several', async () => {
    let isDown = false
    let refused = 0
    const refuse = ({ message, response }: Turn): boolean => {
      if (!isDown) return false
      // The cancellation of a request that was running is a notification.
      if (message.id !== undefined) refused++
      response.writeHead(503, { 'retry-after': '30' }).end()
      return true
    }
    await using odd = await scripted({
      intercept: refuse,
      get: (_request, response) => void response.writeHead(200, events).write(':\n\n'),
    })
    await using all = await runningGateway({ odd: { url: odd.url } })
    await using client = await all.connect()
    await all.lists('odd__one')
    // Otherwise the first reads of its prompts and resources count too.
    await all.gateway.proxy.documentsRead()
    isDown = true
    odd.restart('session')
    await until(() => (all.gateway.upstreams.get('odd')?.status.nextRetryInMs ?? 0) > 20_000, 'the next attempt is late')
    const before = refused
    expect(before).toBeLessThanOrEqual(2)
    expect(textOf(await client.call('odd__one'))).toMatch(/unavailable.*next attempt is within (?:29|30) s/u)
    expect(refused).toBe(before)
  })
})

test.each([-5, 1e300, 1.5, '60000', null, { ms: 5 }])('AT-R04-4: a list with ttlMs %j is used', async (ttlMs) => {
  await using odd = await scripted({ era: 'stateless', list: { ttlMs } })
  await using all = await runningGateway({ odd: { url: odd.url } })
  await all.lists('odd__one')
  expect(all.state('odd')).toBe('ready')
})

test('AT-R04-5: a list with an unknown cacheScope is used, as a private one', async () => {
  await using odd = await scripted({ era: 'stateless', list: { cacheScope: 'everybody' } })
  await using all = await runningGateway({ odd: { url: odd.url } })
  await all.lists('odd__one')
})

test('AT-R04-6: a response over stdio with a result and an error is rejected', async () => {
  const { command, args = [] } = server('raw.mjs', 'both')
  await using all = await runningGateway({ odd: { command, args } })
  await using client = await all.connect()
  await all.lists('odd__more')
  const { isError, ...result } = await client.call('odd__more')
  expect(isError).toBe(true)
  expect(textOf(result)).toMatch(/both a result and an error/u)
})

describe('a result that arrives after its call has ended', () => {
  const secret = 'the-contents-of-a-late-result'

  test('AT-R04-7: (stdio) is neither logged nor reported', async () => {
    const { command, args = [] } = server('raw.mjs', 'late')
    await using all = await runningGateway({ odd: { command, args, timeoutMs: 300 } })
    await using client = await all.connect()
    await all.lists('odd__more')
    expect(textOf(await client.call('odd__more'))).toContain('did not respond')
    await until(() => all.of('stderr', 'odd').some(({ line }) => line === 'late'), 'the late result')
    // Sent after it, so received after it.
    await all.gateway.upstreams.get('odd')?.connection?.ping()
    expect(all.messages.filter((line) => line.includes(secret))).toEqual([])
    expect(all.of('warning', 'odd')).toEqual([])
  })

  test('AT-R04-8: (HTTP, on the notification stream) is neither logged nor reported', async () => {
    let push: ((text: string) => void) | undefined
    const call = ({ message: { id }, response }: Turn): void => {
      response.writeHead(200, events).write(': not yet\n\n')
      response.on('close', () => push?.(event({ id, result: { content: [{ type: 'text', text: secret }] } })))
    }
    await using odd = await scripted({
      call,
      get: (_request, response) => {
        response.writeHead(200, events).write(': hello\n\n')
        push = (text) => void response.write(text + event({ method: 'notifications/tools/list_changed' }))
      },
    })
    await using all = await runningGateway({ odd: { url: odd.url, timeoutMs: 300 } })
    await using client = await all.connect()
    await all.lists('odd__one')
    expect(textOf(await client.call('odd__one'))).toContain('did not respond')
    await until(() => all.of('list_changed', 'odd').length > 0, 'the notification after the late result')
    expect(all.messages.filter((line) => line.includes(secret))).toEqual([])
    expect(all.of('warning', 'odd')).toEqual([])
  })
})
