import { describe, expect, test } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { textOf } from '../result-text.ts'
import { runningGateway } from './running.ts'
import { type Era, scripted } from './scripted.ts'

const changes: readonly (readonly [Era, Era])[] = [
  ['session', 'stateless'],
  ['stateless', 'session'],
]

describe.each(changes)('a server that returns in another era (%s, then %s)', (before, after) => {
  test('AT-R03-1: the next calls work, and the gateway has not disconnected from it', async () => {
    await using odd = await scripted({ era: before })
    await using all = await runningGateway({ odd: { url: odd.url, pingMs: 0 } })
    await using client = await all.connect()
    await all.lists('odd__one')
    expect(textOf(await client.call('odd__one'))).toBe(`one in ${before}`)
    for (const era of [after, before]) {
      odd.restart(era)
      // A call that is sent on a connection before its end is noticed fails, and may have had an effect.
      const isCalled = async (): Promise<boolean> => textOf(await client.call('odd__one')) === `one in ${era}`
      await until(isCalled, `a call in the ${era} era`)
      expect(all.gateway.upstreams.get('odd')?.status.era).toBe(era)
      // A list that was being read at that moment is read again.
      await all.reaches('odd', 'ready')
    }
    expect(all.of('connected', 'odd').length).toBeLessThanOrEqual(1)
  })

  test('AT-R03-2: a rejected ping is enough', async () => {
    await using odd = await scripted({ era: before })
    await using all = await runningGateway({ odd: { url: odd.url, pingMs: 100 } })
    await all.lists('odd__one')
    odd.restart(after)
    await until(() => all.gateway.upstreams.get('odd')?.status.era === after, `it is used in the ${after} era`)
    await all.reaches('odd', 'ready')
  })
})

test('AT-R03-3: a server that rejects every ping keeps its session, and is probed for another revision only once', async () => {
  let pings = 0
  await using odd = await scripted({
    intercept: ({ message, response }) => {
      if (message.method !== 'ping') return false
      pings++
      response.writeHead(400).end('what?')
      return true
    },
  })
  // The timeout of a ping is not longer than the interval.
  await using all = await runningGateway({ odd: { url: odd.url, pingMs: 1_000 } })
  await using client = await all.connect()
  await all.lists('odd__one')
  await until(() => pings > 3, 'pings of two sessions, and more of the first')
  expect(textOf(await client.call('odd__one'))).toBe('one in session')
  expect(odd.count('initialize')).toBe(2)
  expect(odd.count('DELETE')).toBe(1)
})

test('AT-R03-4: a server that returns and rejects every request does not stay ready', async () => {
  let isRefusing = false
  await using odd = await scripted({
    intercept: ({ response }) => {
      if (isRefusing) response.writeHead(400).end('what?')
      return isRefusing
    },
  })
  await using all = await runningGateway({ odd: { url: odd.url, pingMs: 0 } })
  await using client = await all.connect()
  await all.lists('odd__one')
  isRefusing = true
  await client.call('odd__one')
  await until(() => all.gateway.upstreams.get('odd')?.status.lastError?.includes('HTTP 400') === true, 'the error')
  expect(all.state('odd')).not.toBe('ready')
  isRefusing = false
  await all.reaches('odd', 'ready')
  expect(textOf(await client.call('odd__one'))).toBe('one in session')
})
