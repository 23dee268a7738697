import { defineToolbox, type ListeningServer, listen } from '@unfold-mcp/server'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { redisServer, startRedis, type TestRedis } from '../../../../test/redis.ts'
import { until } from '../../../client/test/processes.ts'
import { served } from '../served.ts'
import { clusterSecret } from './replicas.ts'

const accept = 'application/json, text/event-stream'

/** A session-era client that breaks its connections. */
class BreakingClient {
  readonly headers: Record<string, string>

  static async open(url: string): Promise<BreakingClient> {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'breaking', version: '1.0.0' } }
    const reply = await post(url, {}, { id: 1, method: 'initialize', params })
    await reply.text()
    const client = new BreakingClient(reply.headers.get('mcp-session-id') ?? '')
    await post(url, client.headers, { method: 'notifications/initialized' })
    return client
  }

  private constructor(session: string) {
    this.headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }
  }

  call(url: string, name: string, signal?: AbortSignal): Promise<Response> {
    return post(url, this.headers, { id: name, method: 'tools/call', params: { name, arguments: {} } }, signal)
  }

  /** Calls a tool, and breaks the connection when the reply can be resumed. Returns the id of the last event. */
  async breakCall(url: string, name: string): Promise<string> {
    const connection = new AbortController()
    const reply = await this.call(url, name, connection.signal)
    const first = await reply.body?.pipeThrough(new TextDecoderStream()).getReader().read()
    connection.abort()
    return /^id: (.+)$/mu.exec(first?.value ?? '')?.[1] ?? ''
  }

  async resume(url: string, lastEventId: string): Promise<string> {
    const reply = await fetch(url, {
      headers: { ...this.headers, accept: 'text/event-stream', 'last-event-id': lastEventId },
    })
    return reply.text()
  }
}

const post = (url: string, headers: Record<string, string>, message: object, signal?: AbortSignal): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { ...headers, accept, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    ...(signal !== undefined && { signal }),
  })

describe.skipIf(redisServer.isMissing)(`streams that are resumed at another replica${redisServer.note}`, () => {
  let redis: TestRedis
  let shop: ListeningServer
  let a: Awaited<ReturnType<typeof served>>
  let b: Awaited<ReturnType<typeof served>>
  let finish: (() => void)[] = []

  beforeAll(async () => {
    redis = await startRedis()
    const toolbox = defineToolbox({ name: 'shop', version: '1.0.0' })
      .tool('quick', { description: 'Ends at once' }, () => 'quick result')
      .tool('slow', { description: 'Waits' }, () => new Promise<string>((resolve) => finish.push(() => resolve('slow result'))))
    shop = await listen(toolbox, { port: 0 })
    const config = {
      mcpServers: { shop: { url: shop.url } },
      exposure: 'everything',
      cluster: { url: redis.url, secret: clusterSecret },
    }
    a = await served(config)
    b = await served(config)
    await a.ready('shop')
    await b.ready('shop')
  })
  beforeEach(() => {
    finish = []
  })
  afterAll(async () => {
    await b?.[Symbol.asyncDispose]()
    await a?.[Symbol.asyncDispose]()
    await shop?.close()
    await redis?.[Symbol.asyncDispose]()
  })

  test('AT-M15-6: a call that finished meanwhile, or finishes later, sends its result at another replica', async () => {
    const client = await BreakingClient.open(a.url)
    const late = await client.breakCall(a.url, 'shop__slow')
    const resumed = client.resume(b.url, late)
    finish[0]?.()
    expect(await resumed).toContain('slow result')
    // Again, for a client that has lost this reply too.
    expect(await client.resume(b.url, late)).toContain('slow result')
    expect(Number(redis.cli('PTTL', 'unfold:{replies}:sizes'))).toBeGreaterThan(0)
    const stranger = await BreakingClient.open(b.url)
    expect(await stranger.resume(b.url, late)).not.toContain('slow result')
  })

  test('AT-M15-7: an ordinary call costs one round trip, and one that takes longer two', async () => {
    const client = await BreakingClient.open(a.url)
    const trips = async (): Promise<number> =>
      ((await a.api('/status')) as { cluster: { roundTrips: number } }).cluster.roundTrips
    const calls = 40
    let before = await trips()
    for (let count = 0; count < calls; count++) expect(await (await client.call(a.url, 'shop__quick')).text()).toContain('quick')
    // Reports and comparisons of the replica count too.
    expect((await trips()) - before).toBeLessThan(1.5 * calls)
    before = await trips()
    const running = Array.from({ length: calls }, (_, index) =>
      post(a.url, client.headers, {
        id: `slow${index}`,
        method: 'tools/call',
        params: { name: 'shop__slow', arguments: {} },
      }),
    )
    const replies = await Promise.all(running)
    await until(() => finish.length === calls, 'all calls run')
    for (const each of finish) each()
    for (const reply of replies) expect(await reply.text()).toContain('slow result')
    expect((await trips()) - before).toBeLessThan(2.5 * calls)
  })
})
