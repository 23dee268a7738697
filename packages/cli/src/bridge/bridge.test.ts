import { type Duplex, duplexPair, PassThrough } from 'node:stream'
import { ByteLines } from '@unfold-mcp/core'
import { expect, test } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { Bridge } from './bridge.ts'
import { BridgeRefused } from './connection.ts'
import { type Message, messagesOn } from './message.ts'

/** One end of a stream of lines: what came in, and a way to say something. */
class Wire {
  readonly heard: Message[] = []
  readonly bytes: Buffer[] = []
  readonly #stream: Duplex

  constructor(stream: Duplex) {
    this.#stream = stream
    const lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.allocUnsafe(size), keepsEnds: true })
    stream.on('data', (chunk: Buffer) => {
      this.bytes.push(chunk)
      for (const line of lines.add(chunk)) this.heard.push(...messagesOn(line ?? Buffer.alloc(0)).messages)
    })
  }

  say(...messages: readonly object[]): void {
    for (const message of messages) this.#stream.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  raw(text: string | Buffer): void {
    this.#stream.write(text)
  }

  end(): void {
    this.#stream.destroy()
  }

  async hears(method: string): Promise<Message> {
    await until(() => this.heard.some((message) => message.method === method), `${method} is heard`, 30_000)
    return this.heard.find((message) => message.method === method) ?? {}
  }

  async hearsAnswer(id: unknown): Promise<Message> {
    const isIt = (message: Message): boolean => message.method === undefined && message.id === id
    await until(() => this.heard.some(isIt), `the answer to ${JSON.stringify(id)} is heard`, 30_000)
    return this.heard.find(isIt) ?? {}
  }
}

interface Started {
  readonly client: Wire
  readonly gateways: Wire[]
  readonly notes: string[]
  readonly code: Promise<number>
  /** Lets the next gateway be found; until then none is there. */
  allow(next?: Error): void
}

/** A bridge between a client and as many gateways as it is allowed to find. */
function started(reconnectTimeoutMs = 30_000): Started {
  const gateways: Wire[] = []
  const notes: string[] = []
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  const allowed: (Error | undefined)[] = []
  const gateway = (): Duplex => {
    const [ours, theirs] = duplexPair()
    gateways.push(new Wire(theirs))
    // As a socket does when the other end is gone.
    theirs.once('close', () => ours.destroy())
    ours.once('close', () => theirs.destroy())
    return ours
  }
  const open = async (): Promise<Duplex> => {
    if (allowed.length === 0) throw new Error('Nobody is there.')
    const refusal = allowed.shift()
    if (refusal !== undefined) throw refusal
    return gateway()
  }
  const { signal } = new AbortController()
  const bridge = new Bridge({ stdin, stdout, signal, open, note: (text) => notes.push(text), reconnectTimeoutMs, retryMs: 5 })
  const code = bridge.run(gateway())
  const client = new Wire(stdout)
  return {
    client: Object.assign(client, {
      say: (...messages: readonly object[]) => {
        for (const message of messages) stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
      },
      raw: (text: string | Buffer) => void stdin.write(text),
      end: () => void stdin.end(),
    }),
    gateways,
    notes,
    code,
    allow: (refusal) => void allowed.push(refusal),
  }
}

const result = { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true }, prompts: {} }, serverInfo: {} }

/** A client that has begun a session with the first gateway. */
async function inSession(): Promise<Started & { readonly first: Wire }> {
  const all = started()
  const first = all.gateways[0] as Wire
  all.client.say({ id: 0, method: 'initialize', params: { clientInfo: { name: 'c' } } })
  await first.hears('initialize')
  first.say({ id: 0, result })
  await all.client.hearsAnswer(0)
  all.client.say({ method: 'notifications/initialized' })
  await first.hears('notifications/initialized')
  return { ...all, first }
}

async function second({ gateways }: Started): Promise<Wire> {
  await until(() => gateways.length > 1, 'the next gateway is found')
  return gateways[1] as Wire
}

test('every byte is relayed unchanged in both directions', async () => {
  const { client, gateways, code } = started()
  const [gateway] = gateways as [Wire]
  const odd = Buffer.concat([
    Buffer.from('[1, {"id": 7, "method": "ping"}]\n\n{"a": "\u2028"}\r\n'),
    Buffer.from([0xff, 0xfe, 0x0a]),
  ])
  client.raw(odd.subarray(0, 9))
  client.raw(odd.subarray(9))
  await until(() => Buffer.concat(gateway.bytes).equals(odd), 'the gateway has it')
  const answer = Buffer.from('{"jsonrpc":"2.0",  "id":7,"result":{}}\nno JSON\n')
  gateway.raw(answer)
  await until(() => Buffer.concat(client.bytes).equals(answer), 'the client has it')
  client.end()
  expect(await code).toBe(0)
})

test('the session is replayed to a new gateway; idempotent requests are repeated, others fail', async () => {
  const all = await inSession()
  const { client, first } = all
  client.say(
    { id: 1, method: 'logging/setLevel', params: { level: 'debug' } },
    { id: 2, method: 'resources/subscribe', params: { uri: 'a:1' } },
    { id: 3, method: 'resources/subscribe', params: { uri: 'a:2' } },
    { id: 4, method: 'resources/unsubscribe', params: { uri: 'a:2' } },
    { id: 5, method: 'tools/call', params: { name: 'pay' } },
    { id: 6, method: 'tools/list' },
    { id: 7, method: 'tools/call', params: { name: 'cancelled' } },
    { method: 'notifications/cancelled', params: { requestId: 7 } },
  )
  await first.hears('notifications/cancelled')
  for (const id of [1, 2, 3, 4]) first.say({ id, result: {} })
  await client.hearsAnswer(4)
  first.end()
  expect(await client.hearsAnswer(5)).toMatchObject({ error: { code: -32603, data: { reason: 'gateway_ended' } } })
  client.say(
    { id: 8, method: 'tools/call', params: { name: 'later' } },
    { id: 9, method: 'tools/call', params: { name: 'never' } },
  )
  client.say({ method: 'notifications/cancelled', params: { requestId: 9 } })
  all.allow()
  const next = await second(all)
  const again = await next.hears('initialize')
  expect(again.params).toEqual({ clientInfo: { name: 'c' } })
  expect(next.heard).toHaveLength(1)
  next.say({ id: again.id, result })
  await next.hears('notifications/cancelled')
  expect(next.heard.map(({ method, params }) => [method, params?.uri ?? params?.name ?? null])).toEqual([
    ['initialize', null],
    ['notifications/initialized', null],
    ['logging/setLevel', null],
    ['resources/subscribe', 'a:1'],
    ['tools/list', null],
    ['tools/call', 'later'],
    ['notifications/cancelled', null],
  ])
  await client.hears('notifications/tools/list_changed')
  next.say({ id: 6, result: { tools: [] } }, { id: 8, result: {} })
  await client.hearsAnswer(8)
  // No answer to a question of our own reaches the client, and it hears of no change that it was not promised.
  expect(client.heard.map(({ id, method }) => method ?? id)).toEqual([0, 1, 2, 3, 4, 5, 'notifications/tools/list_changed', 6, 8])
})

test('requests of a lost gateway are cancelled, and their responses never reach the next one with the same IDs', async () => {
  const all = await inSession()
  const { client, first } = all
  first.say({ id: 0, method: 'elicitation/create', params: { message: 'first?' } })
  await client.hears('elicitation/create')
  first.end()
  expect((await client.hears('notifications/cancelled')).params).toMatchObject({ requestId: 0 })
  all.allow()
  const next = await second(all)
  next.say({ id: (await next.hears('initialize')).id, result })
  next.say({ id: 0, method: 'sampling/createMessage', params: {} })
  const asked = await client.hears('sampling/createMessage')
  expect(asked.id).not.toBe(0)
  client.say({ id: 0, result: { action: 'accept' } }, { id: asked.id, result: { role: 'assistant' } })
  expect(await next.hearsAnswer(0)).toMatchObject({ result: { role: 'assistant' } })
  next.say({ id: 1, method: 'elicitation/create', params: { message: 'again?' } })
  next.say({ method: 'notifications/cancelled', params: { requestId: 1 } })
  await until(
    () => client.heard.filter(({ method }) => method === 'notifications/cancelled').length === 2,
    'it is withdrawn',
    30_000,
  )
  const [last] = client.heard.filter(({ method }) => method === 'elicitation/create').slice(-1)
  expect(client.heard.at(-1)?.params?.requestId).toBe(last?.id)
})

test('a 2026-07-28 client keeps its subscriptions and receives change notifications', async () => {
  const all = started()
  const { client } = all
  const first = all.gateways[0] as Wire
  const notifications = { toolsListChanged: true, resourceSubscriptions: ['a:1'] }
  const acknowledged = (id: unknown): object => ({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications, _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
  })
  client.say({ id: 'l', method: 'subscriptions/listen', params: { notifications } })
  await first.hears('subscriptions/listen')
  first.say(acknowledged('l'))
  await client.hears('notifications/subscriptions/acknowledged')
  all.allow()
  // It lets go of those who listen before it ends.
  first.say({ method: 'notifications/io.github.unfold-mcp/ending' }, { id: 'l', result: {} })
  const next = await second(all)
  await next.hears('subscriptions/listen')
  next.say(acknowledged('l'))
  const stamp = { _meta: { 'io.modelcontextprotocol/subscriptionId': 'l' } }
  expect((await client.hears('notifications/tools/list_changed')).params).toEqual(stamp)
  expect((await client.hears('notifications/resources/updated')).params).toEqual({ uri: 'a:1', ...stamp })
  expect(client.heard).toHaveLength(3)
})

test('a gateway that is shutting down completes its requests; later ones go to the next', async () => {
  const all = await inSession()
  const { client, first } = all
  client.say({ id: 1, method: 'tools/call', params: { name: 'slow' } })
  await first.hears('tools/call')
  first.say({ method: 'notifications/io.github.unfold-mcp/ending' }, { id: 0, method: 'ping' })
  await client.hears('ping')
  client.say({ id: 2, method: 'tools/call', params: { name: 'next' } }, { id: 0, result: {} })
  await first.hearsAnswer(0)
  expect(first.heard.some(({ id, method }) => method !== undefined && id === 2)).toBe(false)
  all.allow()
  first.say({ id: 1, result: { content: [] } })
  expect(await client.hearsAnswer(1)).toHaveProperty('result')
  const next = await second(all)
  next.say({ id: (await next.hears('initialize')).id, result })
  expect((await next.hears('tools/call')).params).toEqual({ name: 'next' })
})

test('if the gateway stays away or rejects the client, the bridge ends with a message and fails pending requests', async () => {
  const away = started(50)
  away.client.say({ id: 1, method: 'tools/list' })
  await away.gateways[0]?.hears('tools/list')
  away.gateways[0]?.end()
  expect(await away.code).toBe(4)
  expect(await away.client.hearsAnswer(1)).toHaveProperty('error')
  expect(away.notes).toEqual([expect.stringContaining('Start it with "unfold serve".')])
  const refused = started()
  refused.allow(new BridgeRefused(401, 'an old token'))
  refused.allow(new BridgeRefused(400, 'There is no profile "x" here.'))
  refused.gateways[0]?.end()
  expect(await refused.code).toBe(4)
  expect(refused.notes).toEqual(['The gateway stopped. There is no profile "x" here.'])
})

test('a gateway that is lost during replay, or has another MCP version, is not used', async () => {
  const all = await inSession()
  all.first.end()
  all.allow()
  const next = await second(all)
  await next.hears('initialize')
  next.end()
  all.allow()
  await until(() => all.gateways.length > 2, 'a third gateway is found')
  const third = all.gateways[2] as Wire
  third.say({ id: (await third.hears('initialize')).id, result: { ...result, protocolVersion: '2024-11-05' } })
  expect(await all.code).toBe(4)
  expect(all.notes.at(-1)).toContain('a different MCP version')
})
