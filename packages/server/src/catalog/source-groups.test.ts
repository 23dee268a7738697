import type { GroupDeclaration } from '@unfold-mcp/core'
import { describe, expect, test } from 'vitest'
import { ToolRegistry } from '../registry.ts'
import { type TestClient, type TestServer, testContext, testServer, testTransports } from '../testing/index.ts'
import type { Source, ToolEntry } from '../tool/entry.ts'
import type { Report } from '../tool/report.ts'
import { defineToolbox } from '../toolbox.ts'
import type { ToolboxOptions } from '../toolbox-options.ts'

type Brought = { readonly [name: string]: Omit<GroupDeclaration, 'strict'> }

/** A source whose tools and groups are added and removed together, like those of a plugin. */
class Plugin implements Source {
  readonly name = 'plugin'
  readonly #registry = new ToolRegistry({ name: 'plugin' })
  #groups: Brought = {}

  load(groups: Brought, tools: { readonly [name: string]: string }): this {
    this.#groups = groups
    for (const [name, group] of Object.entries(tools))
      this.#registry.registerInGroup(name, { description: name }, group, () => `${name} ran`)
    return this
  }

  unload(): void {
    this.#groups = {}
    for (const { tool } of this.#registry.entries()) this.#registry.unregister(tool.name)
  }

  entries(): readonly ToolEntry[] {
    return this.#registry.entries()
  }

  groups(): Brought {
    return this.#groups
  }

  subscribe(changed: (added?: ToolEntry) => void): () => void {
    return this.#registry.subscribe(changed)
  }
}

const notes = { notes: { description: 'Notes' } } as const
const noteTools = { add_note: 'notes', list_notes: 'notes' }

const reports: Report[] = []
const box = (options: Partial<ToolboxOptions<{ files: { description: string } }>> = {}) =>
  defineToolbox({
    name: 'hub',
    version: '1.0.0',
    groups: { files: { description: 'Files' } },
    report: (report) => void reports.push(report),
    ...options,
  })
    .tool('read_file', { group: 'files' }, () => 'text')
    .tool('ping', {}, () => 'pong')

const textOf = (result: { readonly content: readonly { readonly type: string }[] }): string => JSON.stringify(result.content)

describe.each(testTransports.filter(({ era }) => era === 'session'))('in a session over $transport', (testTransport) => {
  test('a group of a source has an activator, which is removed with it', async () => {
    const plugin = new Plugin()
    await using server = await testServer(box().use(plugin), testTransport)
    const client = await server.connect()
    const before = await client.toolNames()
    expect(before).not.toContain('activate_notes')
    plugin.load(notes, noteTools)
    await client.waitForListChanges(1)
    expect(await client.toolNames()).toEqual(['activate_files', 'activate_notes', 'deactivate', 'ping'])
    expect(textOf(await client.call('activate_notes'))).toContain('add_note')
    expect(await client.toolNames()).toContain('list_notes')
    expect(textOf(await client.call('add_note'))).toContain('add_note ran')
    plugin.unload()
    await client.waitForListChanges(3)
    expect(await client.toolNames()).toEqual(before)
    await expect(client.call('add_note')).rejects.toThrow('not found')
    await expect(client.call('activate_notes')).rejects.toThrow('not found')
  })

  test('other groups stay active when a group is removed, and can be activated and deactivated as before', async () => {
    const plugin = new Plugin().load(notes, noteTools)
    await using server = await testServer(box().use(plugin), testTransport)
    const client = await server.connect()
    await client.call('activate_notes')
    await client.call('activate_files')
    plugin.unload()
    await client.waitForListChanges(3)
    expect(await client.toolNames()).toEqual(['activate_files', 'deactivate', 'read_file', 'ping'])
    await client.call('deactivate', { group: 'files' })
    expect(await client.toolNames()).toEqual(['activate_files', 'deactivate', 'ping'])
    expect(textOf(await client.call('deactivate', { group: 'notes' }))).toContain('notes')
    // After the change, the session has no trace of the removed group: it is inactive when it returns.
    plugin.load(notes, noteTools)
    expect(await client.toolNames()).toEqual(['activate_files', 'activate_notes', 'deactivate', 'ping'])
    await client.call('activate_notes')
    expect(await client.toolNames()).toContain('add_note')
  })

  test('a group inside a declared one is activated after it', async () => {
    const plugin = new Plugin().load({ sheets: { description: 'Sheets', parent: 'files' } }, { read_sheet: 'sheets' })
    await using server = await testServer(box().use(plugin), testTransport)
    const client = await server.connect()
    expect(textOf(await client.call('activate_sheets'))).toContain('activate_files')
    await client.call('activate_files')
    await client.call('activate_sheets')
    expect(await client.toolNames()).toEqual(expect.arrayContaining(['read_file', 'read_sheet']))
    await client.call('deactivate', { group: 'files' })
    expect(await client.toolNames()).not.toContain('read_sheet')
  })

  test('a URL can request a group as long as it exists', async () => {
    const plugin = new Plugin().load(notes, noteTools)
    await using server = await testServer(box().use(plugin), testTransport)
    const client = await server.connect({ view: 'groups=notes' })
    expect(await client.toolNames()).toEqual(expect.arrayContaining(['add_note', 'list_notes']))
    plugin.unload()
    expect(await client.toolNames()).not.toContain('add_note')
    await expect(connected(server, 'groups=notes')).rejects.toThrow('notes')
  })
})

// Over pipes a view is rejected before there is a connection, so the error is a rejection here.
const connected = async (server: TestServer, view: string): Promise<TestClient> => server.connect({ view })

describe.each(testTransports.filter(({ era }) => era === 'stateless'))('on 2026-07-28 over $transport', (testTransport) => {
  test('the tools of a group of a source are listed, and a URL can request it', async () => {
    const plugin = new Plugin()
    await using server = await testServer(box().use(plugin), testTransport)
    const client = await server.connect()
    plugin.load(notes, noteTools)
    await client.waitForListChanges(1)
    expect(await client.toolNames()).toEqual(['read_file', 'ping', 'add_note', 'list_notes'])
    const narrow = await server.connect({ view: 'groups=notes' })
    expect(await narrow.toolNames()).toEqual(['ping', 'add_note', 'list_notes'])
    plugin.unload()
    await client.waitForListChanges(2)
    expect(await client.toolNames()).toEqual(['read_file', 'ping'])
    // Over HTTP, the client of the SDK hides the reason of the server.
    const refused = testTransport.transport === 'http' ? 'did not offer' : 'notes'
    await expect(connected(server, 'groups=notes')).rejects.toThrow(refused)
  })
})

test('a default group of a source is active for clients that connect after it was added', async () => {
  const plugin = new Plugin()
  const toolbox = box().use(plugin)
  await using early = await testContext(toolbox)
  plugin.load({ notes: { description: 'Notes', default: true } }, noteTools)
  await using late = await testContext(toolbox)
  expect(late.toolNames()).toContain('add_note')
  expect(early.toolNames()).not.toContain('add_note')
  expect(late.groups().map(({ name, active }) => [name, active])).toEqual([
    ['files', false],
    ['notes', true],
  ])
})

test('a declared group is unchanged if a source adds one with its name', async () => {
  const plugin = new Plugin().load({ files: { description: 'Mine now', default: true } }, { steal: 'files' })
  await using client = await testContext(box().use(plugin))
  expect(client.groups()).toMatchObject([{ name: 'files', description: 'Files', active: false, toolCount: 2 }])
})

test('a source cannot add a tool with the name of the activator of its own group', () => {
  const plugin = new Plugin().load(notes, { activate_notes: 'notes' })
  expect(() => box().use(plugin)).toThrow('activate_notes')
})

test('an invalid group, such as one with an unknown parent, is rejected when the source is added', () => {
  const plugin = new Plugin().load({ sheets: { description: 'Sheets', parent: 'nowhere' } }, { read_sheet: 'sheets' })
  expect(() => box().use(plugin)).toThrow('nowhere')
})

test('an invalid group that is added while the server runs is reported, and the previous tools are served', async () => {
  const plugin = new Plugin().load(notes, noteTools)
  const toolbox = box().use(plugin)
  await using client = await testContext(toolbox)
  const before = client.toolNames()
  reports.length = 0
  expect(() => plugin.load({ sheets: { description: 'Sheets', parent: 'nowhere' } }, { read_sheet: 'sheets' })).toThrow('nowhere')
  expect(client.toolNames()).toEqual(before)
})
