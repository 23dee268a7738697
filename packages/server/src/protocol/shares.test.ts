import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { testClient } from '../testing/client.ts'
import { testContext } from '../testing/context.ts'
import { defineToolbox } from '../toolbox.ts'
import { createHandler, type Handler, type HandlerOptions } from '../transports/handler.ts'

const plain = () => defineToolbox({ name: 'plain', version: '1.0.0' }).tool('ping', { description: 'Ping' }, () => 'pong')

/** Serves a toolbox to principals that name themselves in a header. */
const handlerFor = (options: HandlerOptions = {}): Handler =>
  createHandler(plain(), { authenticate: (request) => ({ id: request.headers.get('who') ?? '' }), ...options })

const connect = (handler: Handler, who: string, era: 'session' | 'stateless') =>
  testClient(
    new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
      requestInit: { headers: { who } },
      fetch: (url, init) => handler.fetch(new Request(url, init)),
    }),
    { era, listens: era === 'stateless' },
  )

describe.each(['session', 'stateless'] as const)('in the era "%s", one principal', (era) => {
  test('cannot take every session or stream: others still connect, and it learns what to do', async () => {
    await using handler = handlerFor({ sessions: { max: 8 }, maxSubscriptions: 8 })
    const greedy = []
    for (let each = 0; each < 6; each++) greedy.push(await connect(handler, 'greedy', era))
    const refusal =
      era === 'session' ? /Too many sessions of one client.*End unused/u : /Too many subscriptions of one client.*End one/u
    await expect(connect(handler, 'greedy', era)).rejects.toThrow(refusal)
    await using modest = await connect(handler, 'modest', era)
    expect(await modest.toolNames()).toEqual(['ping'])
    await using another = await connect(handler, 'another', era)
    expect(await another.toolNames()).toEqual(['ping'])
    // A released slot can be used again.
    await handler.disconnect((principal) => principal?.id === 'greedy')
    await using again = await connect(handler, 'greedy', era)
    expect(await again.toolNames()).toEqual(['ping'])
    await Promise.all(greedy.map((client) => client.close()))
  })
})

test('an exceeded share is 429 with Retry-After, a full server 503', async () => {
  await using handler = handlerFor({ sessions: { max: 4 } })
  const open = (who: string): Promise<Response> =>
    handler.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { who, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } },
        }),
      }),
    )
  const statuses: number[] = []
  for (const who of ['a', 'a', 'a', 'a', 'b', 'c']) statuses.push((await open(who)).status)
  expect(statuses).toEqual([200, 200, 200, 429, 200, 503])
  expect((await open('a')).headers.get('retry-after')).toBe('30')
})

test('anonymous clients have a share per address, and none on this machine', async () => {
  const opened = async (address: string | undefined): Promise<number> => {
    await using handler = createHandler(plain(), { sessions: { max: 4 } })
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } },
    })
    const headers = new Headers({
      host: 'localhost',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    })
    for (let each = 0; each < 5; each++)
      await handler.handle({
        method: 'POST',
        url: '/mcp',
        address,
        header: (name) => headers.get(name) ?? undefined,
        body: async () => new TextEncoder().encode(body),
        onDisconnect: () => undefined,
        request: () => new Request('http://localhost/mcp', { method: 'POST', headers }),
      })
    return handler.sessionCount
  }
  expect(await opened('192.0.2.1')).toBe(3)
  expect(await opened('127.0.0.1')).toBe(4)
  expect(await opened(undefined)).toBe(4)
})

test('the queue of one client does not delay the next one, and calls beyond it are rejected with what to do', async () => {
  const order: string[] = []
  const ends: (() => void)[] = []
  const toolbox = defineToolbox({
    name: 'slow',
    version: '1.0.0',
    limits: { concurrency: 4, queue: 8 },
  }).tool('work', { description: 'Works until it is let go' }, async (_, { scope }) => {
    order.push(scope)
    await new Promise<void>((resolve) => ends.push(resolve))
    return 'done'
  })
  await using greedy = await testContext(toolbox)
  await using modest = await testContext(toolbox)
  const all = Array.from({ length: 9 }, () => greedy.call('work'))
  const refused = await greedy.call('work')
  expect(refused).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^The server is busy \(calls running: 3, queued: 6\)\..*then try again\.$/u) }],
  })
  all.push(modest.call('work'), modest.call('work'))
  while (order.length < all.length) {
    ends.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const end of ends) end()
  for (const result of await Promise.all(all)) expect(result.isError).not.toBe(true)
  // The second call of the modest client waited for one turn of the other, not for its six queued calls.
  expect(order.lastIndexOf(modest.scope)).toBeLessThanOrEqual(5)
})

test('searches are queued fairly: a hundred searches of one client do not delay a single one of another', async () => {
  const toolbox = defineToolbox({ name: 'many', version: '1.0.0', exposure: 'search' })
  for (let each = 0; each < 50; each++) toolbox.tool(`tool_${each}`, { description: `Does thing ${each}` }, () => '')
  await using greedy = await testContext(toolbox)
  await using modest = await testContext(toolbox)
  const done: string[] = []
  const search = async (context: typeof greedy): Promise<unknown> => {
    const result = await context.call('search_tools', { query: 'thing' })
    done.push(context.scope)
    return result.isError
  }
  const searches = Array.from({ length: 100 }, () => search(greedy))
  searches.push(search(modest))
  expect((await Promise.all(searches)).some((isError) => isError === true)).toBe(false)
  expect(done.indexOf(modest.scope)).toBeLessThanOrEqual(4)
})
