import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { defineToolbox, listen, type ToolboxOptions } from '@unfold-mcp/server'
import { replyData, testContext } from '@unfold-mcp/server/testing'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expect } from 'vitest'
import { z } from 'zod'
import { office, officeTools, searchSurface } from '../fixtures/office.ts'
import { textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }
const officeMenu = ['activate_files', 'activate_mail', 'activate_calendar', 'deactivate', 'ping']
const cheap = { budgetTokens: 100_000 }
const dear = { budgetTokens: 10 }

const plain = (options: Pick<ToolboxOptions<never>, 'exposure'> = {}) =>
  defineToolbox({ ...info, ...options })
    .tool('ping', { description: 'Say that the server is there' }, () => 'pong')
    .tool('read_file', { description: 'Read a file', inputSchema: z.object({ path: z.string() }) }, () => 'contents')

verifies('L07-1', async ({ connect }) => {
  for (const budget of [cheap, dear]) {
    const client = await connect(office({ exposure: budget }))
    expect(await client.toolNames()).toEqual(officeMenu)
  }
})

verifies('L07-2', async ({ connect }) => {
  expect(await (await connect(office())).toolNames()).toEqual(officeTools)
  const { tokens } = replyData(await (await connect(office())).call('manage_tools', { action: 'status' })) as {
    tokens: number
  }
  expect(await (await connect(office({ exposure: { budgetTokens: tokens } }))).toolNames()).toEqual(officeTools)
  expect(await (await connect(office({ exposure: { budgetTokens: tokens - 1 } }))).toolNames()).toEqual(searchSurface)
})

verifies('L07-3', async ({ connect }) => {
  const client = await connect(office({ exposure: dear }))
  expect(await client.toolNames()).toEqual(searchSurface)
  expect(textOf(await client.call('call_tool', { name: 'read_file', arguments: { path: 'a' } }))).toBe('contents of a')
  const big = defineToolbox({ ...info, groups: { notes: { description: 'Notes' } } })
  for (let index = 0; index < 300; index++)
    big.tool(`note_${index}`, { group: 'notes', description: 'Take a note of it' }, () => '')
  expect(await (await connect(big)).toolNames()).toEqual(searchSurface)
})

verifies('L07-4', async ({ connect }) => {
  const client = await connect(plain({ exposure: dear }))
  expect(await client.toolNames()).toEqual(['ping', 'read_file'])
  for (const name of [...searchSurface, 'manage_tools'])
    await expect(client.call(name, { query: 'ping', names: ['ping'], name: 'ping', action: 'list' })).rejects.toThrow('not found')
})

verifies('L07-5', async ({ connect }) => {
  expect(await (await connect(office({ exposure: { mode: 'auto', ...cheap } }))).toolNames()).toEqual(officeTools)
  expect(await (await connect(plain({ exposure: { mode: 'auto', ...cheap } }))).toolNames()).toEqual(['ping', 'read_file'])
})

verifies('L07-6', async ({ connect }) => {
  const client = await connect(office({ exposure: { mode: 'auto', ...dear }, hiddenCalls: 'reveal' }))
  expect(await client.toolNames()).toEqual(searchSurface)
  expect(textOf(await client.call('call_tool', { name: 'read_file', arguments: { path: 'a' } }))).toBe('contents of a')
  expect(textOf(await client.call('read_file', { path: 'b' }))).toBe('contents of b')
  await client.settle()
  expect(client.listChanges).toBe(0)
  expect(await client.toolNames()).toEqual(searchSurface)
})

verifies('L07-7', async ({ connect }) => {
  expect(await (await connect(office({ exposure: { mode: 'auto', ...dear } }))).toolNames()).toEqual(searchSurface)
  const client = await connect(plain({ exposure: { mode: 'auto', ...dear } }))
  expect(await client.toolNames()).toEqual(searchSurface)
  expect(textOf(await client.call('call_tool', { name: 'ping' }))).toBe('pong')
})

const useCallTool = 'Call them with call_tool(name, arguments)'

verifies('L07-8', async ({ connect }) => {
  const enable = (tools: string) => ({ name: 'manage_tools', args: { action: 'enable', tools } })
  const activate = (group: string) => ({ name: `activate_${group}`, args: {} })
  for (const [options, open, then] of [
    [{ exposure: 'lazy' }, enable('ping'), enable('files')],
    [{}, activate('mail'), activate('files')],
  ] as const) {
    let now = 0
    const client = await connect(office({ ...options, now: () => now }))
    const first = textOf(await client.call(open.name, open.args))
    await client.waitForListChanges(1)
    expect(first).not.toContain(useCallTool)
    now = 900
    expect(textOf(await client.call(open.name, open.args))).not.toContain(useCallTool)
    now = 1_100
    const next = await client.call(then.name, then.args)
    expect(textOf(next)).toContain('- read_file(path: string) — Read a file')
    expect(textOf(next)).toContain(useCallTool)
    // A model that enables a tool again because it does not see it learns how to call it.
    expect(textOf(await client.call(then.name, then.args))).toContain(useCallTool)
    expect(textOf(await client.call('call_tool', { name: 'read_file', arguments: { path: 'a' } }))).toBe('contents of a')
    expect(textOf(await client.call('manage_tools', { action: 'status' }))).toContain('use call_tool')
  }
  let now = 0
  await using context = await testContext(office({ exposure: 'lazy', now: () => now }))
  await context.call('manage_tools', { action: 'enable', tools: 'ping' })
  expect(context.toolNames()).toEqual(['manage_tools', 'ping'])
  now = 5_000
  await context.call('manage_tools', { action: 'enable', tools: 'read_file' })
  expect(context.toolNames()).toEqual(['manage_tools', 'call_tool', 'read_file', 'ping'])
})

verifies('L07-9', async ({ connect }) => {
  let now = 0
  const client = await connect(office({ exposure: 'lazy', now: () => now }))
  const enable = async (tools: string) => textOf(await client.call('manage_tools', { action: 'enable', tools }))
  await enable('ping')
  now = 2_000
  expect(await enable('read_file')).toContain(useCallTool)
  await client.waitForListChanges(2)
  expect(await client.toolNames()).toEqual(['manage_tools', 'read_file', 'ping'])
  now = 4_000
  expect(await enable('write_file')).not.toContain(useCallTool)
  await client.waitForListChanges(3)
  await client.toolNames()
  now = 60_000
  expect(await enable('send_mail')).not.toContain(useCallTool)
  await client.waitForListChanges(4)
  await client.settle()
  expect(client.listChanges).toBe(4)
})

verifies('L07-10', async ({ serve, testTransport }) => {
  const status = async (options: Parameters<typeof office>[0], view = '') => {
    const client = await (await serve(office(options))).connect({ view })
    const reply = await client.call('manage_tools', { action: 'status' })
    const report = replyData(reply) as {
      exposure: string
      reason: string
      listed: number
      tokens: number
      allTokens: number
    }
    expect(textOf(reply)).toContain(`Exposure: ${report.exposure}, because ${report.reason}.`)
    expect(report.listed).toBe((await client.toolNames()).length)
    expect(report.tokens).toBeGreaterThan(0)
    return report
  }
  const isSession = testTransport.era === 'session'
  expect(await status({ exposure: 'lazy' })).toMatchObject({ exposure: isSession ? 'lazy' : 'search' })
  const above = await status({ exposure: { mode: 'auto', ...dear } })
  expect(above).toMatchObject({ exposure: 'search' })
  expect(above.reason).toBe(`the full list costs about ${above.allTokens} tokens and the budget is 10`)
  const below = await status({ exposure: { mode: 'auto', ...cheap } })
  expect(below).toMatchObject({ exposure: 'everything', tokens: below.allTokens })
  expect(await status({}, 'exposure=search')).toMatchObject({ exposure: 'search', reason: '"search" was requested or declared' })
})

verifies('L07-11', async ({ serve, testTransport }) => {
  const isSession = testTransport.era === 'session'
  const server = await serve(office({ exposure: dear }))
  for (const [exposure, expected] of [
    ['everything', officeTools],
    ['native', officeTools],
    ['search', searchSurface],
    ['lazy', isSession ? ['manage_tools'] : searchSurface],
    ['auto', searchSurface],
    ['groups', isSession ? officeMenu : ['ping']],
  ] as const) {
    const client = await server.connect({ view: `exposure=${exposure}` })
    expect([exposure, await client.toolNames()]).toEqual([exposure, expected])
  }
})

verifies('L07-12', async ({ connect }) => {
  const toolbox = defineToolbox({ ...info, groups: { files: { description: 'Files' } } })
    .tool('read_file', { group: 'files' }, () => 'contents')
    .tool('undo', { when: ({ isActive }) => isActive('files') }, () => 'undone')
    .tool('open', {}, (_, ctx) => String(ctx.isActive('files')))
  const client = await connect(toolbox)
  expect(await client.toolNames()).toEqual(['activate_files', 'deactivate', 'open'])
  expect(textOf(await client.call('open'))).toBe('false')
  await client.call('activate_files')
  expect(await client.toolNames()).toEqual(['activate_files', 'deactivate', 'read_file', 'undo', 'open'])
  expect(textOf(await client.call('open'))).toBe('true')
})

verifies('L07-13', () => {
  for (const budgetTokens of [Number.NaN, -1, 'many' as never])
    expect(() => office({ exposure: { budgetTokens } })).toThrow('budgetTokens')
  for (const budgetTokens of [0, Number.POSITIVE_INFINITY]) expect(() => office({ exposure: { budgetTokens } })).not.toThrow()
})

/** Calls and replies of a scripted model. */
interface Trip {
  readonly calls: readonly string[]
  readonly tokens: number
  readonly answer: string
}

interface Traveller {
  readonly follows: boolean
  readonly mode: 'legacy' | { pin: '2026-07-28' }
}

/** A scripted model that wants to read a file and calls only tools from its list or from a reply. */
async function travel(url: string, { follows, mode }: Traveller): Promise<Trip> {
  const client = new Client({ name: 'scripted', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  const calls: string[] = []
  let tokens = 0
  let known: readonly string[] = []
  let isStale = true
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    isStale = follows
  })
  const look = async () => {
    const { tools } = await client.listTools(undefined, { cacheMode: 'bypass' })
    isStale = false
    known = tools.map(({ name }) => name)
    tokens += countTokens(JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))))
  }
  const call = async (name: string, args: Record<string, unknown>) => {
    calls.push(name)
    const text = textOf(await client.callTool({ name, arguments: args }))
    tokens += countTokens(JSON.stringify({ name, arguments: args })) + countTokens(text)
    return text
  }
  await look()
  const wanted = { path: 'a.txt' }
  let answer = ''
  if (known.includes('call_tool')) {
    const [, name = ''] = /- (\w+)\(/u.exec(await call('search_tools', { query: 'read a file' })) ?? []
    answer = await call('call_tool', { name, arguments: wanted })
  } else {
    const [, name = ''] = /- (\w+)\(/u.exec(await call('manage_tools', { action: 'search', query: 'read a file' })) ?? []
    const enabled = await call('manage_tools', { action: 'enable', tools: name })
    if (isStale) await look()
    // The reply says that the tool can be called by name, even without re-listing.
    answer = known.includes(name) || enabled.includes(`- ${name}(`) ? await call(name, wanted) : ''
  }
  await client.close()
  return { calls, tokens, answer }
}

verifies('L00', async () => {
  await using server = await listen(office({ exposure: 'lazy' }), { port: 0 })
  await using everything = await testContext(office(), { view: 'exposure=everything' })
  const whole = everything.tools()
  const trips = {
    'follows list_changed': await travel(server.url, { mode: 'legacy', follows: true }),
    'ignores list_changed': await travel(server.url, { mode: 'legacy', follows: false }),
    'of 2026-07-28': await travel(server.url, { mode: { pin: '2026-07-28' }, follows: false }),
  }
  const rows = Object.entries(trips).map(([client, { calls, tokens }]) => ({
    client,
    calls: calls.join(', '),
    count: calls.length,
    tokens,
  }))
  console.table(rows)
  console.info(`The whole list of ${whole.length} tools costs ${countTokens(JSON.stringify(whole))} tokens.`)
  for (const { answer } of Object.values(trips)) expect(answer).toBe('contents of a.txt')
  expect(rows.map(({ count }) => count)).toEqual([3, 3, 2])
  for (const { tokens } of rows) expect(tokens).toBeLessThan(1_000)
})
