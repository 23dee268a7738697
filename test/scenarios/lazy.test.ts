import { defineToolbox } from '@unfold-mcp/server'
import type { TestClient } from '@unfold-mcp/server/testing'
import { replyData } from '@unfold-mcp/server/testing'
import { expect } from 'vitest'
import { office, officeTools, searchSurface } from '../fixtures/office.ts'
import { reasonOf, textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }
const changed = 'notifications/tools/list_changed'

const manage = (client: TestClient, action: string, more: Record<string, unknown> = {}) =>
  client.call('manage_tools', { action, ...more })

verifies('E02', async ({ connect }) => {
  const client = await connect(office({ exposure: 'lazy' }))
  expect(await client.toolNames()).toEqual(['manage_tools'])
})

verifies('E03', async ({ connect }) => {
  const client = await connect(office({ exposure: 'lazy' }))
  await manage(client, 'enable', { tools: 'ping' })
  const reply = await manage(client, 'list')
  const lines = textOf(reply).split('\n')
  expect(lines[0]).toBe(`${officeTools.length} of ${officeTools.length} tools:`)
  expect(lines).toContain('- read_file — Read a file')
  expect(lines).toContain('- ping (enabled) — Say that the server is there')
  expect(JSON.stringify(reply)).not.toMatch(/inputSchema|"path"|"properties"/u)
  const { tools } = replyData(reply) as { tools: { name: string; enabled: boolean }[] }
  expect(tools.map(({ name }) => name)).toEqual(officeTools)
  expect(tools.filter(({ enabled }) => enabled).map(({ name }) => name)).toEqual(['ping'])
})

verifies('E04-1', async ({ connect }) => {
  const client = await connect(office({ exposure: 'lazy' }))
  await manage(client, 'enable', { tools: 'read_file' })
  expect(await client.toolNames()).toEqual(['manage_tools', 'read_file'])
  expect(textOf(await client.call('read_file', { path: 'a.txt' }))).toBe('contents of a.txt')
})

verifies('E04-2', async ({ connect }) => {
  const client = await connect(office({ exposure: 'lazy' }))
  await manage(client, 'enable', { tools: ['send_mail', 'read_file'] })
  await client.waitForListChanges(1)
  await client.settle()
  expect(await client.toolNames()).toEqual(['manage_tools', 'read_file', 'send_mail'])
  expect(client.listChanges).toBe(1)
})

verifies('E05', async ({ connect }) => {
  const client = await connect(office({ exposure: 'lazy' }))
  const reply = await manage(client, 'enable', { tools: ['raed_file', 'ping', 'zzzzzz'] })
  expect(reply.isError).not.toBe(true)
  expect(textOf(reply)).toContain('Unknown tool "raed_file". Nearest: read_file')
  expect(textOf(reply)).toContain('Unknown tool "zzzzzz".')
  expect(await client.toolNames()).toEqual(['manage_tools', 'ping'])
  const none = await manage(client, 'enable', { tools: 'raed_file' })
  expect(reasonOf(none)).toBe('unknown_tool')
  expect(textOf(none)).toContain('Nearest: read_file')
  expect(client.listChanges).toBe(1)
})

verifies('E06', async ({ connect }) => {
  // A busy machine may need longer than the default for a list.
  const protocol = { relistTimeoutMs: 60_000 }
  const client = await connect(office({ exposure: { mode: 'lazy', order: 'append' }, protocol }))
  await manage(client, 'enable', { tools: 'ping' })
  await manage(client, 'enable', { tools: 'read_file' })
  await client.waitForListChanges(2)
  const again = await manage(client, 'enable', { tools: ['ping', 'read_file'] })
  await client.settle()
  expect(textOf(again)).toBe('Already enabled: ping, read_file.')
  expect(client.listChanges).toBe(2)
  expect(await client.toolNames()).toEqual(['manage_tools', 'ping', 'read_file'])
})

verifies('E07', async ({ connect }) => {
  const client = await connect(office({ exposure: 'lazy' }))
  await manage(client, 'enable', { tools: officeTools })
  const reply = await manage(client, 'disable', { tools: ['ping', 'read_file'] })
  expect(textOf(reply)).toContain('No longer listed: read_file, ping.')
  expect(await client.toolNames()).toEqual(['manage_tools', ...officeTools.slice(1, -1)])
  expect(reasonOf(await client.call('ping'))).toBe('requires_activation')
})

verifies('E08', async ({ connect }) => {
  const client = await connect(office({ exposure: 'lazy' }))
  await manage(client, 'enable', { tools: 'ping' })
  const refused = await manage(client, 'disable', { tools: 'manage_tools' })
  expect(reasonOf(refused)).toBe('invalid_arguments')
  expect(textOf(refused)).toBe('"manage_tools" cannot be disabled: it is always available.')
  expect(await client.toolNames()).toEqual(['manage_tools', 'ping'])
  const mixed = await manage(client, 'disable', { tools: ['manage_tools', 'ping'] })
  expect(textOf(mixed)).toContain('"manage_tools" cannot be disabled')
  expect(await client.toolNames()).toEqual(['manage_tools'])
})

verifies('E09', async ({ connect }) => {
  const client = await connect(office({ exposure: 'lazy' }))
  for (const args of [{ action: 'enabel' }, {}, { action: 7 }, { action: ['list'] }]) {
    const refused = await client.call('manage_tools', args)
    expect(reasonOf(refused)).toBe('invalid_arguments')
    expect(textOf(refused)).toContain('action')
  }
  const actions = ['list', 'search', 'describe', 'enable', 'disable', 'reset', 'status']
  const refused = textOf(await manage(client, 'enabel'))
  for (const action of actions) expect(refused).toContain(`"${action}"`)
})

verifies('E10', async ({ wire }) => {
  // Over HTTP without an open stream, notification and result arrive in one response, in order.
  const client = await wire(office({ exposure: 'lazy' }), { listens: false })
  const call = (action: string) => client.ask('tools/call', { name: 'manage_tools', arguments: { action, tools: 'ping' } })
  for (let round = 1; round <= 10; round++) {
    const { text } = await call(round % 2 === 1 ? 'enable' : 'disable')
    expect(client.notifications).toEqual(Array.from({ length: round }, () => changed))
    if (text.includes(changed)) expect(text.indexOf(changed)).toBeLessThan(text.indexOf('"result"'))
  }
})

verifies('E11', async ({ serve }) => {
  const server = await serve(office({ exposure: 'lazy' }))
  const [one, other] = [await server.connect(), await server.connect()]
  await manage(one, 'enable', { tools: ['ping', 'files'] })
  await one.waitForListChanges(1)
  await other.settle()
  expect(other.listChanges).toBe(0)
  expect(await other.toolNames()).toEqual(['manage_tools'])
  await manage(other, 'reset')
  expect(await one.toolNames()).toContain('read_file')
})

verifies('L01-3', async ({ serve }) => {
  const server = await serve(office())
  const lazy = await server.connect({ view: 'exposure=lazy' })
  const declared = await server.connect()
  expect(await lazy.toolNames()).toEqual(['manage_tools'])
  expect(await declared.toolNames()).toEqual(['activate_files', 'activate_mail', 'activate_calendar', 'deactivate', 'ping'])
  const otherwise = await (await serve(office({ exposure: 'lazy' }))).connect({ view: 'exposure=everything' })
  expect(await otherwise.toolNames()).toEqual(officeTools)
})

verifies('L01-4', async ({ connect }) => {
  const toolbox = defineToolbox({ ...info, exposure: 'lazy', groups: { files: { description: 'Files', default: true } } })
    .tool('read_file', { group: 'files' }, () => 'contents')
    .tool('help', { always: true }, () => 'help')
  const client = await connect(toolbox)
  // Tools that are always listed stay listed.
  expect(await client.toolNames()).toEqual(['manage_tools', 'help'])
})

verifies('L01-5', async ({ serve }) => {
  const server = await serve(office({ exposure: 'lazy', remember: 'principal' }))
  const [ann, bob] = [{ id: 'ann' }, { id: 'bob' }]
  const first = await server.connect({ principal: ann })
  expect(await first.toolNames()).toEqual(['manage_tools'])
  await manage(first, 'enable', { tools: 'ping' })
  expect(await (await server.connect({ principal: ann })).toolNames()).toEqual(['manage_tools', 'ping'])
  expect(await (await server.connect({ principal: bob })).toolNames()).toEqual(['manage_tools'])
})

verifies('L02-1', async ({ connect }) => {
  const toolbox = defineToolbox({ ...info, exposure: 'lazy' })
  const names = Array.from({ length: 230 }, (_, index) => `tool_${index}`)
  for (const name of names) toolbox.tool(name, { description: `Does ${name}` }, () => name)
  const client = await connect(toolbox)
  const seen: string[] = []
  let cursor: string | undefined
  let pages = 0
  do {
    const reply = await manage(client, 'list', cursor === undefined ? {} : { cursor })
    const page = replyData(reply) as { tools: { name: string }[]; nextCursor?: string }
    seen.push(...page.tools.map(({ name }) => name))
    cursor = page.nextCursor
    if (cursor !== undefined) expect(textOf(reply)).toContain(`More with cursor "${cursor}".`)
    pages++
  } while (cursor !== undefined)
  expect(pages).toBe(3)
  expect(seen).toEqual(names)
  await expect(manage(client, 'list', { cursor: 'nonsense' })).rejects.toThrow('cursor')
})

verifies('L02-2', async ({ connect }) => {
  const client = await connect(office({ exposure: 'lazy' }))
  const named = async (filter: Record<string, unknown>) => {
    const { tools } = replyData(await manage(client, 'list', filter)) as { tools: { name: string }[] }
    return tools.map(({ name }) => name)
  }
  expect(await named({ group: 'mail' })).toEqual(['send_mail', 'search_mail'])
  expect(await named({ tag: 'storage' })).toEqual(['read_file', 'write_file', 'search_mail'])
  expect(await named({ query: 'FILE write' })).toEqual(['write_file'])
  expect(await named({ group: 'mail', tag: 'storage', query: 'letters' })).toEqual(['search_mail'])
  expect(textOf(await manage(client, 'list', { group: 'mail' }))).toContain(`2 of ${officeTools.length} tools:`)
  const unknown = await manage(client, 'list', { group: 'mial' })
  expect(reasonOf(unknown)).toBe('unknown_group')
  expect(textOf(unknown)).toContain('mail')
})

verifies('L02-3', async ({ connect }) => {
  const toolbox = defineToolbox({
    ...info,
    exposure: 'lazy',
    groups: { cloud: { description: 'Cloud' }, disks: { description: 'Disks', parent: 'cloud' }, desk: { description: 'Desk' } },
  })
    .tool('regions', { group: 'cloud' }, () => 'regions')
    .tool('format_disk', { group: 'disks' }, () => 'formatted')
    .tool('tidy', { group: 'desk' }, () => 'tidy')
  const client = await connect(toolbox)
  await manage(client, 'enable', { tools: ['cloud', 'tidy'] })
  expect(await client.toolNames()).toEqual(['manage_tools', 'regions', 'format_disk', 'tidy'])
  await manage(client, 'disable', { tools: 'disks' })
  expect(await client.toolNames()).toEqual(['manage_tools', 'regions', 'tidy'])
  await manage(client, 'disable', { tools: ['cloud', 'desk'] })
  expect(await client.toolNames()).toEqual(['manage_tools'])
  await client.waitForListChanges(3)
  await client.settle()
  expect(client.listChanges).toBe(3)
})

verifies('L02-4', async ({ connect }) => {
  const client = await connect(office({ exposure: 'lazy' }))
  expect(textOf(await manage(client, 'search', { query: 'read file' }))).toContain('- read_file(path: string) — Read a file')
  const narrowed = await manage(client, 'search', { query: 'read file', group: 'mail' })
  expect(textOf(narrowed)).not.toContain('read_file')
  const described = await manage(client, 'describe', { tools: ['ping', 'read_file'] })
  expect(textOf(described)).toContain('"inputSchema"')
  expect(replyData(described)).toMatchObject({ names: ['ping', 'read_file'] })
  const none = await manage(client, 'describe', { tools: 'raed_file' })
  expect(textOf(none)).toContain('Nearest: read_file')
  expect(await client.toolNames()).toEqual(['manage_tools'])
})

verifies('L02-5', async ({ connect }) => {
  const client = await connect(office({ exposure: 'lazy' }))
  await manage(client, 'enable', { tools: ['ping', 'files'] })
  const reply = await manage(client, 'reset')
  expect(textOf(reply)).toContain('No longer listed: read_file, write_file, delete_file, ping.')
  expect(await client.toolNames()).toEqual(['manage_tools'])
  expect(textOf(await manage(client, 'reset'))).toBe('Nothing was enabled.')
  await client.waitForListChanges(2)
  await client.settle()
  expect(client.listChanges).toBe(2)
})

verifies('L02-6', async ({ connect }) => {
  const client = await connect(office({ exposure: 'lazy' }))
  const reply = await manage(client, 'enable', { tools: ['write_file', 'ping'] })
  expect(textOf(reply)).toContain('2 tools are now available:')
  expect(textOf(reply)).toContain('- write_file(path: string, text: string) — Write a file')
  expect(textOf(reply)).toContain('- ping() — Say that the server is there')
  expect(replyData(reply)).toMatchObject({ enabled: ['write_file', 'ping'] })
})

verifies('L02-7', async ({ connect }) => {
  const events: string[] = []
  const hooks = { activate: () => void events.push('open'), deactivate: () => void events.push('close') }
  const toolbox = defineToolbox({ ...info, exposure: 'lazy', groups: { db: { description: 'Database', hooks } } })
    .tool('query', { group: 'db', description: 'Ask' }, () => 'rows')
    .tool('insert', { group: 'db', description: 'Add' }, () => 'added')
  const client = await connect(toolbox)
  expect(textOf(await manage(client, 'list'))).toContain('- query — Ask')
  await manage(client, 'enable', { tools: 'query' })
  expect(await client.toolNames()).toEqual(['manage_tools', 'query'])
  expect(textOf(await client.call('query'))).toBe('rows')
  await manage(client, 'enable', { tools: 'insert' })
  await manage(client, 'disable', { tools: 'query' })
  expect(await client.toolNames()).toEqual(['manage_tools', 'insert'])
  expect(events).toEqual(['open'])
  await manage(client, 'disable', { tools: 'db' })
  expect(await client.toolNames()).toEqual(['manage_tools'])
  expect(events).toEqual(['open', 'close'])
  await client.waitForListChanges(4)
  await client.settle()
  expect(client.listChanges).toBe(4)
})

verifies('L02-8', async ({ connect }) => {
  const client = await connect(office(), { view: 'exposure=lazy&groups=files' })
  expect(await client.toolNames()).toEqual(['manage_tools', 'read_file', 'write_file', 'delete_file'])
  expect(textOf(await manage(client, 'disable', { tools: 'read_file' }))).toContain('Still listed')
})

verifies('L02-9', async ({ connect }) => {
  const client = await connect(office({ exposure: 'lazy' }))
  for (const action of ['enable', 'disable'])
    for (const tools of [undefined, []]) {
      const refused = await manage(client, action, tools === undefined ? {} : { tools })
      expect(reasonOf(refused)).toBe('invalid_arguments')
      expect(textOf(refused)).toBe(`"tools" is missing. List the tools or groups to ${action}.`)
    }
})

verifies('L03-1', async ({ serve }) => {
  const server = await serve(office({ exposure: 'lazy' }))
  expect(await (await server.connect()).toolNames()).toEqual(searchSurface)
  const asked = await (await serve(office())).connect({ view: 'exposure=lazy' })
  expect(await asked.toolNames()).toEqual(searchSurface)
})

verifies('L03-2', async ({ wire }) => {
  const client = await wire(office({ exposure: 'lazy' }))
  const before = (await client.ask('tools/list')).text
  const calls: readonly (readonly [string, Record<string, unknown>])[] = [
    ['search_tools', { query: 'read file' }],
    ['search_tools', { query: '' }],
    ['describe_tools', { names: ['read_file'] }],
    ['call_tool', { name: 'read_file', arguments: { path: 'a' } }],
    ['call_tool', { name: 'read_file', arguments: {} }],
    ['call_tool', { name: 'nothing' }],
    ['manage_tools', { action: 'enable', tools: ['read_file', 'files'] }],
    ['manage_tools', { action: 'disable', tools: 'read_file' }],
    ['manage_tools', { action: 'reset' }],
    ['manage_tools', { action: 'status' }],
    ['activate_files', {}],
    ['deactivate', { group: 'files' }],
    ['read_file', { path: 'a' }],
  ]
  for (const [name, args] of calls) {
    await client.ask('tools/call', { name, arguments: args })
    expect((await client.ask('tools/list')).text).toBe(before)
  }
  expect(client.notifications).toEqual([])
})

verifies('L03-3', async ({ connect }) => {
  const client = await connect(office({ exposure: 'lazy' }))
  const reply = await manage(client, 'enable', { tools: ['read_file', 'raed_file'] })
  expect(textOf(reply)).toContain('calls do not change the tool list. Call these with call_tool:')
  expect(textOf(reply)).toContain('- read_file(path: string) — Read a file')
  expect(textOf(reply)).toContain('Unknown tool "raed_file".')
  expect(replyData(reply)).toMatchObject({ enabled: [] })
})
