import { defineToolbox, ToolRegistry } from '@unfold-mcp/server'
import type { TestClient } from '@unfold-mcp/server/testing'
import { replyData } from '@unfold-mcp/server/testing'
import { expect, vi } from 'vitest'
import { automationHub } from '../fixtures/automation-hub.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }

/** A toolbox with a registry. */
const open = () => {
  const registry = new ToolRegistry()
  const groups = { files: { description: 'Files' }, network: { description: 'Network' } }
  const toolbox = defineToolbox({ ...info, groups })
    .tool('ping', {}, () => 'pong')
    .tool('read_file', { group: 'files' }, () => 'contents')
    .tool('fetch_url', { group: 'network' }, () => 'fetched')
    .use(registry)
  return { toolbox, registry, add: (name: string) => registry.register(name, {}, () => name) }
}

/** Tracks the list of a client that re-lists only when notified. */
async function follow(client: TestClient): Promise<{ seen: readonly string[] }> {
  const follower = { seen: await client.toolNames() }
  client.client.setNotificationHandler('notifications/tools/list_changed', async () => {
    follower.seen = await client.toolNames()
  })
  return follower
}

verifies('F04', async ({ serve }) => {
  let ticks = 0
  const toolbox = defineToolbox({ ...info, facts: () => ({ odd: ++ticks % 2 === 1 }) })
    .tool('odd', { when: ({ facts }) => facts.odd }, () => 'odd')
    .tool('even', { when: ({ facts }) => !facts.odd }, () => 'even')
  const server = await serve(toolbox)
  const [one, other] = [await server.connect(), await server.connect()]
  for (let round = 0; round < 5; round++) await one.toolNames()
  await one.settle()
  expect([one.listChanges, other.listChanges]).toEqual([0, 0])
})

verifies('F06', async ({ serve }) => {
  const { toolbox, registry, add } = open()
  const server = await serve(toolbox)
  const clients = [await server.connect(), await server.connect()]
  add('late')
  for (const client of clients) await client.waitForListChanges(1)
  for (const client of clients) expect(await client.toolNames()).toContain('late')
  registry.unregister('late')
  for (const client of clients) await client.waitForListChanges(2)
  for (const client of clients) expect(await client.toolNames()).not.toContain('late')
  toolbox.tool('later', {}, () => 'later')
  for (const client of clients) await client.waitForListChanges(3)
  for (const client of clients) expect(await client.toolNames()).toContain('later')
})

verifies('F10', async ({ wire }) => {
  const { toolbox, add } = open()
  const client = await wire(toolbox, { initialised: false })
  add('late')
  await client.quiet()
  expect(client.notifications).toEqual([])
})

verifies('F11', async ({ serve, testTransport }) => {
  const registry = new ToolRegistry()
  const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files' } }, protocol: { listChanged: false } })
    .tool('read_file', { group: 'files' }, () => 'contents')
    .use(registry)
  const server = await serve(toolbox)
  const client = await server.connect()
  expect(client.client.getServerCapabilities()?.tools?.listChanged).not.toBe(true)
  registry.register('late', {}, () => 'late')
  if (testTransport.era === 'session') await client.call('activate_files')
  await client.settle()
  expect(client.listChanges).toBe(0)
  expect(await client.toolNames()).toEqual(expect.arrayContaining(['read_file', 'late']))
})

verifies('G07-1', async ({ serve }) => {
  const { toolbox, add } = open()
  const server = await serve(toolbox)
  const listening = await server.connect()
  add('late')
  await listening.waitForListChanges(1)
  await listening.settle()
  expect(listening.listChanges).toBe(1)
})

verifies('G07-2', async ({ serve }) => {
  const { toolbox, add } = open()
  toolbox.extend((mcp) => mcp.registerPrompt('greet', {}, () => ({ messages: [] })))
  const server = await serve(toolbox)
  const silent = await server.connect({ listens: false })
  const elsewhere = await server.connect({ listens: false })
  await elsewhere.client.listen({ promptsListChanged: true })
  add('late')
  await silent.settle()
  expect([silent.listChanges, elsewhere.listChanges]).toEqual([0, 0])
  expect(await silent.toolNames()).toContain('late')
})

verifies('R19-1', async ({ connect }) => {
  const toolbox = defineToolbox({
    ...info,
    groups: { empty: { description: 'Nothing yet' }, shy: { description: 'Nothing now' } },
  })
  toolbox.tool('sweep', { group: 'shy', when: () => false }, () => 'swept')
  const client = await connect(toolbox)
  await client.call('activate_empty')
  await client.call('activate_shy')
  await client.settle()
  expect(client.listChanges).toBe(0)
})

verifies('R19-2', async ({ connect }) => {
  const { toolbox } = open()
  toolbox.tool('open_all', {}, async (_, ctx) => {
    await ctx.activate('files')
    await ctx.activate('network')
    return 'All open'
  })
  const client = await connect(toolbox)
  await client.call('open_all')
  await client.waitForListChanges(1)
  await client.settle()
  expect(client.listChanges).toBe(1)
  expect(await client.toolNames()).toEqual(expect.arrayContaining(['read_file', 'fetch_url']))
})

verifies('R19-3', async ({ connect }) => {
  const { toolbox, add } = open()
  const client = await connect(toolbox)
  for (const name of ['one', 'two', 'three']) add(name)
  await client.waitForListChanges(1)
  await client.settle()
  expect(client.listChanges).toBe(1)
  expect(await client.toolNames()).toEqual(expect.arrayContaining(['one', 'two', 'three']))
})

verifies('R19-4', async ({ connect }) => {
  const { toolbox, registry, add } = open()
  let rounds = 0
  toolbox.tool('churn', {}, async (_, ctx) => {
    const round = ++rounds
    add(`a${round}`)
    await ctx.activate('files')
    setTimeout(() => add(`b${round}`), 0)
    queueMicrotask(() => add(`c${round}`))
    await ctx.deactivate('files')
    if (round > 1) registry.unregister(`a${round - 1}`)
    return 'churned'
  })
  const client = await connect(toolbox)
  const follower = await follow(client)
  const calls = Array.from({ length: 12 }, (_, index) => client.call(index % 3 === 0 ? 'activate_network' : 'churn'))
  await Promise.all([...calls, client.call('deactivate', { group: 'network' }), client.call('activate_network')])
  await client.settle()
  const truth = await client.toolNames()
  expect(truth).toEqual(expect.arrayContaining(['fetch_url', 'b1', 'c8', 'a8']))
  await vi.waitFor(() => expect(follower.seen).toEqual(truth), { timeout: 120_000 })
})

verifies('R19-5', async ({ serve }) => {
  let isOpen = false
  const toolbox = defineToolbox({ ...info, permit: (principal) => principal?.id === 'ann' })
  toolbox.tool('order', { when: () => isOpen }, () => 'ordered')
  const server = await serve(toolbox)
  const ann = await server.connect({ principal: { id: 'ann' } })
  const bob = await server.connect({ principal: { id: 'bob' } })
  toolbox.toolListChanged()
  await ann.settle()
  expect([ann.listChanges, bob.listChanges]).toEqual([0, 0])
  isOpen = true
  toolbox.toolListChanged()
  await ann.waitForListChanges(1)
  await ann.settle()
  expect([ann.listChanges, bob.listChanges]).toEqual([1, 0])
  expect(await ann.toolNames()).toEqual(['order'])
})

verifies('R19-6', automationHub, async ({ serve, served, toolbox }) => {
  let scope = ''
  toolbox.tool('where', {}, (_, ctx) => {
    scope = ctx.scope
    return scope
  })
  const server = await serve(served)
  const [one, other] = [await server.connect(), await server.connect()]
  await one.call('where')
  await toolbox.activate('file_ops', scope)
  await one.waitForListChanges(1)
  expect(await one.toolNames()).toContain('read_file')
  await toolbox.deactivate('file_ops', scope)
  await one.waitForListChanges(2)
  expect(await one.toolNames()).not.toContain('read_file')
  await toolbox.deactivate('file_ops', scope)
  await one.settle()
  expect([one.listChanges, other.listChanges]).toEqual([2, 0])
})

verifies('R19-7', automationHub, async ({ serve, served, toolbox }) => {
  const server = await serve(served)
  const clients = [await server.connect(), await server.connect()]
  await clients[0]?.call('activate_file_ops')
  await clients[0]?.waitForListChanges(1)
  await toolbox.activate('file_ops', 'all')
  await clients[1]?.waitForListChanges(1)
  await clients[1]?.settle()
  expect(clients.map((client) => client.listChanges)).toEqual([1, 1])
  for (const client of clients) expect(await client.toolNames()).toContain('read_file')
})

verifies('R19-8', async ({ wire }) => {
  const { toolbox, add } = open()
  const client = await wire(toolbox, { listens: false })
  add('late')
  await client.quiet()
  expect(client.notifications).toEqual([])
  await client.listen()
  await vi.waitFor(() => expect(client.notifications.length).toBeGreaterThan(0), { timeout: 120_000 })
  await client.quiet()
  expect(client.notifications).toEqual(['notifications/tools/list_changed'])
})

verifies('R19-9', async ({ connect }) => {
  const { toolbox, registry, add } = open()
  const client = await connect(toolbox)
  add('brief')
  registry.unregister('brief')
  await client.settle()
  expect(client.listChanges).toBe(0)
})

verifies('R19-10', async ({ wire }) => {
  const { toolbox } = open()
  const client = await wire(toolbox, { listens: false })
  const answer = await client.ask('tools/call', { name: 'activate_files' })
  expect(client.notifications).toEqual(['notifications/tools/list_changed'])
  expect(replyData(answer.result)).toMatchObject({ changed: true })
  await client.listen()
  await client.quiet()
  expect(client.notifications.length).toBe(1)
})

verifies('R19-11', async ({ connect }) => {
  const { toolbox } = open()
  let later: () => Promise<unknown> = async () => undefined
  toolbox.tool('promise', {}, (_, ctx) => {
    later = () => ctx.activate('files')
    return 'Soon'
  })
  const client = await connect(toolbox)
  await client.call('promise')
  await later()
  await client.waitForListChanges(1)
  await client.settle()
  expect(client.listChanges).toBe(1)
  expect(await client.toolNames()).toContain('read_file')
})

verifies('R19-12', async ({ serve }) => {
  const toolbox = defineToolbox({
    ...info,
    remember: 'principal',
    groups: { files: { description: 'Files' }, more: { description: 'More' } },
  })
    .tool('read_file', { group: 'files' }, () => 'contents')
    .tool('extra', { group: 'more' }, () => 'extra')
  const server = await serve(toolbox)
  await toolbox.activate('files', 'principal:ann')
  const ann = await server.connect({ principal: { id: 'ann' } })
  const bob = await server.connect({ principal: { id: 'bob' } })
  expect(await ann.toolNames()).toEqual(['activate_files', 'activate_more', 'deactivate', 'read_file'])
  await toolbox.activate('more', 'principal:ann')
  await ann.waitForListChanges(1)
  await ann.settle()
  expect([ann.listChanges, bob.listChanges]).toEqual([1, 0])
  expect(await ann.toolNames()).toContain('extra')
})

verifies('R20-1', async ({ connect }) => {
  const client = await connect(defineToolbox(info).tool('ping', {}, () => 'pong'))
  expect(client.client.getServerCapabilities()?.tools).toEqual({ listChanged: true })
  const fixed = await connect(defineToolbox({ ...info, protocol: { listChanged: false } }).tool('ping', {}, () => 'pong'))
  expect(fixed.client.getServerCapabilities()?.tools).toEqual({})
})
