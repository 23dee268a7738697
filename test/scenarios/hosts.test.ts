import { defineToolbox, type ToolboxOptions } from '@unfold-mcp/server'
import { testServer } from '@unfold-mcp/server/testing'
import { expect } from 'vitest'
import { office, officeTools, searchSurface } from '../fixtures/office.ts'
import { textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }
const officeMenu = ['activate_files', 'activate_mail', 'activate_calendar', 'deactivate', 'ping']
const above = { exposure: { mode: 'auto', budgetTokens: 10 } } as const

verifies('H01', async ({ serve }) => {
  const server = await serve(office({ exposure: 'lazy', hiddenCalls: 'reveal' }))
  const client = await server.connect({ view: 'exposure=search' })
  for (const tool of await client.tools()) expect(tool.outputSchema).toBeUndefined()
  for (const [name, args, expected] of [
    ['search_tools', { query: 'read a file' }, 'read_file(path: string)'],
    ['search_tools', { query: '' }, 'read_file'],
    ['describe_tools', { names: ['read_file'] }, '"inputSchema"'],
    ['manage_tools', { action: 'list' }, 'read_file'],
    ['manage_tools', { action: 'enable', tools: ['read_file'] }, 'read_file(path: string)'],
    ['activate_mail', {}, 'send_mail('],
    ['call_tool', { name: 'read_file', arguments: {} }, '"path"'],
  ] as const) {
    const reply = await client.call(name, args)
    expect(reply.structuredContent).toBeUndefined()
    expect(textOf(reply)).toContain(expected)
  }
})

verifies('H02', async ({ serve }) => {
  const server = await serve(office())
  expect(await (await server.connect({ name: 'some-agent' })).toolNames()).toEqual(officeMenu)
  expect(await (await server.connect({ name: 'claude-code' })).toolNames()).toEqual(officeMenu)
  for (const name of ['codex-mcp-client', 'opencode']) {
    const client = await server.connect({ name })
    expect(await client.toolNames()).toEqual([...officeMenu.slice(0, -1), 'call_tool', 'ping'])
    const opened = textOf(await client.call('activate_files'))
    expect(opened).toContain('read_file(path: string)')
    expect(opened).toContain('Call them with call_tool(name, arguments)')
    expect(textOf(await client.call('call_tool', { name: 'read_file', arguments: { path: 'a' } }))).toBe('contents of a')
  }
})

verifies('H03', async ({ serve }) => {
  const through = async (hiddenCalls: NonNullable<ToolboxOptions<unknown>['hiddenCalls']>, before: readonly string[] = []) => {
    const client = await (await serve(office({ hiddenCalls }))).connect({ name: 'codex-mcp-client' })
    for (const activator of before) await client.call(activator)
    return client.call('call_tool', { name: 'read_file', arguments: { path: 'a' } })
  }
  for (const policy of ['opaque', 'hint', 'reveal'] as const)
    expect(textOf(await through(policy, ['activate_files']))).toBe('contents of a')
  const opaque = await through('opaque')
  expect(opaque.isError).toBe(true)
  expect(textOf(opaque)).toBe('Unknown tool "read_file".')
  expect(textOf(await through('hint'))).toContain("Call 'activate_files' first")
  expect(textOf(await through('reveal'))).toContain('contents of a')
})

verifies('H04', async ({ serve }) => {
  const hasCallTool = async (options: Parameters<typeof office>[0], connect: { name?: string; view?: string }) =>
    (await (await (await serve(office(options))).connect(connect)).toolNames()).includes('call_tool')
  expect(await hasCallTool({}, { name: 'codex-mcp-client' })).toBe(true)
  expect(await hasCallTool({}, { view: 'host=codex' })).toBe(true)
  expect(await hasCallTool({ exposure: { host: 'codex' } }, {})).toBe(true)
  expect(await hasCallTool({ exposure: { host: 'claude-code' } }, { name: 'codex-mcp-client' })).toBe(false)
  expect(await hasCallTool({ exposure: { host: 'codex' } }, { view: 'host=claude-code' })).toBe(false)
  // A newer host that this server does not know yet.
  expect(await hasCallTool({}, { view: 'host=tomorrow' })).toBe(false)
  expect(() => office({ exposure: { host: 'codx' } })).toThrow('Nearest: codex')
  let time = 0
  const server = await serve(office({ now: () => time }))
  const learned = await server.connect({ name: 'claude-code' })
  await learned.call('activate_files')
  time += 1_001
  expect(textOf(await learned.call('activate_mail'))).toContain('Call them with call_tool')
})

verifies('H05', async ({ serve }) => {
  const server = await serve(office(above))
  expect(await (await server.connect({ name: 'qwen-code' })).toolNames()).toEqual(searchSurface)
  expect(await (await server.connect({ view: 'host=qwen-code' })).toolNames()).toEqual([...searchSurface, ...officeTools])
})

verifies('H06', async ({ testTransport }) => {
  await using server = await testServer(office(), testTransport, { relistTimeoutMs: 60_000 })
  const client = await server.connect()
  const listed: (readonly string[])[] = []
  let isAnswered = false
  client.client.setNotificationHandler('notifications/tools/list_changed', async () => {
    expect(isAnswered).toBe(false)
    listed.push(await client.toolNames())
  })
  await client.toolNames()
  await client.call('activate_files')
  isAnswered = true
  expect(listed.flat()).toContain('read_file')
  expect(textOf(await client.call('read_file', { path: 'a' }))).toBe('contents of a')
})

verifies('H07', async ({ testTransport }) => {
  await using slow = await testServer(office(), testTransport, { relistTimeoutMs: 50 })
  const silent = await slow.connect()
  expect(textOf(await silent.call('activate_files'))).toContain('read_file')
  // With this timeout, a reply arrives only if the server does not wait.
  await using server = await testServer(office(), testTransport, { relistTimeoutMs: 1_000_000 })
  const never = await server.connect({ name: 'codex-mcp-client' })
  expect(textOf(await never.call('activate_files'))).toContain('read_file')
  const elsewhere = await server.connect({ view: 'host=opencode' })
  expect(textOf(await elsewhere.call('activate_files'))).toContain('read_file')
  const follower = await server.connect()
  follower.client.setNotificationHandler('notifications/tools/list_changed', () => follower.toolNames().then(() => undefined))
  expect(textOf(await follower.call('activate_files'))).toContain('read_file')
})

verifies('H08', async ({ connect }) => {
  const toolbox = defineToolbox({
    ...info,
    groups: { issues: { description: 'Issues' } },
    exposure: { mode: 'native', budgetTokens: 1 },
  })
    .tool('create_issue', { group: 'issues', description: 'Create an issue', tags: ['tracker'] }, () => '')
    .tool('now', { always: true }, () => '')
    .tool('pinned_by_author', { group: 'issues', _meta: { 'anthropic/alwaysLoad': true } }, () => '')
  const tools = await (await connect(toolbox)).tools()
  const meta = Object.fromEntries(tools.map(({ name, _meta }) => [name, _meta]))
  expect(Object.keys(meta)).toEqual(['create_issue', 'now', 'pinned_by_author'])
  expect(meta.now).toEqual({ 'anthropic/alwaysLoad': true })
  expect(meta.pinned_by_author).toMatchObject({ 'anthropic/alwaysLoad': true })
  const words = String(meta.create_issue?.['anthropic/searchHint']).split(' ')
  for (const word of ['issues', 'tracker', 'bug', 'ticket', 'add']) expect(words).toContain(word)
  expect(tools[0]?.description).toBe('Create an issue')
  // Within the budget all tools have alwaysLoad.
  const small = await (await connect(office({ exposure: 'native' }))).tools()
  for (const tool of small) expect([tool.name, tool._meta?.['anthropic/alwaysLoad']]).toEqual([tool.name, true])
})

verifies('H09', async ({ serve, testTransport }) => {
  const server = await serve(office())
  const exposures = testTransport.era === 'session' ? ['search', 'lazy', 'groups'] : ['search']
  for (const exposure of exposures) {
    const client = await server.connect({ view: `exposure=${exposure}`, name: 'opencode' })
    const own = (await client.tools()).filter(({ name }) => !officeTools.includes(name))
    expect(own.length).toBeGreaterThan(0)
    for (const tool of own) expect([tool.name, tool._meta]).toEqual([tool.name, { 'anthropic/alwaysLoad': true }])
  }
})

verifies('H10', async ({ serve }) => {
  const server = await serve(office(above))
  const client = await server.connect({ view: 'host=qwen-code' })
  const tools = await client.tools()
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(officeTools))
  expect(tools.some(({ _meta }) => _meta?.['anthropic/searchHint'] !== undefined)).toBe(true)
  // A URL with exposure=auto means that the user configured the host to load these tools at once.
  const loaded = await server.connect({ view: 'host=qwen-code&exposure=auto' })
  expect(await loaded.toolNames()).toEqual(searchSurface)
})

verifies('H12', async ({ serve }) => {
  const within = await serve(office({ exposure: 'auto' }))
  const never = await within.connect({ view: 'host=codex' })
  expect(await never.toolNames()).toEqual([...searchSurface, ...officeTools])
  const late = await within.connect({ view: 'host=gemini-cli' })
  expect(await late.toolNames()).toEqual(officeTools)
  // A request for everything is not changed by the host profile.
  const asked = await within.connect({ view: 'host=codex&exposure=everything' })
  expect(await asked.toolNames()).toEqual(officeTools)
  const native = await within.connect({ view: 'host=qwen-code' })
  expect(await native.toolNames()).toEqual([...searchSurface, ...officeTools])
})

verifies('H11', async ({ serve, testTransport }) => {
  const names = Array.from({ length: 60 }, (_, index) => `department_${index}`)
  const groups = Object.fromEntries(
    names.map((name) => [name, { description: `${'Everything that concerns '.repeat(4)}${name}` }]),
  )
  const toolbox = defineToolbox({ ...info, description: 'A company.', groups, exposure: { mode: 'auto', budgetTokens: 10 } })
  for (const name of names) toolbox.tool(`report_${name}`, { group: name, description: 'Report' }, () => '')
  const server = await serve(toolbox)
  for (const view of ['', 'exposure=native', ...(testTransport.era === 'session' ? ['exposure=groups', 'exposure=lazy'] : [])]) {
    const instructions = (await server.connect({ view })).client.getInstructions() ?? ''
    expect(Buffer.byteLength(instructions)).toBeLessThanOrEqual(2_048)
    expect(instructions).toContain('A company.')
    expect(instructions).toMatch(/… and \d+ more/u)
    if (view === '') expect(instructions).toContain('search_tools')
  }
})
