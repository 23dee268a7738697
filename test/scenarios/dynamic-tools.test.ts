import { defineToolbox, Failure, type Report, ToolRegistry } from '@unfold-mcp/server'
import { expect } from 'vitest'
import { z } from 'zod'
import { hybrid } from '../fixtures/hybrid.ts'
import { refusalOf, textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }

verifies('A08-1', async ({ connect }) => {
  let hasData = false
  const toolbox = defineToolbox({ ...info, facts: () => ({ hasData }) })
    .tool('load', {}, (_, ctx) => {
      hasData = true
      ctx.toolListChanged()
      return 'loaded'
    })
    .tool('analyze', { when: ({ facts }) => facts.hasData }, () => 'analyzed')
    .tool('clear', { when: ({ facts }) => facts.hasData }, (_, ctx) => {
      hasData = false
      ctx.toolListChanged()
      return 'cleared'
    })
  const client = await connect(toolbox)
  expect(await client.toolNames()).toEqual(['load'])
  await client.call('load')
  await client.waitForListChanges(1)
  expect(await client.toolNames()).toEqual(['load', 'analyze', 'clear'])
  expect(textOf(await client.call('analyze'))).toBe('analyzed')
  await client.call('clear')
  await client.waitForListChanges(2)
  expect(await client.toolNames()).toEqual(['load'])
  expect((await refusalOf(client.call('analyze'))).reason).toBe('unknown_tool')
})

verifies('A08-2', async ({ connect }) => {
  let reads = 0
  const toolbox = defineToolbox({ ...info, facts: () => ({ read: ++reads }) })
  for (const side of [0, 1]) {
    for (const n of [1, 2, 3]) toolbox.tool(`side${side}_${n}`, { when: ({ facts }) => facts.read % 2 === side }, () => '')
  }
  const client = await connect(toolbox)
  const lists = new Set<string>()
  for (let round = 0; round < 6; round++) lists.add((await client.toolNames()).join())
  for (const list of lists) expect(['side0_1,side0_2,side0_3', 'side1_1,side1_2,side1_3']).toContain(list)
})

verifies('A08-3', async ({ connect }) => {
  const reports: Report[] = []
  const toolbox = defineToolbox({ ...info, report: (report) => reports.push(report) })
    .tool('steady', { when: () => true }, () => 'steady')
    .tool(
      'shaky',
      {
        when: () => {
          throw new Error('no data')
        },
      },
      () => 'shaky',
    )
  const client = await connect(toolbox)
  expect(await client.toolNames()).toEqual(['steady'])
  expect((await refusalOf(client.call('shaky'))).reason).toBe('unknown_tool')
  expect(reports).toContainEqual({
    reason: 'predicate_failed',
    message: expect.stringContaining('"shaky"'),
    error: new Error('no data'),
  })
})

verifies('A14-1', hybrid, async ({ connect, served, registry, testTransport }) => {
  registry.registerInGroup('core_plugin', { description: 'In the core' }, 'core', () => 'dynamic core')
  registry.register('plugin', { description: 'Beside it' }, () => 'dynamic')
  const client = await connect(served)
  if (testTransport.era === 'session') {
    expect(await client.toolNames()).toEqual(['activate_core', 'deactivate', 'status', 'plugin'])
    await client.call('activate_core')
  }
  const names = (await client.toolNames()).filter((name) => !name.includes('activate'))
  expect(names).toEqual(['core_function', 'status', 'core_plugin', 'plugin'])
  const answers = await Promise.all(names.map(async (name) => textOf(await client.call(name))))
  expect(answers).toEqual(['core', 'static', 'dynamic core', 'dynamic'])
})

verifies('A14-2', hybrid, async ({ connect, served, registry, reports }) => {
  registry.register('status', { description: 'An impostor' }, () => 'dynamic')
  const client = await connect(served)
  const found = (await client.tools()).filter(({ name }) => name === 'status')
  expect(found.map(({ description }) => description)).toEqual(['How the server is'])
  expect(textOf(await client.call('status'))).toBe('static')
  expect(reports).toEqual([{ reason: 'name_clash', message: expect.stringContaining('"status" of plugins') }])
})

verifies('A15', async ({ serve }) => {
  const registry = new ToolRegistry()
  const plugin = z.object({ name: z.string() })
  const toolbox = defineToolbox(info)
    .tool('load_plugin', { inputSchema: plugin }, ({ name }) => {
      registry.register(`${name}_run`, { description: `Run ${name}` }, () => `${name} ran`)
      registry.register(`${name}_stop`, { description: `Stop ${name}` }, () => `${name} stopped`)
      return `${name} loaded`
    })
    .tool('unload_plugin', { inputSchema: plugin }, ({ name }) => {
      registry.unregister(`${name}_run`)
      registry.unregister(`${name}_stop`)
      return `${name} unloaded`
    })
    .use(registry)
  const server = await serve(toolbox)
  const [one, other] = [await server.connect(), await server.connect()]
  await one.call('load_plugin', { name: 'git' })
  await Promise.all([one.waitForListChanges(1), other.waitForListChanges(1)])
  for (const client of [one, other]) {
    expect(await client.toolNames()).toEqual(['load_plugin', 'unload_plugin', 'git_run', 'git_stop'])
    expect(textOf(await client.call('git_run'))).toBe('git ran')
  }
  await one.call('unload_plugin', { name: 'git' })
  await Promise.all([one.waitForListChanges(2), other.waitForListChanges(2)])
  await one.settle()
  for (const client of [one, other]) expect(await client.toolNames()).toEqual(['load_plugin', 'unload_plugin'])
  expect([one.listChanges, other.listChanges]).toEqual([2, 2])
})

verifies('A16', async ({ connect }) => {
  const permissions = new Set<string>()
  const registry = new ToolRegistry()
  registry.registerConditional(
    'admin_reset',
    { description: 'Reset system state (admin only)' },
    () => permissions.has('admin'),
    () => 'System reset',
  )
  const toolbox = defineToolbox(info)
    .tool('ping', {}, () => 'pong')
    .use(registry)
  const client = await connect(toolbox)
  expect(await client.toolNames()).toEqual(['ping'])
  expect((await refusalOf(client.call('admin_reset'))).reason).toBe('unknown_tool')
  permissions.add('admin')
  toolbox.toolListChanged()
  await client.waitForListChanges(1)
  expect(await client.toolNames()).toEqual(['ping', 'admin_reset'])
  expect(textOf(await client.call('admin_reset'))).toBe('System reset')
})

verifies('A17', async ({ connect }) => {
  const registry = new ToolRegistry()
  const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files' } } })
    .tool('read_file', { group: 'files' }, () => 'contents')
    .use(registry)
  const client = await connect(toolbox)
  const before = await client.tools()
  for (const name of ['activate_files', 'deactivate']) {
    expect(() => registry.register(name, {}, () => 'impostor')).toThrow(Failure)
    expect(() => toolbox.tool(name, {}, () => 'impostor')).toThrow('is a name of this library')
    expect(registry.hasTool(name)).toBe(false)
  }
  const bundle = new ToolRegistry()
  bundle.register('innocent', {}, () => 'innocent')
  bundle.register('deactivate', {}, () => 'impostor')
  expect(() => toolbox.use(bundle)).toThrow(Failure)
  await client.settle()
  expect(await client.tools()).toEqual(before)
  expect(client.listChanges).toBe(0)
})

verifies('B05', async ({ connect }) => {
  const reports: Report[] = []
  const [first, second] = [new ToolRegistry({ name: 'first' }), new ToolRegistry({ name: 'second' })]
  const toolbox = defineToolbox({ ...info, report: (report) => reports.push(report) })
    .use(first)
    .use(second)
  const client = await connect(toolbox)
  first.register('status', { description: 'Of the first' }, () => 'first')
  second.register('status', { description: 'Of the second' }, () => 'second')
  expect((await client.tools()).map(({ name, description }) => [name, description])).toEqual([['status', 'Of the first']])
  expect(textOf(await client.call('status'))).toBe('first')
  expect(reports).toEqual([{ reason: 'name_clash', message: expect.stringContaining('"status" of second') }])
})
