import { defineToolbox, type GroupHooks, type Report } from '@unfold-mcp/server'
import { expect, vi } from 'vitest'
import { deferred } from '../deferred.ts'
import { reasonOf, refusalOf, textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }

/** Hooks that record their calls. */
const hooksOf = (log: string[], failing: ReadonlySet<string> = new Set()): GroupHooks => {
  const done = async (what: string): Promise<void> => {
    await Promise.resolve()
    if (failing.has(what)) throw new Error(`${what} failed`)
    log.push(what)
  }
  return { activate: ({ group }) => done(`+${group}`), deactivate: ({ group }) => done(`-${group}`) }
}

const stack = (log: string[], failing?: ReadonlySet<string>) => {
  const hooks = hooksOf(log, failing)
  const groups = {
    network: { description: 'Network', hooks },
    database: { description: 'Database', hooks, needs: ['network'] },
    reports: { description: 'Reports', hooks, needs: ['database'] },
    offline: { description: 'Offline', hooks, excludes: ['network'] },
  } as const
  const toolbox = defineToolbox({ ...info, groups, report: () => undefined })
  for (const group of ['network', 'database', 'reports', 'offline'] as const) toolbox.tool(`in_${group}`, { group }, () => group)
  return toolbox
}

verifies('A09-1', async ({ connect }) => {
  const log: string[] = []
  const client = await connect(stack(log))
  await client.call('activate_network')
  expect(log).toEqual(['+network'])
  expect(textOf(await client.call('in_network'))).toBe('network')
  await client.call('deactivate', { group: 'network' })
  expect(log).toEqual(['+network', '-network'])
})

verifies('A09-2', async ({ connect }) => {
  const client = await connect(stack([], new Set(['+network'])))
  const before = await client.tools()
  const failed = await client.call('activate_network')
  expect(reasonOf(failed)).toBe('hook_failed')
  expect(textOf(failed)).toBe('Group "network" could not be activated: +network failed. Nothing was changed.')
  await client.settle()
  expect(await client.tools()).toEqual(before)
  expect(client.listChanges).toBe(0)
  expect((await refusalOf(client.call('in_network'))).reason).toBe('unknown_tool')
})

verifies('A09-3', async ({ connect }) => {
  const log: string[] = []
  const client = await connect(stack(log, new Set(['+reports'])))
  await client.call('activate_offline')
  const before = await client.tools()
  expect(reasonOf(await client.call('activate_reports'))).toBe('hook_failed')
  expect(log).toEqual(['+offline', '-offline', '+network', '+database', '-database', '-network', '+offline'])
  expect(await client.tools()).toEqual(before)
  expect(textOf(await client.call('in_offline'))).toBe('offline')
})

verifies('R05-10', async ({ connect }) => {
  const log: string[] = []
  const hooks = hooksOf(log)
  const groups = {
    cloud: { description: 'Cloud', hooks },
    aws: { description: 'AWS', hooks, parent: 'cloud' },
    ecs: { description: 'ECS', hooks, parent: 'aws' },
  } as const
  const toolbox = defineToolbox({ ...info, groups, hiddenCalls: 'reveal' }).tool('tasks', { group: 'ecs' }, () => 'tasks')
  const client = await connect(toolbox)
  await client.call('tasks')
  await client.call('deactivate', { group: 'cloud' })
  expect(log).toEqual(['+cloud', '+aws', '+ecs', '-ecs', '-aws', '-cloud'])
})

verifies('R05-11', async ({ connect }) => {
  const [begun, prepared] = [deferred(), deferred()]
  const activate = (): Promise<void> => {
    begun.resolve()
    return prepared.promise
  }
  const toolbox = defineToolbox({ ...info, groups: { network: { description: 'Network', hooks: { activate } } } })
  toolbox.tool('in_network', { group: 'network' }, () => 'network')
  const client = await connect(toolbox)
  const activation = client.call('activate_network')
  await begun.promise
  expect(await client.toolNames()).toEqual(['activate_network', 'deactivate'])
  expect((await refusalOf(client.call('in_network'))).reason).toBe('unknown_tool')
  expect(client.listChanges).toBe(0)
  prepared.resolve()
  await activation
  await client.waitForListChanges(1)
  expect(await client.toolNames()).toContain('in_network')
})

verifies('R05-12', async ({ connect }) => {
  const activate = () => new Promise<void>(() => undefined)
  const groups = { network: { description: 'Network', hooks: { activate } }, files: { description: 'Files' } }
  const toolbox = defineToolbox({ ...info, groups, limits: { hookTimeoutMs: 30 }, report: () => undefined })
    .tool('in_network', { group: 'network' }, () => '')
    .tool('in_files', { group: 'files' }, () => '')
  const client = await connect(toolbox)
  expect(reasonOf(await client.call('activate_network'))).toBe('hook_failed')
  await client.call('activate_files')
  expect(await client.toolNames()).toEqual(['activate_network', 'activate_files', 'deactivate', 'in_files'])
})

verifies('R05-13', async ({ serve }) => {
  const log: string[] = []
  const groups = { network: { description: 'Network', hooks: hooksOf(log) }, files: { description: 'Files' } }
  const toolbox = defineToolbox({ ...info, groups })
    .tool('in_network', { group: 'network' }, () => 'network')
    .tool('in_files', { group: 'files' }, () => 'files')
  const server = await serve(toolbox)
  const clients = [await server.connect(), await server.connect()]
  for (const client of clients) {
    expect(await client.toolNames()).toEqual(['in_network', 'in_files'])
    expect(textOf(await client.call('in_network'))).toBe('network')
  }
  expect(log).toEqual(['+network'])
})

verifies('R05-14', async ({ connect }) => {
  const toolbox = defineToolbox({
    ...info,
    groups: { network: { description: 'Network', hooks: hooksOf([]) }, files: { description: 'Files' } },
    exposure: 'everything',
  })
    .tool('in_network', { group: 'network' }, () => 'network')
    .tool('in_files', { group: 'files' }, () => 'files')
  const client = await connect(toolbox)
  expect(await client.toolNames()).toEqual(['in_files'])
  expect((await refusalOf(client.call('in_network'))).reason).toBe('unknown_tool')
})

verifies('R05-20', async ({ serve }) => {
  const log: string[] = []
  const reports: Report[] = []
  const groups = { network: { description: 'Network', hooks: hooksOf(log) } }
  const toolbox = defineToolbox({ ...info, groups, report: (report) => reports.push(report) })
  toolbox.tool('in_network', { group: 'network' }, () => 'network')
  const server = await serve(toolbox)
  const client = await server.connect()
  await client.call('activate_network')
  await server.close()
  await vi.waitFor(() => expect(log).toEqual(['+network', '-network']), { timeout: 120_000 })
  expect(reports).toEqual([])
})

verifies('R05-21', async ({ connect }) => {
  const reports: Report[] = []
  const hooks = hooksOf([], new Set(['+network']))
  const groups = { network: { description: 'Network', hooks, default: true }, files: { description: 'Files', default: true } }
  const toolbox = defineToolbox({ ...info, groups, report: (report) => reports.push(report) })
    .tool('in_network', { group: 'network' }, () => 'network')
    .tool('in_files', { group: 'files' }, () => 'files')
  const client = await connect(toolbox)
  expect(await client.toolNames()).toEqual(['activate_network', 'activate_files', 'deactivate', 'in_files'])
  expect(reports.map(({ reason }) => reason)).toEqual(['hook_failed'])
})

verifies('R05-22', async ({ serve }) => {
  const log: string[] = []
  const [begun, prepared] = [deferred(), deferred()]
  const hooks: GroupHooks = {
    async activate() {
      begun.resolve()
      await prepared.promise
      log.push('prepared')
    },
    deactivate: () => void log.push('released'),
  }
  const toolbox = defineToolbox({ ...info, groups: { network: { description: 'Network', hooks } } })
  toolbox.tool('in_network', { group: 'network' }, () => 'network')
  const server = await serve(toolbox)
  const client = await server.connect()
  client.call('activate_network').catch(() => undefined)
  await begun.promise
  await server.close()
  prepared.resolve()
  await vi.waitFor(() => expect(log).toEqual(['prepared', 'released']), { timeout: 120_000 })
})
