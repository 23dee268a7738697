import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect } from 'vitest'
import { until } from '../../packages/client/test/processes.ts'
import { createToken } from '../../packages/gateway/src/config/tokens.ts'
import { become, composition, plain } from '../../packages/gateway/test/composition.ts'
import { asking, person } from '../../packages/gateway/test/proxy-clients.ts'
import { changing, served } from '../../packages/gateway/test/served.ts'
import { reasonOf, textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const [all, other, worker, picky, searcher] = [
  createToken('all'),
  createToken('other'),
  createToken('worker', 'work'),
  createToken('picky', 'pick'),
  createToken('searcher', 'find'),
]

const many = Array.from({ length: 120 }, (_, each) => ({
  name: `report_${each}`,
  description: `Writes report number ${each} about the numbers of one department and one month, with a table and a summary in words.`,
}))

const notes = plain({
  info: {
    name: 'notes-server',
    version: '3.2.1',
    title: 'Notes',
    description: 'Keeps notes',
    websiteUrl: 'https://notes.example',
  },
  instructions: 'Search before you add.\nNever add the same note twice.',
  tools: ['search', 'add', { name: 'search_tools', description: 'Finds tools for carpentry' }],
})

/** Three servers with the same tool names, one with many tools, and one that reports progress. */
const config = {
  mcpServers: {
    notes,
    mail: { ...plain({ tools: ['search', 'send'] }), description: 'Reads and sends mail.' },
    'front desk': asking('desk', 'both'),
    reports: plain({ tools: many }),
    box: changing(),
  },
  profiles: {
    work: { servers: ['notes'], except: ['notes__add'] },
    pick: { tools: ['mail__send', '*__nothing'] },
    find: { exposure: 'search' },
  },
  tokens: [all, other, worker, picky, searcher].map(({ record }) => record),
  budgetTokens: 2_000,
  results: { maxCharacters: 2_000 },
}

let gateway: Awaited<ReturnType<typeof served>>

beforeAll(async () => {
  gateway = await served(config)
  await Promise.all(Object.keys(config.mcpServers).map((name) => gateway.ready(name)))
}, 300_000)

afterAll(() => gateway[Symbol.asyncDispose]())

function handleOf({ _meta }: CallToolResult): string {
  const { handle } = (_meta?.['io.github.unfold-mcp/cut'] ?? {}) as { readonly handle?: string }
  return handle ?? ''
}

/** Returns the response to a client that connects to this URL. */
async function knock(url: string, token = ''): Promise<{ status: number; text: string }> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'knocking', version: '1' } }
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== '' && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  return { status: response.status, text: await response.text() }
}

verifies('V01', async ({ testTransport: { era } }) => {
  await using first = await gateway.connect('/s/notes', { era, token: all.token })
  await using second = await gateway.connect('/s/mail', { era, token: all.token })
  await using whole = await gateway.connect('?exposure=everything', { era, token: all.token })
  expect(await second.toolNames()).toEqual(['read_result', 'search', 'send'])
  // Only the names of the gateway's own tools are reserved.
  expect(await first.toolNames()).toEqual(['read_result', 'search', 'add', 'notes__search_tools'])
  expect(await whole.toolNames()).toEqual(expect.arrayContaining(['notes__search', 'mail__search', 'notes__search_tools']))
  for (const [client, pid] of [
    [first, gateway.gateway.upstreams.get('notes')?.status.pid],
    [second, gateway.gateway.upstreams.get('mail')?.status.pid],
  ] as const) {
    expect(textOf(await client.call('search', { make: { pid: 1 } }))).toBe(String(pid))
    await expect(client.call('mail__search')).rejects.toThrow(/mail__search/u)
  }
  expect(textOf(await first.call('notes__search_tools', { a: 1 }))).toBe('search_tools {"a":1}')
  await expect(first.call('send')).rejects.toThrow(/send/u)
})

verifies('V02', async ({ testTransport: { era } }) => {
  await using first = await gateway.connect('/s/notes', { era, token: all.token })
  expect(first.client.getServerVersion()).toEqual({
    name: 'notes-server',
    version: '3.2.1',
    title: 'Notes',
    description: 'Keeps notes',
    websiteUrl: 'https://notes.example',
  })
  expect(first.client.getInstructions()).toBe('Search before you add.\nNever add the same note twice.')
  // The configured description replaces the server's own.
  await using second = await gateway.connect('/s/mail', { era, token: all.token })
  expect(second.client.getServerVersion()).toEqual({ name: 'plain', version: '1.0.0', description: 'Reads and sends mail.' })
  expect(second.client.getInstructions()).toBe('Reads and sends mail.')
})

verifies('V03', async ({ testTransport: { era } }) => {
  await using me = await person(`${gateway.url}/s/front%20desk`, { era, token: all.token })
  const { client } = me
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['greet', 'inquire'])
  const greeted = await client.getPrompt({ name: 'greet', arguments: { to: 'Ada' } })
  expect(greeted.messages[0]?.content).toEqual({ type: 'text', text: 'desk greets Ada' })
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['memo://shared', 'memo://desk'])
  expect((await client.readResource({ uri: 'memo://desk' })).contents[0]).toMatchObject({ text: 'memo://desk of desk' })
  const { resourceTemplates } = await client.listResourceTemplates()
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['memo://desk/{id}'])
  expect((await client.readResource({ uri: 'memo://desk/7' })).contents[0]).toMatchObject({ uri: 'memo://desk/7' })
  await expect(client.getPrompt({ name: 'front_desk__greet' })).rejects.toThrow(/Unknown prompt/u)
  // Servers without prompts or resources do not declare these capabilities.
  await using without = await person(`${gateway.url}/s/notes`, { era, token: all.token })
  expect(Object.keys(without.client.getServerCapabilities() ?? {}).sort()).toEqual(['extensions', 'logging', 'tools'])
})

verifies('V04', async ({ testTransport: { era } }) => {
  await using first = await gateway.connect('/s/notes', { era, token: worker.token })
  expect(await first.toolNames()).toEqual(['read_result', 'search', 'notes__search_tools'])
  await expect(first.call('add')).rejects.toThrow(/add/u)
  await using second = await gateway.connect('/s/mail', { era, token: picky.token })
  expect(await second.toolNames()).toEqual(['read_result', 'send'])
  const unknown = (server: string, nearest: readonly string[] = []): object => ({ reason: 'unknown_server', server, nearest })
  const refused = async (at: string, { token }: ReturnType<typeof createToken>): Promise<unknown> => {
    const { status, text } = await knock(`${gateway.url}${at}`, token)
    return { status, ...(JSON.parse(text) as { error: { data: object } }).error.data }
  }
  expect(await refused('/s/mial', all)).toEqual({ status: 404, ...unknown('mial', ['mail']) })
  // A tool that the caller may not see is unknown and never suggested.
  for (const hidden of ['mail', 'mial', 'constructor'])
    expect(await refused(`/s/${hidden}`, worker)).toEqual({ status: 404, ...unknown(hidden) })
  // A pattern that matches no tool of a server does not create an endpoint.
  expect(await refused('/s/notes', picky)).toEqual({ status: 404, ...unknown('notes') })
  expect((await knock(`${gateway.url}/s`, all.token)).text).toContain(
    'Use /mcp/s/<server>. Servers: notes, mail, front desk, reports, box.',
  )
  expect((await knock(`${gateway.url}/s/`, worker.token)).text).toContain('Servers: notes.')
})

verifies('V05', async ({ testTransport: { era } }) => {
  const mcpServers = { one: plain({ tools: ['search', 'add'] }), two: plain({ tools: ['search', 'add'] }) }
  await using changed = await composition({ mcpServers, exposure: 'everything' })
  const [one, again, two, both] = await Promise.all(['/s/one', '/s/one', '/s/two', ''].map((at) => changed.connect({ era, at })))
  if (one === undefined || again === undefined || two === undefined || both === undefined) throw new Error('Not connected.')
  const before = JSON.stringify(await two.tools())
  await become(again, 'search', ['search', 'count'])
  await Promise.all([one, again, both].map((client) => client.waitForListChanges(1)))
  expect(await one.toolNames()).toEqual(['read_result', 'search', 'count'])
  expect(textOf(await one.call('count'))).toBe('count {}')
  await two.settle()
  expect([one, again, two, both].map(({ listChanges }) => listChanges)).toEqual([1, 1, 0, 1])
  expect(JSON.stringify(await two.tools())).toBe(before)
})

verifies('V06', async ({ testTransport: { era } }) => {
  await using first = await gateway.connect('/s/notes', { era, token: searcher.token })
  const finding = ['search_tools', 'describe_tools', 'call_tool', 'read_result']
  expect((await first.toolNames()).toSorted()).toEqual(finding.toSorted())
  expect(first.client.getInstructions()).toMatch(/^Search before you add\.\n.*\n.*search_tools/u)
  const found = textOf(await first.call('search_tools', { query: 'carpentry' }))
  expect(found).toContain('notes__search_tools')
  expect(textOf(await first.call('call_tool', { name: 'add', arguments: { text: 'a' } }))).toBe('add {"text":"a"}')
  // Tools of other servers can be neither found nor called.
  expect(textOf(await first.call('search_tools', { query: 'send' }))).toMatch(/^No match for "send" among 4 tools\./u)
  expect((await first.call('call_tool', { name: 'send' })).isError).toBe(true)
  // Above the budget only some tools are listed, and every tool can be called by name.
  await using big = await gateway.connect('/s/reports', { era, token: all.token })
  expect((await big.toolNames()).length).toBeLessThan(10)
  expect(textOf(await big.call('report_77'))).toContain('report_77 {}')
  await using asked = await gateway.connect('/s/notes?exposure=search', { era, token: all.token })
  expect((await asked.toolNames()).toSorted()).toEqual(finding.toSorted())
})

verifies('V07', async ({ testTransport: { era } }) => {
  await using first = await gateway.connect('/s/notes', { era, token: all.token })
  await using second = await gateway.connect('/s/notes', { era, token: other.token })
  const long = await first.call('search', { make: { lines: 500 } })
  const handle = handleOf(long)
  expect(textOf(await first.call('read_result', { handle, find: 'line 499 of 500' }))).toContain('line 499 of 500')
  expect(textOf(await second.call('read_result', { handle }))).toContain('Unknown or expired handle')
})

verifies('V08', async ({ testTransport: { era } }) => {
  await using me = await person(`${gateway.url}/s/front%20desk`, { era, token: all.token })
  await using bystander = await person(`${gateway.url}/s/front%20desk`, { era, token: all.token })
  expect(await me.text('ask')).toContain('accept Ada')
  expect(me.asked).toMatchObject([{ message: 'Who are you?' }])
  expect(bystander.asked).toEqual([])
  await using box = await person(`${gateway.url}/s/box`, { era, token: all.token })
  const steps: number[] = []
  await box.text('slowly', {}, { onprogress: ({ progress }) => void steps.push(progress) })
  expect(steps).toEqual([1, 2, 3])
})

verifies('V09', async ({ testTransport: { era } }) => {
  const [one, two] = [plain({ tools: ['search'] }), plain({ tools: ['search', 'add'] })]
  await using edge = await served({ mcpServers: { one }, exposure: 'everything' })
  await edge.ready('one')
  const reload = async (mcpServers: object): Promise<void> => {
    await edge.write({ mcpServers, exposure: 'everything' })
    expect(await edge.running.reload()).toMatchObject({ isApplied: true })
  }
  await using stays = await edge.connect('', { era })
  await using first = await edge.connect('/s/one', { era })
  const unknown = { status: 404, text: expect.stringContaining('unknown_server') }
  expect(await knock(`${edge.url}/s/two`)).toEqual(unknown)
  await reload({ one, two })
  await edge.ready('two')
  await using second = await edge.connect('/s/two', { era })
  expect(await second.toolNames()).toEqual(['read_result', 'search', 'add'])
  // Renaming and hiding tools works here as well.
  await reload({ one, two: { ...two, tools: { add: { name: 'search', description: 'Adds' }, search: { enabled: false } } } })
  await until(async () => (await second.toolNames()).length === 2, 'the client sees the change')
  expect((await second.tools()).at(-1)).toMatchObject({ name: 'search', description: 'Adds' })
  expect(textOf(await second.call('search'))).toBe('add {}')
  const count = edge.gateway.toolboxes.count
  await reload({ two })
  expect(edge.gateway.toolboxes.count).toBe(count - 1)
  await expect(first.toolNames()).rejects.toThrow(/Unknown server \\?"one\\?"/u)
  const sessions = (await edge.api('/clients')) as readonly { era: string; server?: string }[]
  expect(sessions.filter((each) => each.era === 'session' && each.server === 'one')).toEqual([])
  // The server is added again as a new one, and clients must initialize again.
  await reload({ one: { ...two, disabled: true }, two })
  expect(await knock(`${edge.url}/s/one`)).toEqual(unknown)
  await reload({ one: two, two })
  await edge.ready('one')
  await using anew = await edge.connect('/s/one', { era })
  // Until the new server has listed its tools, those of the old one are listed.
  await until(async () => (await anew.toolNames()).length === 3, 'the client sees the new tools')
  expect(await anew.toolNames()).toEqual(['read_result', 'search', 'add'])
  expect(await stays.toolNames()).toEqual(expect.arrayContaining(['one__add', 'two__search']))
})

verifies('V10', async ({ testTransport: { era } }) => {
  const { record, token } = createToken('me')
  const settings = { tokens: [record], limits: { callsPerMinute: 3 }, audit: { path: 'calls.jsonl' } }
  await using edge = await served({ mcpServers: { notes }, ...settings, exposure: 'everything' })
  await edge.ready('notes')
  await using whole = await edge.connect('', { era, token })
  await using one = await edge.connect('/s/notes', { era, token })
  await one.call('search')
  await whole.call('notes__search')
  await one.call('add')
  // The rate limit of a token applies across all endpoints.
  expect(reasonOf(await one.call('add'))).toBe('rate_limited')
  expect(reasonOf(await whole.call('notes__add'))).toBe('rate_limited')
  const calls = (await edge.api('/calls')) as readonly { client: string; upstream: string; tool: string }[]
  expect(calls.map(({ client, upstream, tool }) => `${client} ${upstream} ${tool}`)).toEqual([
    'token:me/s/notes notes search',
    'token:me notes search',
    'token:me/s/notes notes add',
  ])
  const written = async (): Promise<string> => readFile(join(edge.home, 'calls.jsonl'), 'utf8').catch(() => '')
  await until(async () => (await written()).includes('token:me/s/notes'), 'the calls are in the audit log')
  const metrics = await (await edge.ask('/metrics', { token: edge.admin })).text()
  expect(metrics).toMatch(/^unfold_calls_total\{upstream="notes",outcome="ok"\} 3$/mu)
  expect(metrics).toMatch(new RegExp(`^unfold_sessions ${era === 'session' ? 2 : 0}$`, 'mu'))
  const clients = (await edge.api('/clients')) as readonly { token: string; server?: string }[]
  expect(clients.map(({ server }) => server ?? '').toSorted()).toEqual(['', 'notes'])
  const { upstreams } = (await edge.api('/status')) as { upstreams: readonly { url: string }[] }
  expect(upstreams.map(({ url }) => url)).toEqual([`${edge.url}/s/notes`])
})

verifies('V11', async ({ testTransport: { era } }) => {
  await using first = await gateway.connect('/s/reports?exposure=lazy', { era, token: all.token })
  await using second = await gateway.connect('/s/reports?exposure=lazy', { era, token: all.token })
  if (era === 'session') {
    await first.call('manage_tools', { action: 'enable', tools: ['report_3'] })
    expect(await first.toolNames()).toContain('report_3')
  } else await first.call('call_tool', { name: 'report_3' })
  expect(await second.toolNames()).not.toContain('report_3')
  // A session is bound to its endpoint and to its token.
  const id = 'sessionId' in first.transport ? first.transport.sessionId : undefined
  if (era === 'stateless') return expect(id).toBeUndefined()
  for (const [at, token] of [
    ['', all.token],
    ['/s/notes', all.token],
    ['/s/reports', other.token],
  ] as const) {
    const response = await fetch(`${gateway.url}${at}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}`, 'mcp-session-id': String(id) },
    })
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('session_not_found')])
  }
  expect(await first.toolNames()).toContain('report_3')
})
