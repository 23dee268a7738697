import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MemorySessions } from '../../../test/memory-sessions.ts'
import { defineToolbox } from '../../toolbox.ts'
import { createHandler, type Handler } from '../../transports/handler.ts'

const wait = { timeout: 120_000 }

beforeEach(() => {
  // Replies of slow calls become streams after a quarter of a second; the clients here reconnect at once.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})

afterEach(() => {
  vi.useRealTimers()
})

/** Two replicas with a tool that ends when the test says so, and a client whose connections the test breaks. */
async function replicas() {
  const sessions = new MemorySessions()
  const finish: ((text: string) => void)[] = []
  const reports: ((text: string) => Promise<void>)[] = []
  let sessionsOpened = 0
  const handlers = ['a', 'b'].map((name) => {
    const toolbox = defineToolbox({
      name: 'shop',
      version: '1.0.0',
    })
      .extend((mcp) => {
        sessionsOpened++
        mcp.registerPrompt('greet', { description: 'Greets' }, () => ({ messages: [] }))
      })
      .tool('quick', { description: 'Ends at once' }, () => 'done')
      .tool('slow', { description: 'Waits' }, (_, { progress, elicit }) => {
        reports.push((text) => progress(1, undefined, text))
        return new Promise<string>((resolve) => {
          finish.push((text) => {
            if (text !== 'ask') resolve(text)
            else
              void elicit({ message: 'Sure?', requestedSchema: { type: 'object', properties: {} } }).then((reply) =>
                resolve(reply?.action ?? 'no reply'),
              )
          })
        })
      })
    return createHandler(toolbox, { sessions: { store: sessions.replica(name) } })
  })
  const route = { GET: 0, POST: 0, isRefused: false }
  const open: { readonly [method in 'GET' | 'POST']: (() => void)[] } = { GET: [], POST: [] }
  const requests: string[] = []
  const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const method = init?.method === 'POST' ? 'POST' : 'GET'
    const lastEventId = new Headers(init?.headers).get('last-event-id')
    requests.push(`${method}${lastEventId === null ? '' : lastEventId.endsWith('standalone') ? ' standalone' : ' resumed'}`)
    if (method === 'GET' && route.isRefused) throw new TypeError('fetch failed')
    const reply = await (handlers[route[method]] as Handler).fetch(new Request(url, init))
    if (reply.body === null) return reply
    const passing = new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => void open[method].push(() => controller.error(new TypeError('terminated'))),
    })
    reply.body.pipeTo(passing.writable).catch(() => undefined)
    return new Response(passing.readable, reply)
  }
  const client = new Client({ name: 'client', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept' }))
  let promptChanges = 0
  client.setNotificationHandler('notifications/prompts/list_changed', () => void promptChanges++)
  const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
    fetch,
    reconnectionOptions: {
      initialReconnectionDelay: 20,
      maxReconnectionDelay: 50,
      reconnectionDelayGrowFactor: 1.5,
      maxRetries: 1_000,
    },
  })
  await client.connect(transport)
  await vi.waitFor(() => expect(open.GET).toHaveLength(1), wait)
  return {
    sessions,
    handlers,
    route,
    requests,
    client,
    get promptChanges() {
      return promptChanges
    },
    get sessionsOpened() {
      return sessionsOpened
    },
    /** Starts a call, and resolves when its reply is a stream that a client can resume. */
    async slowCall(onprogress?: (message: string) => void) {
      const streams = open.POST.length
      const result = client.callTool({ name: 'slow' }, onprogress && { onprogress: ({ message = '' }) => onprogress(message) })
      // The test awaits it later.
      result.catch(() => undefined)
      await vi.waitFor(() => expect([open.POST.length, finish.length]).toEqual([streams + 1, 1]), wait)
      return {
        text: () => result.then((reply) => (reply.content as { text: string }[])[0]?.text),
        finish: finish[0],
        report: reports[0],
      }
    },
    /** Breaks all connections of the client. Requests in the meantime fail. */
    disconnect() {
      for (const streams of Object.values(open)) for (const each of streams.splice(0)) each()
    },
    async [Symbol.asyncDispose]() {
      await client.close()
      await Promise.all(handlers.map((handler) => handler.close()))
    },
  }
}

test('AT-M15-1 (M15): a client whose connection breaks during a call gets the result at another replica', async () => {
  await using cluster = await replicas()
  const call = await cluster.slowCall()
  cluster.route.GET = 1
  cluster.disconnect()
  await vi.waitFor(() => expect(cluster.requests).toContain('GET resumed'), wait)
  call.finish?.('late')
  expect(await call.text()).toBe('late')
})

test('AT-M15-2: a call that finishes while its client is disconnected is not lost', async () => {
  await using cluster = await replicas()
  const call = await cluster.slowCall()
  cluster.route.GET = 1
  cluster.route.isRefused = true
  cluster.disconnect()
  call.finish?.('meanwhile')
  await vi.waitFor(() => expect(cluster.sessions.keptEvents).toBe(1), wait)
  // The replica that ran the call stops before the client is back.
  await cluster.handlers[0]?.close()
  cluster.route.isRefused = false
  expect(await call.text()).toBe('meanwhile')
})

test('the replica that runs a call continues its stream too', async () => {
  await using cluster = await replicas()
  const call = await cluster.slowCall()
  cluster.disconnect()
  await vi.waitFor(() => expect(cluster.requests).toContain('GET resumed'), wait)
  call.finish?.('late')
  expect(await call.text()).toBe('late')
})

test('progress and elicitation reach a client that continues at another replica', async () => {
  await using cluster = await replicas()
  const progress: string[] = []
  const call = await cluster.slowCall((message) => progress.push(message))
  cluster.route.GET = 1
  cluster.route.POST = 1
  cluster.disconnect()
  await vi.waitFor(() => expect(cluster.handlers[1]?.sessions()).toHaveLength(1), wait)
  await vi.waitFor(async () => {
    await call.report?.('half')
    expect(progress).toContain('half')
  }, wait)
  call.finish?.('ask')
  expect(await call.text()).toBe('accept')
})

test('AT-M15-3: a client whose replica died during a call learns that the effect is unknown', async () => {
  await using cluster = await replicas()
  const call = await cluster.slowCall()
  cluster.route.GET = 1
  cluster.route.POST = 1
  cluster.sessions.kill('a')
  cluster.disconnect()
  await vi.waitFor(() => expect(cluster.requests).toContain('GET resumed'), wait)
  await vi.waitFor(() => expect(cluster.handlers[1]?.sessions()).toHaveLength(1), wait)
  await vi.waitFor(() => expect(cluster.handlers[1]?.sessions()[0]?.isListening).toBe(true), wait)
  // The replica counts as stopped after three checks.
  await vi.advanceTimersByTimeAsync(10_000)
  await expect(call.text()).rejects.toThrow('The request may have had an effect: check before you send it again.')
})

test('AT-M15-4: nothing is stored for a call that is not slow', async () => {
  await using cluster = await replicas()
  for (let round = 0; round < 3; round++) await cluster.client.callTool({ name: 'quick' })
  await cluster.client.listTools()
  expect(cluster.sessions.keptEvents).toBe(0)
  const call = await cluster.slowCall()
  call.finish?.('late')
  expect(await call.text()).toBe('late')
  expect(cluster.sessions.keptEvents).toBe(1)
})

test('AT-M15-5: a client that opens its stream again is told what it may have missed', async () => {
  await using cluster = await replicas()
  cluster.route.GET = 1
  cluster.disconnect()
  await vi.waitFor(() => expect(cluster.promptChanges).toBe(1), wait)
  expect(cluster.requests).toContain('GET standalone')
  expect(cluster.sessionsOpened).toBe(2)
})
