import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test, vi } from 'vitest'
import { MemorySessions } from '../../../test/memory-sessions.ts'
import { defineToolbox } from '../../toolbox.ts'
import { createHandler, type Handler } from '../../transports/handler.ts'

const wait = { timeout: 120_000 }

const shop = (order: 'declared' | 'append' = 'declared') =>
  defineToolbox({
    name: 'shop',
    version: '1.0.0',
    exposure: { mode: 'groups', order },
    groups: { orders: { description: 'Orders' }, stock: { description: 'Stock' } },
  })
    .tool('find', { description: 'Finds' }, () => 'found')
    .tool('order', { group: 'orders', description: 'Orders' }, () => 'ordered')
    .tool('count', { group: 'stock', description: 'Counts' }, () => '3')
    .tool('ask', { description: 'Asks' }, async (_, { elicit }) => {
      const reply = await elicit({ message: 'Sure?', requestedSchema: { type: 'object', properties: {} } })
      return reply?.action ?? 'no reply'
    })
    .tool(
      'wait',
      { description: 'Waits' },
      (_, { signal }) =>
        new Promise<string>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
    )

/** Three replicas of the same toolbox. `route` decides which one gets a request. */
function replicas({ order }: { order?: 'append' } = {}) {
  const sessions = new MemorySessions()
  const names = ['a', 'b', 'c']
  const toolboxes = names.map(() => shop(order))
  const handlers = toolboxes.map((toolbox, index) =>
    createHandler(toolbox, { sessions: { store: sessions.replica(names[index] ?? '') } }),
  )
  let last = -1
  const log: string[] = []
  const route = { next: (_method: string, _body: string): number => ++last % 3 }
  const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const index = route.next(init?.method ?? 'GET', typeof init?.body === 'string' ? init.body : '')
    log.push(`${names[index]} ${init?.method ?? 'GET'}`)
    return (handlers[index] as Handler).fetch(new Request(url, init))
  }
  return {
    sessions,
    toolboxes,
    handlers,
    route,
    log,
    async connect(options: { elicit?: () => Promise<{ action: 'accept' | 'decline' }> } = {}) {
      const client = new Client({ name: 'client', version: '1' }, { capabilities: { elicitation: {} } })
      let changes = 0
      client.setNotificationHandler('notifications/tools/list_changed', () => {
        changes++
      })
      const { elicit } = options
      if (elicit !== undefined) client.setRequestHandler('elicitation/create', elicit)
      const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch })
      await client.connect(transport)
      return {
        client,
        transport,
        names: async () => (await client.listTools()).tools.map(({ name }) => name),
        get changes() {
          return changes
        },
        close: () => client.close(),
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(handlers.map((handler) => handler.close()))
    },
  }
}

const text = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? ''

test('every replica serves a session, with what was activated on another', async () => {
  await using cluster = replicas()
  const client = await cluster.connect()
  for (let round = 0; round < 3; round++) expect(await client.names()).not.toContain('order')
  await client.client.callTool({ name: 'activate_orders' })
  for (let round = 0; round < 3; round++) expect(await client.names()).toContain('order')
  for (let round = 0; round < 3; round++) expect(text(await client.client.callTool({ name: 'order' }))).toBe('ordered')
  expect(new Set(cluster.log.filter((line) => line.endsWith('POST'))).size).toBe(3)
  await client.close()
})

test('two activations at the same time on two replicas both take effect', async () => {
  await using cluster = replicas()
  const client = await cluster.connect()
  for (let round = 0; round < 3; round++) await client.names()
  await Promise.all([client.client.callTool({ name: 'activate_orders' }), client.client.callTool({ name: 'activate_stock' })])
  for (let round = 0; round < 3; round++) expect(await client.names()).toEqual(expect.arrayContaining(['order', 'count']))
  await client.close()
})

test('AT-M09-1 (M09): a client whose stream is on another replica is notified once per change', async () => {
  await using cluster = replicas()
  cluster.route.next = (method) => (method === 'GET' ? 2 : 0)
  const client = await cluster.connect()
  await vi.waitFor(() => expect(cluster.log).toContain('c GET'), wait)
  await vi.waitFor(() => expect(cluster.handlers[2]?.sessions()[0]?.isListening).toBe(true), wait)
  await client.client.callTool({ name: 'activate_orders' })
  await vi.waitFor(() => expect(client.changes).toBe(1), wait)
  for (const toolbox of cluster.toolboxes) toolbox.tool('extra', { description: 'Extra' }, () => '')
  await vi.waitFor(() => expect(client.changes).toBe(2), wait)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(client.changes).toBe(2)
  await client.close()
})

test('a change whose event was lost is announced after the next comparison', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    await using cluster = replicas()
    cluster.route.next = (method) => (method === 'GET' ? 2 : 0)
    const client = await cluster.connect()
    await vi.waitFor(() => expect(cluster.handlers[2]?.sessions()[0]?.isListening).toBe(true), wait)
    cluster.sessions.isLossy = true
    await client.client.callTool({ name: 'activate_orders' })
    expect(client.changes).toBe(0)
    await vi.advanceTimersByTimeAsync(5_000)
    await vi.waitFor(() => expect(client.changes).toBe(1), wait)
    await client.close()
  } finally {
    vi.useRealTimers()
  }
})

test('AT-M09-6: a client whose list was answered while the tools changed is notified', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    await using cluster = replicas({ order: 'append' })
    cluster.route.next = (method) => (method === 'GET' ? 2 : 0)
    const client = await cluster.connect()
    await vi.waitFor(() => expect(cluster.handlers[2]?.sessions()[0]?.isListening).toBe(true), wait)
    const [a, , c] = cluster.toolboxes
    for (const toolbox of cluster.toolboxes) toolbox.tool('other', { description: 'Other' }, () => '')
    await vi.waitFor(() => expect(client.changes).toBe(1), wait)
    c?.tool('extra', { description: 'Extra' }, () => '')
    await vi.waitFor(() => expect(client.changes).toBe(2), wait)
    // The order of a list with a new tool is stored before the list is sent. Meanwhile this replica learns of the change.
    const stored = cluster.sessions.delayUpdates()
    const listing = client.names()
    await stored.requested
    a?.tool('extra', { description: 'Extra' }, () => '')
    stored.proceed()
    expect(await listing).not.toContain('extra')
    await vi.advanceTimersByTimeAsync(5_000)
    await vi.waitFor(() => expect(client.changes).toBe(3), wait)
    expect(await client.names()).toContain('extra')
    await client.close()
  } finally {
    vi.useRealTimers()
  }
})

test('a client that does not list after a notification is notified once more', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    await using cluster = replicas()
    cluster.route.next = (method) => (method === 'GET' ? 2 : 0)
    const client = await cluster.connect()
    await vi.waitFor(() => expect(cluster.handlers[2]?.sessions()[0]?.isListening).toBe(true), wait)
    await client.names()
    for (const toolbox of cluster.toolboxes) toolbox.tool('extra', { description: 'Extra' }, () => '')
    await vi.waitFor(() => expect(client.changes).toBe(1), wait)
    await vi.advanceTimersByTimeAsync(10_000)
    await vi.waitFor(() => expect(client.changes).toBe(2), wait)
    await vi.advanceTimersByTimeAsync(30_000)
    expect(client.changes).toBe(2)
    await client.close()
  } finally {
    vi.useRealTimers()
  }
})

test('a client that opens its stream after a change is notified of it', async () => {
  await using cluster = replicas()
  let isRefused = true
  const { route } = cluster
  route.next = (method) => (method === 'GET' ? 2 : 0)
  const client = await cluster.connect()
  await vi.waitFor(() => expect(cluster.handlers[2]?.sessions()[0]?.isListening).toBe(true), wait)
  // The replica with the stream stops; the client reconnects to another one.
  route.next = (method) => (method === 'GET' && isRefused ? 2 : 1)
  for (const [index, toolbox] of cluster.toolboxes.entries())
    if (index !== 2) toolbox.tool('extra', { description: 'Extra' }, () => '')
  isRefused = false
  await cluster.handlers[2]?.close()
  await vi.waitFor(() => expect(client.changes).toBe(1), wait)
  expect(await client.names()).toContain('extra')
  await client.close()
})

test('AT-M09-2: the answer to an elicitation finds the replica of its call', async () => {
  await using cluster = replicas()
  const client = await cluster.connect({ elicit: async () => ({ action: 'accept' }) })
  for (let round = 0; round < 3; round++) expect(text(await client.client.callTool({ name: 'ask' }))).toBe('accept')
  await client.close()
})

test('AT-M09-3: a cancellation finds the replica of its call', async () => {
  await using cluster = replicas()
  const client = await cluster.connect()
  const stopped = vi.fn<() => void>()
  for (const toolbox of cluster.toolboxes)
    toolbox.tool('stoppable', { description: 'Waits' }, (_, { signal }) => {
      signal.addEventListener('abort', stopped)
      return new Promise<string>(() => undefined)
    })
  const abort = new AbortController()
  const call = client.client.callTool({ name: 'stoppable' }, { signal: abort.signal })
  await vi.waitFor(() => expect(cluster.log.length).toBeGreaterThan(3), wait)
  abort.abort()
  await expect(call).rejects.toThrow('abort')
  await vi.waitFor(() => expect(stopped).toHaveBeenCalledOnce(), wait)
  await client.close()
})

test('a session that its client ends exists on no replica', async () => {
  await using cluster = replicas()
  const client = await cluster.connect()
  for (let round = 0; round < 3; round++) await client.names()
  await client.transport.terminateSession()
  await vi.waitFor(() => expect(cluster.handlers.map(({ sessionCount }) => sessionCount)).toEqual([0, 0, 0]), wait)
  await client.close()
})

test('while the store is unavailable, known sessions list and call tools, and nothing is activated', async () => {
  await using cluster = replicas()
  const client = await cluster.connect()
  for (let round = 0; round < 3; round++) await client.names()
  cluster.sessions.isUnavailable = true
  const before = await client.names()
  for (let round = 0; round < 3; round++) {
    expect(await client.names()).toEqual(before)
    expect(text(await client.client.callTool({ name: 'find' }))).toBe('found')
    const refused = await client.client.callTool({ name: 'activate_orders' })
    expect(refused).toMatchObject({ isError: true, _meta: { 'io.github.unfold-mcp/reason': 'state_unavailable' } })
  }
  await expect(cluster.connect()).rejects.toThrow('the store that replicas share is unavailable')
  cluster.sessions.isUnavailable = false
  await client.client.callTool({ name: 'activate_orders' })
  expect(await client.names()).toContain('order')
  await client.close()
})

test('an unlisted tool that a client calls runs although it cannot be listed now', async () => {
  const sessions = new MemorySessions()
  const toolbox = defineToolbox({
    name: 'shop',
    version: '1.0.0',
    exposure: 'groups',
    hiddenCalls: 'reveal',
    groups: { orders: { description: 'Orders' } },
  }).tool('order', { group: 'orders', description: 'Orders' }, () => 'ordered')
  await using handler = createHandler(toolbox, { sessions: { store: sessions.replica('a') } })
  const client = new Client({ name: 'client', version: '1' })
  await client.connect(
    new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
      fetch: (url, init) => handler.fetch(new Request(url, init)),
    }),
  )
  sessions.isUnavailable = true
  expect(text(await client.callTool({ name: 'order' }))).toBe('ordered')
  await client.close()
})

test('a toolbox with hooks cannot share its sessions', () => {
  const hooked = defineToolbox({
    name: 'shop',
    version: '1.0.0',
    groups: { orders: { description: 'Orders', hooks: { activate: () => undefined } } },
  })
  expect(() => createHandler(hooked, { sessions: { store: new MemorySessions().replica('a') } })).toThrow(
    'Sessions with the hooks of group "orders" cannot be shared',
  )
})
