import { defineToolbox, ToolRegistry } from '@unfold-mcp/server'
import { expect } from 'vitest'
import { automationHub } from '../fixtures/automation-hub.ts'
import { codeAnalyzer } from '../fixtures/code-analyzer.ts'
import { refusalOf, textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const activators = ['activate_file_ops', 'activate_network', 'activate_database', 'deactivate']

verifies('A01', automationHub, async ({ connect, served }) => {
  const client = await connect(served)
  expect(await client.toolNames()).toEqual([...activators, 'menu'])
})

verifies('A03', automationHub, async ({ connect, served }) => {
  const client = await connect(served)
  await client.call('activate_file_ops')
  expect(await client.toolNames()).toEqual([...activators, 'read_file', 'write_file', 'menu'])
  expect(textOf(await client.call('read_file', { path: 'a.txt' }))).toBe('contents of a.txt')
})

verifies('A04', automationHub, async ({ serve, served }) => {
  const server = await serve(served)
  const [one, other] = [await server.connect(), await server.connect()]
  await one.call('activate_file_ops')
  await one.waitForListChanges(1)
  await one.settle()
  expect([one.listChanges, other.listChanges]).toEqual([1, 0])
})

verifies('A05', automationHub, async ({ connect, served }) => {
  const client = await connect(served)
  await client.call('activate_file_ops')
  await client.call('activate_network')
  await client.call('deactivate', { group: 'file_ops' })
  expect(await client.toolNames()).toEqual([...activators, 'fetch_url', 'menu'])
})

verifies('A13', async ({ connect }) => {
  const numbers = Array.from({ length: 10 }, (_, number) => number)
  const groups: Record<string, { description: string }> = Object.fromEntries(
    numbers.map((n) => [`g${n}`, { description: `Group ${n}` }]),
  )
  const toolbox = defineToolbox({ name: 'ten', version: '1.0.0', groups })
  for (const n of numbers) toolbox.tool(`t${n}`, { group: `g${n}` }, () => `${n}`)
  const client = await connect(toolbox)
  await Promise.all(numbers.map((n) => client.call(`activate_g${n}`)))
  expect((await client.toolNames()).filter((name) => /^t\d$/u.test(name))).toEqual(numbers.map((n) => `t${n}`))
  await client.waitForListChanges(1)
  await client.settle()
  expect(client.listChanges).toBeLessThanOrEqual(10)
})

verifies('A20', automationHub, async ({ connect, served }) => {
  const client = await connect(served)
  await client.call('activate_file_ops')
  await client.waitForListChanges(1)
  const before = await client.tools()
  const again = await client.call('activate_file_ops')
  await client.settle()
  expect(again.isError).not.toBe(true)
  expect(await client.tools()).toEqual(before)
  expect(client.listChanges).toBe(1)
})

verifies('A22', automationHub, async ({ connect, served }) => {
  const client = await connect(served)
  const text = textOf(await client.call('activate_file_ops'))
  expect(text).toContain('read_file(path: string)')
  expect(text).toContain('write_file(path: string)')
  expect(text).not.toContain('fetch_url')
})

verifies('F01', automationHub, async ({ serve, served }) => {
  const server = await serve(served)
  const [one, other] = [await server.connect(), await server.connect()]
  await Promise.all([one.call('activate_file_ops'), other.call('activate_network')])
  expect(await one.toolNames()).toEqual([...activators, 'read_file', 'write_file', 'menu'])
  expect(await other.toolNames()).toEqual([...activators, 'fetch_url', 'menu'])
})

verifies('F02', automationHub, async ({ serve, served }) => {
  const server = await serve(served)
  const first = await server.connect()
  await first.call('activate_file_ops')
  await first.close()
  const second = await server.connect()
  expect(await second.toolNames()).toEqual([...activators, 'menu'])
})

verifies('F03', automationHub, async ({ connect, served }) => {
  const client = await connect(served)
  const before = await client.tools()
  for (let round = 1; round <= 5; round++) {
    await client.call('activate_file_ops')
    await client.waitForListChanges(2 * round - 1)
    await client.call('deactivate', { group: 'file_ops' })
    await client.waitForListChanges(2 * round)
  }
  await client.settle()
  expect(client.listChanges).toBe(10)
  expect(await client.tools()).toEqual(before)
})

verifies('F09', automationHub, async ({ connect, served }) => {
  const client = await connect(served)
  const before = await refusalOf(client.call('read_file', { path: 'a.txt' }))
  await client.call('activate_file_ops')
  await client.call('deactivate', { group: 'file_ops' })
  expect(await refusalOf(client.call('read_file', { path: 'a.txt' }))).toEqual(before)
  expect(before.reason).toBe('unknown_tool')
})

verifies('R05-1', async ({ connect }) => {
  const groups = { base: { description: 'The base', default: true }, more: { description: 'More' } } as const
  const toolbox = defineToolbox({ name: 'defaults', version: '1.0.0', groups })
    .tool('basic', { group: 'base' }, () => 'basic')
    .tool('extra', { group: 'more' }, () => 'extra')
  const client = await connect(toolbox)
  expect(await client.toolNames()).toEqual(['activate_base', 'activate_more', 'deactivate', 'basic'])
})

verifies('R08-6', codeAnalyzer, async ({ connect, served }) => {
  const client = await connect(served)
  expect(await client.toolNames()).toEqual(['activate'])
  await client.call('activate')
  expect(await client.toolNames()).toEqual(['activate', 'analyze', 'refactor'])
  expect(textOf(await client.call('analyze', { source: 'a\nb' }))).toBe('2 lines')
})

verifies('R08-11', async ({ connect }) => {
  const registry = new ToolRegistry()
  const toolbox = defineToolbox({ name: 'gated', version: '1.0.0', gate: 'Everything' })
    .tool('help', { always: true }, () => 'help')
    .tool('analyze', {}, () => 'analyzed')
    .use(registry)
  const client = await connect(toolbox)
  registry.register('plugin', {}, () => 'plugged')
  expect(await client.toolNames()).toEqual(['activate', 'help'])
  expect((await refusalOf(client.call('plugin'))).reason).toBe('unknown_tool')
  await client.call('activate')
  expect(await client.toolNames()).toEqual(['activate', 'help', 'analyze', 'plugin'])
  expect(textOf(await client.call('plugin'))).toBe('plugged')
})

verifies('R09-1', codeAnalyzer, async ({ serve, served }) => {
  const server = await serve(served)
  const [one, other] = [await server.connect(), await server.connect()]
  await one.call('activate')
  expect(await one.toolNames()).toEqual(['activate', 'analyze', 'refactor'])
  expect(await other.toolNames()).toEqual(['activate'])
})

verifies('R09-2', codeAnalyzer, async ({ connect, served }) => {
  const client = await connect(served)
  await client.call('activate')
  await client.waitForListChanges(1)
  await client.settle()
  expect(client.listChanges).toBe(1)
})

verifies('R09-3', automationHub, async ({ connect, served }) => {
  const client = await connect(served)
  await client.call('activate_network')
  await client.waitForListChanges(1)
  await client.settle()
  expect(client.listChanges).toBe(1)
})
