import { type Duplex, duplexPair, PassThrough } from 'node:stream'
import { ByteLines } from '@unfold-mcp/core'
import { expect, test } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { Bridge } from './bridge.ts'
import { BridgeRefused } from './connection.ts'
import { type Message, messagesOn } from './message.ts'

/** One end of a stream of lines: the received messages, and a way to send. */
class Wire {
  readonly received: Message[] = []
  readonly bytes: Buffer[] = []
  readonly #stream: Duplex

  constructor(stream: Duplex) {
    this.#stream = stream
    const lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.allocUnsafe(size), keepsEnds: true })
    stream.on('data', (chunk: Buffer) => {
      this.bytes.push(chunk)
      for (const line of lines.add(chunk)) this.received.push(...messagesOn(line ?? Buffer.alloc(0)).messages)
    })
  }

  send(...messages: readonly object[]): void {
    for (const message of messages) this.#stream.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  raw(text: string | Buffer): void {
    this.#stream.write(text)
  }

  end(): void {
    this.#stream.destroy()
  }

  async receives(method: string): Promise<Message> {
    await until(() => this.received.some((message) => message.method === method), `${method} is received`)
    return this.received.find((message) => message.method === method) ?? {}
  }

  async receivesResponse(id: unknown): Promise<Message> {
    const isIt = (message: Message): boolean => message.method === undefined && message.id === id
    await until(() => this.received.some(isIt), `the response to ${JSON.stringify(id)} is received`)
    return this.received.find(isIt) ?? {}
  }
}

interface Started {
  readonly client: Wire
  readonly gateways: Wire[]
  readonly notes: string[]
  readonly code: Promise<number>
  /** Makes the next gateway available; until then there is none. */
  allow(next?: Error): void
}

/** A bridge between a client and as many gateways as it may find. */
function started(reconnectTimeoutMs = 30_000): Started {
  const gateways: Wire[] = []
  const notes: string[] = []
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  const allowed: (Error | undefined)[] = []
  const gateway = (): Duplex => {
    const [ours, theirs] = duplexPair()
    gateways.push(new Wire(theirs))
    // Like a socket whose peer is gone.
    theirs.once('close', () => ours.destroy())
    ours.once('close', () => theirs.destroy())
    return ours
  }
  const open = async (): Promise<Duplex> => {
    if (allowed.length === 0) throw new Error('connection refused')
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
      send: (...messages: readonly object[]) => {
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

/** A client with a session on the first gateway. */
async function inSession(): Promise<Started & { readonly first: Wire }> {
  const all = started()
  const first = all.gateways[0] as Wire
  all.client.send({ id: 0, method: 'initialize', params: { clientInfo: { name: 'c' } } })
  await first.receives('initialize')
  first.send({ id: 0, result })
  await all.client.receivesResponse(0)
  all.client.send({ method: 'notifications/initialized' })
  await first.receives('notifications/initialized')
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
  client.send(
    { id: 1, method: 'logging/setLevel', params: { level: 'debug' } },
    { id: 2, method: 'resources/subscribe', params: { uri: 'a:1' } },
    { id: 3, method: 'resources/subscribe', params: { uri: 'a:2' } },
    { id: 4, method: 'resources/unsubscribe', params: { uri: 'a:2' } },
    { id: 5, method: 'tools/call', params: { name: 'pay' } },
    { id: 6, method: 'tools/list' },
    { id: 7, method: 'tools/call', params: { name: 'cancelled' } },
    { method: 'notifications/cancelled', params: { requestId: 7 } },
  )
  await first.receives('notifications/cancelled')
  for (const id of [1, 2, 3, 4]) first.send({ id, result: {} })
  await client.receivesResponse(4)
  first.end()
  expect(await client.receivesResponse(5)).toMatchObject({ error: { code: -32603, data: { reason: 'gateway_ended' } } })
  client.send(
    { id: 8, method: 'tools/call', params: { name: 'later' } },
    { id: 9, method: 'tools/call', params: { name: 'never' } },
  )
  client.send({ method: 'notifications/cancelled', params: { requestId: 9 } })
  all.allow()
  const next = await second(all)
  const again = await next.receives('initialize')
  expect(again.params).toEqual({ clientInfo: { name: 'c' } })
  expect(next.received).toHaveLength(1)
  next.send({ id: again.id, result })
  await next.receives('notifications/cancelled')
  expect(next.received.map(({ method, params }) => [method, params?.uri ?? params?.name ?? null])).toEqual([
    ['initialize', null],
    ['notifications/initialized', null],
    ['logging/setLevel', null],
    ['resources/subscribe', 'a:1'],
    ['tools/list', null],
    ['tools/call', 'later'],
    ['notifications/cancelled', null],
  ])
  await client.receives('notifications/tools/list_changed')
  next.send({ id: 6, result: { tools: [] } }, { id: 8, result: {} })
  await client.receivesResponse(8)
  // Responses to the bridge's own requests do not reach the client, nor do notifications that it did not subscribe to.
  expect(client.received.map(({ id, method }) => method ?? id)).toEqual([
    0,
    1,
    2,
    3,
    4,
    5,
    'notifications/tools/list_changed',
    6,
    8,
  ])
})

test('requests of a lost gateway are cancelled, and their responses never reach the next one with the same IDs', async () => {
  const all = await inSession()
  const { client, first } = all
  first.send({ id: 0, method: 'elicitation/create', params: { message: 'first?' } })
  await client.receives('elicitation/create')
  first.end()
  expect((await client.receives('notifications/cancelled')).params).toMatchObject({ requestId: 0 })
  all.allow()
  const next = await second(all)
  next.send({ id: (await next.receives('initialize')).id, result })
  next.send({ id: 0, method: 'sampling/createMessage', params: {} })
  const asked = await client.receives('sampling/createMessage')
  expect(asked.id).not.toBe(0)
  client.send({ id: 0, result: { action: 'accept' } }, { id: asked.id, result: { role: 'assistant' } })
  expect(await next.receivesResponse(0)).toMatchObject({ result: { role: 'assistant' } })
  next.send({ id: 1, method: 'elicitation/create', params: { message: 'again?' } })
  next.send({ method: 'notifications/cancelled', params: { requestId: 1 } })
  await until(
    () => client.received.filter(({ method }) => method === 'notifications/cancelled').length === 2,
    'it is withdrawn',
    30_000,
  )
  const [last] = client.received.filter(({ method }) => method === 'elicitation/create').slice(-1)
  expect(client.received.at(-1)?.params?.requestId).toBe(last?.id)
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
  client.send({ id: 'l', method: 'subscriptions/listen', params: { notifications } })
  await first.receives('subscriptions/listen')
  first.send(acknowledged('l'))
  await client.receives('notifications/subscriptions/acknowledged')
  all.allow()
  // It ends subscriptions before it exits.
  first.send({ method: 'notifications/io.github.unfold-mcp/ending' }, { id: 'l', result: {} })
  const next = await second(all)
  await next.receives('subscriptions/listen')
  next.send(acknowledged('l'))
  const stamp = { _meta: { 'io.modelcontextprotocol/subscriptionId': 'l' } }
  expect((await client.receives('notifications/tools/list_changed')).params).toEqual(stamp)
  expect((await client.receives('notifications/resources/updated')).params).toEqual({ uri: 'a:1', ...stamp })
  expect(client.received).toHaveLength(3)
})

test('a gateway that is shutting down completes its requests; later ones go to the next', async () => {
  const all = await inSession()
  const { client, first } = all
  client.send({ id: 1, method: 'tools/call', params: { name: 'slow' } })
  await first.receives('tools/call')
  first.send({ method: 'notifications/io.github.unfold-mcp/ending' }, { id: 0, method: 'ping' })
  await client.receives('ping')
  client.send({ id: 2, method: 'tools/call', params: { name: 'next' } }, { id: 0, result: {} })
  await first.receivesResponse(0)
  expect(first.received.some(({ id, method }) => method !== undefined && id === 2)).toBe(false)
  all.allow()
  first.send({ id: 1, result: { content: [] } })
  expect(await client.receivesResponse(1)).toHaveProperty('result')
  const next = await second(all)
  next.send({ id: (await next.receives('initialize')).id, result })
  expect((await next.receives('tools/call')).params).toEqual({ name: 'next' })
})

test('if the gateway stays away or rejects the client, the bridge ends with a message and fails pending requests', async () => {
  const away = started(50)
  away.client.send({ id: 1, method: 'tools/list' })
  await away.gateways[0]?.receives('tools/list')
  away.gateways[0]?.end()
  expect(await away.code).toBe(4)
  expect(await away.client.receivesResponse(1)).toHaveProperty('error')
  expect(away.notes).toEqual([expect.stringContaining('Start it with "unfold serve".')])
  const refused = started()
  refused.allow(new BridgeRefused(401, 'an old token'))
  refused.allow(new BridgeRefused(400, 'Unknown profile "x".'))
  refused.gateways[0]?.end()
  expect(await refused.code).toBe(4)
  expect(refused.notes).toEqual(['The gateway stopped. Unknown profile "x".'])
})

test('a gateway that is lost during replay, or has another MCP version, is not used', async () => {
  const all = await inSession()
  all.first.end()
  all.allow()
  const next = await second(all)
  await next.receives('initialize')
  next.end()
  all.allow()
  await until(() => all.gateways.length > 2, 'a third gateway is found')
  const third = all.gateways[2] as Wire
  third.send({ id: (await third.receives('initialize')).id, result: { ...result, protocolVersion: '2024-11-05' } })
  expect(await all.code).toBe(4)
  expect(all.notes.at(-1)).toContain('a different MCP version')
})
