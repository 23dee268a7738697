import { defineToolbox, Failure, listen, type Source, type Toolbox, type ToolContext, ToolGroups } from '@unfold-mcp/server'
import { mcpServer, tool, toolboxOf } from '@unfold-mcp/server/decorators'
import { testContext } from '@unfold-mcp/server/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { automationHub } from '../fixtures/automation-hub.ts'
import { devopsHub } from '../fixtures/devops-hub.ts'
import { fixture } from '../fixtures/fixture.ts'
import { reasonOf, refusalOf, textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }
const isActivator = (name: string): boolean => name.startsWith('activate') || name === 'deactivate'

verifies('A06-1', devopsHub, async ({ connect, served }) => {
  const client = await connect(served)
  const shown = async () => (await client.toolNames()).filter((name) => !isActivator(name))
  await client.call('activate_infra')
  await client.call('activate_aws')
  expect(await shown()).toEqual(['servers', 'ec2_list'])
  await client.call('activate_gcp')
  expect(await shown()).toEqual(['servers', 'gce_list'])
  await client.call('activate_aws')
  expect(await shown()).toEqual(['servers', 'ec2_list'])
})

verifies('A06-2', devopsHub, async ({ connect, served }) => {
  const client = await connect(served)
  for (const group of ['infra', 'aws', 'fargate']) await client.call(`activate_${group}`)
  expect(await client.toolNames()).toContain('containers')
  await client.call('activate_gcp')
  await client.call('activate_aws')
  expect(await client.toolNames()).not.toContain('containers')
})

verifies('A07-1', devopsHub, async ({ connect, served }) => {
  const client = await connect(served)
  const before = await client.tools()
  const early = await client.call('activate_aws')
  expect(reasonOf(early)).toBe('group_inactive')
  expect(textOf(early)).toContain("Call 'activate_infra' first.")
  await client.settle()
  expect(await client.tools()).toEqual(before)
  expect(client.listChanges).toBe(0)
})

verifies('A07-2', devopsHub, async ({ connect, served }) => {
  const client = await connect(served)
  for (const group of ['infra', 'aws']) await client.call(`activate_${group}`)
  await client.call('deactivate', { group: 'infra' })
  await client.call('activate_infra')
  expect((await client.toolNames()).filter((name) => !isActivator(name))).toEqual(['servers'])
})

verifies('A07-3', devopsHub, async ({ connect, served }) => {
  const client = await connect(served)
  expect(textOf(await client.call('activate_fargate'))).toContain("'activate_infra'")
  await client.call('activate_infra')
  expect(textOf(await client.call('activate_fargate'))).toContain("'activate_aws'")
  for (const group of ['aws', 'fargate']) await client.call(`activate_${group}`)
  expect(await client.toolNames()).toContain('containers')
  await client.call('deactivate', { group: 'infra' })
  for (const group of ['infra', 'aws']) await client.call(`activate_${group}`)
  expect(await client.toolNames()).not.toContain('containers')
})

verifies('A10', async ({ connect }) => {
  const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files' } } })
    .tool('deactivate', { activator: true, when: () => false, inputSchema: z.object({ group: z.string() }) }, () => 'never')
    .tool('read_file', { group: 'files' }, () => 'contents')
    .tool('finish', {}, async (_, ctx) => {
      await ctx.deactivate('files')
      return 'finished'
    })
  const client = await connect(toolbox)
  await client.call('activate_files')
  expect(await client.toolNames()).toEqual(['activate_files', 'read_file', 'finish'])
  expect((await refusalOf(client.call('deactivate', { group: 'files' }))).reason).toBe('unknown_tool')
  await client.call('finish')
  expect(await client.toolNames()).toEqual(['activate_files', 'finish'])
})

verifies('A11', async () => {
  const toolbox = defineToolbox({
    ...info,
    groups: { cloud: { description: 'Cloud providers' }, aws: { description: 'AWS', parent: 'cloud' } },
  })
    .tool('regions', { group: 'cloud' }, () => '')
    .tool('ec2_list', { group: 'aws' }, () => '')
    .tool('s3_list', { group: 'aws' }, () => '')
  await using client = await testContext(toolbox)
  await client.call('activate_cloud')
  expect(client.groups()).toEqual([
    { name: 'cloud', description: 'Cloud providers', parent: undefined, active: true, activator: 'activate_cloud', toolCount: 1 },
    { name: 'aws', description: 'AWS', parent: 'cloud', active: false, activator: 'activate_aws', toolCount: 2 },
  ])
  await using gated = await testContext(defineToolbox({ ...info, gate: 'Everything' }).tool('ping', {}, () => 'pong'))
  expect(gated.groups()).toEqual([])
})

verifies('A19', automationHub, async ({ connect, served }) => {
  const client = await connect(served)
  const unknown = await client.call('deactivate', { group: 'netwrok' })
  expect(reasonOf(unknown)).toBe('unknown_group')
  expect(textOf(unknown)).toContain('Unknown group "netwrok". Nearest: network. Groups: file_ops, network, database.')
})

verifies('R04-1', async ({ connect }) => {
  let mounted = false
  const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files' } }, facts: () => ({ mounted }) })
  toolbox.tool('read_file', { group: 'files', when: ({ facts }) => facts.mounted }, () => 'contents')
  const client = await connect(toolbox)
  const isShown = async () => (await client.toolNames()).includes('read_file')
  expect(await isShown()).toBe(false)
  mounted = true
  expect(await isShown()).toBe(false)
  await client.call('activate_files')
  expect(await isShown()).toBe(true)
  mounted = false
  expect(await isShown()).toBe(false)
})

verifies('R04-2', async ({ serve }) => {
  const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files' } } })
    .tool('read_file', { group: 'files' }, () => 'contents')
    .tool('welcome', { when: ({ isActive }) => !isActive('files') }, () => 'Open the files first')
    .tool('summary', { when: ({ isActive }) => isActive('files') }, () => 'One file')
  const server = await serve(toolbox)
  const [one, other] = [await server.connect(), await server.connect()]
  await one.call('activate_files')
  expect(await one.toolNames()).toEqual(['activate_files', 'deactivate', 'read_file', 'summary'])
  expect(await other.toolNames()).toEqual(['activate_files', 'deactivate', 'welcome'])
})

verifies('R05-2', async ({ connect }) => {
  const groups = {
    app: { description: 'The application', needs: ['database'] },
    database: { description: 'The database', needs: ['secrets'] },
    secrets: { description: 'Secrets' },
    other: { description: 'Unrelated' },
  } as const
  const toolbox = defineToolbox({ ...info, groups })
  for (const group of ['app', 'database', 'secrets', 'other'] as const) toolbox.tool(`in_${group}`, { group }, () => group)
  const client = await connect(toolbox)
  await client.call('activate_app')
  expect((await client.toolNames()).filter((name) => !isActivator(name))).toEqual(['in_app', 'in_database', 'in_secrets'])
})

verifies('R05-3', () => {
  const circle = () =>
    defineToolbox({
      ...info,
      groups: {
        a: { description: 'A', needs: ['b'] },
        b: { description: 'B', parent: 'c' },
        c: { description: 'C', needs: ['a'] },
      },
    })
  expect(circle).toThrow(Failure)
  expect(circle).toThrow('a → b → c → a')
})

verifies('R05-4', async ({ connect }) => {
  const groups = {
    app: { description: 'The application', needs: ['database'] },
    database: { description: 'The database' },
  } as const
  const toolbox = defineToolbox({ ...info, groups })
    .tool('in_app', { group: 'app' }, () => '')
    .tool('in_database', { group: 'database' }, () => '')
  const client = await connect(toolbox)
  await client.call('activate_app')
  const text = textOf(await client.call('deactivate', { group: 'database' }))
  expect(text).toContain('Deactivated dependent groups: app.')
  expect((await client.toolNames()).filter((name) => !isActivator(name))).toEqual([])
})

verifies('R08-2', () => {
  const groups = { files: { description: 'Files' }, cloud: { description: 'Cloud' } } as const
  // @ts-expect-error 'flies' is not a group: 'files' and 'cloud' are
  expect(() => defineToolbox({ ...info, groups }).tool('read', { group: 'flies' }, () => '')).toThrow('Nearest: files')
  // @ts-expect-error 'flies' is not a group
  expect(() => defineToolbox({ ...info, groups }).tool('open', { activator: 'flies' }, () => '')).toThrow('Nearest: files')
  // @ts-expect-error 'clod' is not a group
  expect(() => defineToolbox({ ...info, groups: { cloud: {}, aws: { parent: 'clod' } } })).toThrow(Failure)
  // @ts-expect-error 'clod' is not a group
  expect(() => defineToolbox({ ...info, groups: { cloud: {}, aws: { excludes: ['clod'] } } })).toThrow(Failure)
  // @ts-expect-error 'clod' is not a group
  expect(() => defineToolbox({ ...info, groups: { cloud: {}, aws: { needs: ['clod'] } } })).toThrow(Failure)
  expect(() => new ToolGroups().withGroup('cloud', 'Cloud').withChildGroup('aws', 'clod', 'AWS')).toThrow('Nearest: cloud')
})

verifies('R08-3', devopsHub, async ({ connect, served }) => {
  const client = await connect(served)
  const activators = ['activate_infra', 'activate_deploy', 'activate_aws', 'activate_gcp', 'activate_fargate', 'deactivate']
  expect(await client.toolNames()).toEqual(activators)
  await client.call('activate_infra')
  expect(await client.toolNames()).toEqual([...activators, 'servers'])
})

verifies('R08-4', async ({ connect }) => {
  const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files' }, network: { description: 'Network' } } })
    .tool('read_file', { group: 'files' }, () => 'contents')
    .tool(
      'open_files',
      { activator: 'files', description: 'Open the files', inputSchema: z.object({ drive: z.string() }) },
      async (input, ctx) => {
        await ctx.activate('files')
        return `Opened ${input.drive}`
      },
    )
    .tool('deactivate', { activator: true, description: 'Close everything' }, async (_, ctx) => {
      await ctx.deactivate('files')
      return 'Closed'
    })
  const client = await connect(toolbox)
  expect(await client.toolNames()).toEqual(['open_files', 'activate_network', 'deactivate'])
  expect(textOf(await client.call('open_files', { drive: 'c' }))).toContain('Opened c')
  expect(await client.toolNames()).toContain('read_file')
  expect(textOf(await client.call('deactivate'))).toContain('Closed')
  expect(await client.toolNames()).not.toContain('read_file')
})

/** A toolbox whose activator prepares a resource for its tools. */
const mounting = () => {
  const mounted: string[] = []
  const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files' }, mail: { description: 'Mail' } } })
    .tool('read_file', { group: 'files' }, () => mounted.join())
    .tool('send_mail', { group: 'mail' }, () => 'sent')
    .tool(
      'open_files',
      { activator: 'files', description: 'Mount a drive', inputSchema: z.object({ drive: z.string() }) },
      async (input, ctx) => {
        mounted.push(input.drive)
        const { changed, listIsFixed } = await ctx.activate('files')
        return `Mounted ${input.drive}: ${changed}, ${listIsFixed}`
      },
    )
  return { toolbox, mounted }
}

verifies('P04', async ({ connect }) => {
  const { toolbox, mounted } = mounting()
  const client = await connect(toolbox)
  expect(await client.toolNames()).toEqual(['open_files', 'read_file', 'send_mail'])
  const reply = textOf(await client.call('open_files', { drive: 'c' }))
  expect(reply).toContain('Mounted c: false, true')
  expect(reply).toContain('No activation is needed')
  expect(reply).toContain('- read_file()')
  expect(reply).not.toContain('send_mail')
  expect(textOf(await client.call('read_file'))).toBe('c')
  expect(await client.toolNames()).toEqual(['open_files', 'read_file', 'send_mail'])

  // In a view, the activator is listed with the tools of its group.
  expect(await (await connect(toolbox, { view: 'groups=files' })).toolNames()).toEqual(['open_files', 'read_file'])
  expect(await (await connect(toolbox, { view: 'groups=mail' })).toolNames()).toEqual(['send_mail'])
  expect(await (await connect(toolbox, { view: 'readOnly=true' })).toolNames()).toEqual([])

  const searching = await connect(toolbox, { view: 'exposure=search' })
  expect(textOf(await searching.call('search_tools', { query: 'mount a drive' }))).toContain('open_files(drive: string)')
  const through = await searching.call('call_tool', { name: 'open_files', arguments: { drive: 'd' } })
  expect(textOf(through)).toContain('Mounted d')
  expect(mounted).toEqual(['c', 'd'])
})

test('custom activators also run in sessions that list everything or use search', async () => {
  const { toolbox, mounted } = mounting()
  await using everything = await testContext(toolbox, { view: 'exposure=everything' })
  expect(everything.toolNames()).toEqual(['open_files', 'read_file', 'send_mail'])
  expect(textOf(await everything.call('open_files', { drive: 'a' }))).toContain('Mounted a: false, true')
  await using searching = await testContext(toolbox, { view: 'exposure=search' })
  expect(textOf(await searching.call('search_tools', { query: 'mount a drive' }))).toContain('open_files(drive: string)')
  await using lazy = await testContext(toolbox, { view: 'exposure=lazy' })
  await lazy.call('manage_tools', { action: 'enable', tools: 'open_files' })
  expect(lazy.toolNames()).toEqual(['open_files', 'manage_tools'])
  expect(textOf(await lazy.call('open_files', { drive: 'b' }))).toContain('Mounted b: true, undefined')
  expect(lazy.toolNames()).toContain('read_file')
  expect(mounted).toEqual(['a', 'b'])
})

verifies('P05', async () => {
  const report = (): void => undefined
  const alone = () => defineToolbox({ ...info, report }).tool('begin', { activator: true }, () => 'begun')
  const refused = { reason: 'invalid_declaration', message: expect.stringContaining('neither groups nor a gate to activate') }
  await expect(testContext(alone())).rejects.toMatchObject(refused)
  await expect(listen(alone(), { port: 0 })).rejects.toMatchObject(refused)
  @mcpServer({ name: 'alone', version: '1.0.0', report })
  class Alone {
    @tool({ activator: true })
    begin() {
      return 'begun'
    }
  }
  await expect(testContext(new Alone())).rejects.toMatchObject(refused)
  const gated = defineToolbox({ ...info, gate: 'All' }).tool('begin', { activator: true }, () => '')
  await using context = await testContext(gated.tool('ping', {}, () => 'pong'))
  expect(context.toolNames()).toEqual(['begin'])
  // A source may bring its own groups.
  const later: Source = { name: 'later', entries: () => [], groups: () => ({}), subscribe: () => () => undefined }
  await using waiting = await testContext(alone().use(later))
  expect(waiting.toolNames()).toEqual(['begin'])
})

const gatedGroups = {
  files: { description: 'Files' },
  drafts: { description: 'Drafts', parent: 'files' },
  basics: { description: 'Basics', default: true },
} as const

/** A gate with groups behind it, written with both APIs. */
const gatedHub = fixture('gated hub', {
  toolbox: () => ({
    served: defineToolbox({ ...info, gate: 'The whole hub', groups: gatedGroups, quota: { groups: 3 } })
      .tool('read_file', { group: 'files' }, () => 'read')
      .tool('save_draft', { group: 'drafts' }, () => 'saved')
      .tool('ping', { group: 'basics' }, () => 'pong')
      .tool('about', {}, () => 'a hub')
      .tool('help', { always: true }, () => 'help'),
  }),
  decorators: () => {
    @mcpServer({ name: 'hub', version: '1.0.0', activation: 'active', groups: 'groups', description: 'The whole hub' })
    class Gated {
      active = false
      readonly groups = new ToolGroups(gatedGroups)
      @tool({ group: 'files' }) read_file() {
        return 'read'
      }
      @tool({ group: 'drafts' }) save_draft() {
        return 'saved'
      }
      @tool({ group: 'basics' }) ping() {
        return 'pong'
      }
      @tool() about() {
        return 'a hub'
      }
      @tool({ always: true }) help() {
        return 'help'
      }
    }
    return { served: new Gated() }
  },
})

verifies('P08', gatedHub, async ({ connect, served }) => {
  const client = await connect(served)
  expect(await client.toolNames()).toEqual(['activate', 'help'])
  expect(textOf(await client.call('activate_files'))).toBe(
    'Group "files" can only be opened once the server is activated. Call \'activate\' first.',
  )
  const opened = textOf(await client.call('activate'))
  expect(opened).toContain('Activated: basics.')
  expect(opened).toContain('- activate_files: Files.')
  const menu = ['activate', 'activate_files', 'activate_drafts', 'activate_basics', 'deactivate']
  expect(await client.toolNames()).toEqual([...menu, 'ping', 'about', 'help'])
  await client.call('activate_files')
  await client.call('activate_drafts')
  expect(await client.toolNames()).toEqual([...menu, 'read_file', 'save_draft', 'ping', 'about', 'help'])
  await client.call('deactivate', { group: 'files' })
  expect(await client.toolNames()).toEqual([...menu, 'ping', 'about', 'help'])
  expect(reasonOf(await client.call('deactivate', { group: 'all' }))).toBe('unknown_group')
})

test('a gate with groups: closing it from code deactivates all groups, and a view opens the gate for its groups', async () => {
  const { served } = gatedHub.make('toolbox')
  await using client = await testContext(served)
  await client.call('activate')
  await client.call('activate_files')
  await (served as Toolbox).deactivate('all', client.scope)
  expect(client.toolNames()).toEqual(['activate', 'help'])
  expect(client.groups().map(({ name, active, parent }) => [name, active, parent])).toEqual([
    ['files', false, undefined],
    ['drafts', false, 'files'],
    ['basics', false, undefined],
  ])
  await using viewing = await testContext(served, { view: 'groups=files' })
  expect(viewing.toolNames()).toContain('read_file')
  await using stateless = await testContext(served, { era: 'stateless' })
  expect(stateless.toolNames()).toEqual(['read_file', 'save_draft', 'ping', 'about', 'help'])
  await expect(testContext(served, { view: 'groups=(gate)' })).rejects.toMatchObject({ reason: 'invalid_view' })
})

test('a handler opens the gate by activating without a group', async () => {
  const toolbox = defineToolbox({ ...info, gate: 'All' })
    .tool('begin', { activator: true }, async (_, ctx) => `${ctx.isActive()} ${(await ctx.activate()).changed} ${ctx.isActive()}`)
    .tool('ping', {}, () => 'pong')
  await using client = await testContext(toolbox)
  expect(textOf(await client.call('begin'))).toContain('false true true')
  expect(client.toolNames()).toEqual(['begin', 'ping'])
})

verifies('P09', async ({ wire, testTransport }) => {
  const toolbox = defineToolbox({ ...info, gate: 'Everything there is', hiddenCalls: 'hint' })
    .tool('read_file', { tags: ['disk'] }, () => 'read')
    .tool('write_file', {}, () => 'written')
  const call = (name: string, args: object) => ['tools/call', { name, arguments: args }] as const
  const client = await wire(toolbox)
  const read = [client.greeting.text]
  for (const [method, params] of [
    ['tools/list', {}],
    call('search_tools', { query: '' }),
    call('search_tools', { query: 'file', group: 'nothing' }),
    call('manage_tools', { action: 'list' }),
    call('manage_tools', { action: 'enable', tools: ['al', 'gate'] }),
    call('describe_tools', { names: ['read_file'] }),
    call('read_file', {}),
    call('activate', {}),
    call('activate', {}),
    ['server/identity', { outline: true }],
    ['tools/describe', { name: 'read_file' }],
    ['tools/list', {}],
  ] as const)
    read.push((await client.ask(method, params)).text)
  const view = await wire(toolbox, { view: 'tags=disk' })
  read.push((await view.ask('tools/call', { name: 'write_file' })).text)
  expect(read.filter((text) => text.includes('(gate)') || /"all"|\ball[ (:.]|=all/u.test(text))).toEqual([])
  expect(read.join()).toContain(testTransport.era === 'session' ? 'Activated.' : 'No activation is needed')
})

verifies('P11', async ({ serve, testTransport }) => {
  const toolbox = defineToolbox({
    ...info,
    groups: { notion: {}, deep: { parent: 'notion' } },
    permit: (principal, { name }) => name !== 'delete_database' || principal?.id === 'ann',
  })
  for (const name of ['create_page', 'list_pages', 'move_page', 'delete_database', 'get_database'])
    toolbox.tool(name, { group: 'notion' }, () => '')
  toolbox.tool('add_comment', { group: 'deep' }, () => '')
  const server = await serve(toolbox)
  const client = await server.connect({ principal: { id: 'ann' } })
  const other = await server.connect({ principal: { id: 'bob' } })
  const hers = 'Notion: pages, databases, comments (6 tools).'
  const his = 'Notion: pages, databases, comments (5 tools).'
  expect(client.client.getInstructions()).toContain(hers)
  expect(other.client.getInstructions()).toContain(his)
  if (testTransport.era === 'stateless') return
  const described = async (of: typeof client) => (await of.tools()).find(({ name }) => name === 'activate_notion')?.description
  expect(await described(client)).toContain(hers)
  expect(await described(other)).toContain(his)
  expect(textOf(await client.call('activate_notion'))).toContain('- activate_deep: Deep: comments (1 tool).')
})

verifies('P13', async ({ connect }) => {
  const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files and folders' }, mail: {} } })
    .tool('open_files', { activator: 'files' }, (_, ctx) => ctx.activate('files'))
    .tool('open_mail', { activator: 'mail', description: 'Mail, by hand' }, (_, ctx) => ctx.activate('mail'))
    .tool('read_file', { group: 'files' }, () => '')
    .tool('send_mail', { group: 'mail' }, () => '')
  const described = async (view = '') =>
    (await (await connect(toolbox, { view })).tools()).map(({ name, description }) => [name, description]).slice(0, 2)
  const expected = [
    ['open_files', 'Files and folders.'],
    ['open_mail', 'Mail, by hand'],
  ]
  expect(await described()).toEqual(expected)
  expect(await described('exposure=everything')).toEqual(expected)
  const searching = await connect(toolbox, { view: 'exposure=search' })
  expect(textOf(await searching.call('describe_tools', { names: 'open_files' }))).toContain('Files and folders.')
})

verifies('P14', async ({ connect }) => {
  const description = 'Examines source code.'
  const gated = defineToolbox({ ...info, description, gate: description }).tool('count_lines', {}, () => 3)
  expect((await connect(gated)).client.getInstructions()).toBe('Examines source code.\nCall activate to list its tools.')
  @mcpServer({ name: 'hub', version: '1.0.0', description, activation: 'active' })
  class Analyzer {
    active = false
    @tool() count_lines() {
      return 3
    }
  }
  expect((await connect(new Analyzer())).client.getInstructions()).toBe('Examines source code.\nCall activate to list its tools.')
  const silent = defineToolbox({ ...info, gate: {} }).tool('count_lines', {}, () => 3)
  expect((await connect(silent)).client.getInstructions()).toBe('Call activate to list its tools: Hub: lines (1 tool).')
})

verifies('P15', async ({ serve, testTransport }) => {
  @mcpServer({ name: 'hub', version: '1.0.0', activation: 'active', groups: 'groups' })
  class Hub {
    active = false
    readonly groups = new ToolGroups().withGroup('files', 'Files')
    @tool({ group: 'files' }) read_file(_input: object, ctx: ToolContext) {
      return ctx.scope
    }
  }
  const hub = new Hub()
  const server = await serve(hub)
  expect(() => hub.active).toThrow('Open scopes: none.')
  const client = await server.connect()
  const both = () => [hub.active, hub.groups.isActive('files')]
  if (testTransport.transport === 'stdio') expect(both()).toEqual([false, false])
  await client.call('activate')
  await client.call('activate_files')
  const scope = textOf(await client.call('read_file'))
  expect(toolboxOf(hub).isActive('files', scope)).toBe(true)
  if (testTransport.transport === 'stdio') expect(both()).toEqual([true, true])
  // With a second client, or over HTTP, the scope must be specified.
  if (testTransport.transport === 'stdio') await server.connect()
  expect(() => hub.active).toThrow(
    `"active" outside a call needs a scope: toolboxOf(server).isActive('all', scope). Open scopes: ${scope}`,
  )
  expect(() => hub.groups.isActive('files')).toThrow(
    `isActive() outside a call needs a scope: toolboxOf(server).isActive('files', scope).`,
  )
  expect(() => toolboxOf(hub).isActive('files', 'session:none')).toThrow('No client is connected as "session:none"')
})

verifies('R08-5', automationHub, async ({ connect, served }) => {
  const client = await connect(served)
  const described = new Map((await client.tools()).map(({ name, description }) => [name, description]))
  expect(described.get('activate_file_ops')).toMatch(/file operations.*Enables: read_file, write_file\./iu)
  expect(described.get('activate_network')).toMatch(/Enables: fetch_url\./u)
})

verifies('F08', async ({ connect }) => {
  const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files' } } }).tool(
    'read_file',
    { group: 'files' },
    () => '',
  )
  const client = await connect(toolbox)
  const titles = (await client.tools()).map(({ name, title }) => [name, title])
  expect(titles).toEqual([
    ['activate_files', 'Activate files'],
    ['deactivate', 'Deactivate a group'],
  ])
  const gated = await connect(defineToolbox({ ...info, gate: 'Everything' }).tool('ping', {}, () => 'pong'))
  expect((await gated.tools()).map(({ title }) => title)).toEqual(['Activate'])
})
