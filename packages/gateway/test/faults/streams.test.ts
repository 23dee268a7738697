import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { textOf } from '../result-text.ts'
import { runningGateway } from './running.ts'
import { type Era, event, events, scripted, type Turn } from './scripted.ts'

const eras = ['session', 'stateless'] as const satisfies readonly Era[]
const many = 120
const batch = 40
// Connections without a request in progress: of pings, lists and notifications.
const spare = 12

const texts = async (calls: readonly Promise<Parameters<typeof textOf>[0]>[]): Promise<readonly string[]> =>
  (await Promise.all(calls)).map(textOf)

describe.each(eras)('response streams of a server in the %s era', (era) => {
  test('AT-R01-1: a stream that stays open after the response is closed, and its connection with it', async () => {
    const call = ({ response, result }: Turn): void => void response.writeHead(200, events).write(event(result('answered')))
    await using odd = await scripted({ era, call })
    await using all = await runningGateway({ odd: { url: odd.url } })
    await using client = await all.connect()
    await all.lists('odd__one')
    for (let at = 0; at < many; at += batch)
      expect(await texts(Array.from({ length: batch }, () => client.call('odd__one')))).toEqual(Array(batch).fill('answered'))
    // Idle connections are closed a few seconds later.
    await until(() => odd.open <= spare, `all but a few of ${odd.open} connections are closed`)
    expect(textOf(await client.call('odd__one'))).toBe('answered')
  })

  test('AT-R01-2: what the server sends before the response arrives before it', async () => {
    const call = ({ message, response, result }: Turn): void => {
      response.writeHead(200, events)
      const progressToken = message.params?._meta?.progressToken
      for (const progress of [1, 2, 3])
        response.write(event({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } }))
      response.write(event(result('answered')))
    }
    await using odd = await scripted({ era, call })
    await using all = await runningGateway({ odd: { url: odd.url } })
    await all.lists('odd__one')
    const reports: number[] = []
    const upstream = all.gateway.upstreams.get('odd')
    await upstream?.call('one', {}, { onProgress: ({ progress }) => reports.push(progress) })
    expect(reports).toEqual([1, 2, 3])
  })

  test('AT-R01-3: the streams of cancelled calls and of calls that timed out are closed', async () => {
    const streams = new Set<ServerResponse>()
    const call = ({ response }: Turn): void => {
      streams.add(response)
      response.on('close', () => streams.delete(response))
      response.writeHead(200, events).write(': not yet\n\n')
    }
    await using odd = await scripted({ era, call })
    await using all = await runningGateway({ odd: { url: odd.url, timeoutMs: 2_000 } })
    await using client = await all.connect()
    await all.lists('odd__one')
    const cancel = new AbortController()
    const calls = Array.from({ length: 20 }, (_, index) => client.call('odd__one', {}, index < 10 ? cancel.signal : undefined))
    const settled = Promise.allSettled(calls)
    await until(() => odd.count('tools/call') === 20, 'all calls')
    cancel.abort()
    await settled
    await until(() => streams.size === 0, `${streams.size} streams are closed`)
  })

  test('AT-R01-4: a connection whose stream the server ends is used again', async () => {
    const call = ({ response, result }: Turn): void => {
      response.writeHead(200, events).write(event(result('answered')))
      setTimeout(() => response.end(), 5)
    }
    await using odd = await scripted({ era, call })
    await using all = await runningGateway({ odd: { url: odd.url } })
    await using client = await all.connect()
    await all.lists('odd__one')
    for (let time = 0; time < 30; time++) {
      expect(textOf(await client.call('odd__one'))).toBe('answered')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(odd.accepted).toBeLessThanOrEqual(spare)
  })
})

describe('a stream that ends before its response', () => {
  test('AT-R02-1: is resumed less and less often, and no more once the call has ended', async () => {
    const call = ({ response }: Turn): void => void response.writeHead(200, events).end('id: 1\nretry: 1\ndata:\n\n')
    let polls = 0
    await using odd = await scripted({
      call,
      get: (request, response) => {
        if (request.headers['last-event-id'] === undefined) {
          response.writeHead(405).end()
          return
        }
        polls++
        response.writeHead(200, events).end(': nothing\n\n')
      },
    })
    await using all = await runningGateway({ odd: { url: odd.url, timeoutMs: 2_000 } })
    await using client = await all.connect()
    await all.lists('odd__one')
    const lists = odd.count('tools/list')
    expect(textOf(await client.call('odd__one'))).toContain('did not respond to "one" within 2 s')
    const whenEnded = polls
    expect(whenEnded).toBeGreaterThan(0)
    expect(whenEnded).toBeLessThanOrEqual(5)
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(polls).toBe(whenEnded)
    // A resumed response stream is not the notification stream.
    expect(odd.count('tools/list')).toBe(lists)
  })

  test('AT-R02-2: is resumed after the last event, again if necessary, until the response arrives', async () => {
    const call = ({ message, response }: Turn): void => {
      id = message.id
      // The second event is incomplete; it is sent again.
      response.writeHead(200, events).write('id: first\ndata:\n\nid: second\ndata: {"jsonrpc"')
      setTimeout(() => response.socket?.resetAndDestroy(), 50)
    }
    let id: string | number | undefined
    const tokens: unknown[] = []
    await using odd = await scripted({
      call,
      get: (request, response) => {
        const token = request.headers['last-event-id']
        if (token === undefined) {
          response.writeHead(405).end()
          return
        }
        tokens.push(token)
        response.writeHead(200, events)
        if (tokens.length < 3) response.end(': nothing yet\n\n')
        else response.write(event({ id, result: { content: [{ type: 'text', text: 'answered' }] } }, 'second'))
      },
    })
    await using all = await runningGateway({ odd: { url: odd.url } })
    await using client = await all.connect()
    await all.lists('odd__one')
    expect(textOf(await client.call('odd__one'))).toBe('answered')
    expect(tokens).toEqual(['first', 'first', 'first'])
  })

  test('AT-R02-3: fails at once if the server refuses to resume it', async () => {
    const call = ({ response }: Turn): void => void response.writeHead(200, events).end('id: 1\ndata:\n\n')
    await using odd = await scripted({ call })
    await using all = await runningGateway({ odd: { url: odd.url } })
    await using client = await all.connect()
    await all.lists('odd__one')
    expect(textOf(await client.call('odd__one'))).toContain('disconnected while "one" was running')
    // The notification stream, and one attempt.
    expect(odd.count('GET')).toBe(2)
  })

  test('AT-R02-4: the notification stream of a server that ends it at once is opened less and less often', async () => {
    await using odd = await scripted({ get: (_request, response) => void response.writeHead(200, events).end('retry: 1\n\n') })
    await using all = await runningGateway({ odd: { url: odd.url } })
    await all.lists('odd__one')
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect(odd.count('GET')).toBeLessThanOrEqual(6)
  })
})
