import type { Tool } from '@modelcontextprotocol/client'
import { defineToolbox, LiveFacts } from '@unfold-mcp/server'
import type { TestClient } from '@unfold-mcp/server/testing'
import { expect } from 'vitest'
import { pageWatcher, type Seen, type WatchedPage } from '../fixtures/watched-page.ts'
import { reasonOf, refusalOf, textOf } from '../replies.ts'
import { type Harness, verifies } from '../verifies.ts'

/** The buffers with the data of a mode; `always` for a mode that needs no data. */
type When = 'always' | readonly Buffer[]
type Buffer = 'entries' | 'networkBodies' | 'wsEvents' | 'connections' | 'enhancedActions' | 'snapshots' | 'endpoints'

const anyCapture: readonly Buffer[] = ['networkBodies', 'wsEvents', 'connections', 'enhancedActions', 'snapshots']

/** The specified modes: tool, mode, buffers of which one must not be empty, and counts. */
const table: readonly (readonly [tool: string, mode: string, when: When, counted?: keyof Seen & string])[] = [
  ['observe', 'errors', 'always', 'errors'],
  ['observe', 'logs', 'always', 'entries'],
  ['observe', 'network', ['networkBodies'], 'networkBodies'],
  ['observe', 'websocket_events', ['wsEvents'], 'wsEvents'],
  ['observe', 'websocket_status', ['connections'], 'connections'],
  ['observe', 'actions', ['enhancedActions'], 'enhancedActions'],
  ['observe', 'vitals', ['snapshots'], 'snapshots'],
  ['observe', 'page', 'always'],

  ['analyze', 'performance', ['snapshots'], 'snapshots'],
  ['analyze', 'api', ['endpoints'], 'endpoints'],
  ['analyze', 'accessibility', 'always'],
  ['analyze', 'changes', ['entries', ...anyCapture]],
  ['analyze', 'timeline', ['enhancedActions'], 'enhancedActions'],

  ['generate', 'reproduction', ['enhancedActions'], 'enhancedActions'],
  ['generate', 'test', ['enhancedActions'], 'enhancedActions'],
  ['generate', 'pr_summary', ['entries', 'enhancedActions', 'networkBodies', 'snapshots']],
  ['generate', 'sarif', 'always'],
  ['generate', 'har', ['networkBodies'], 'networkBodies'],

  ['configure', 'buffers', 'always'],
  ['configure', 'clear', 'always'],
  ['configure', 'health', 'always'],
]

const by: { readonly [tool: string]: string } = { observe: 'what', analyze: 'target', generate: 'format', configure: 'action' }
const buffers: readonly Buffer[] = ['entries', ...anyCapture, 'endpoints']
const first = ['observe', 'query_dom']
const all = ['observe', 'analyze', 'generate', 'configure', 'query_dom']

/** Returns the expected modes of a tool with these buffers. */
const rows = (tool: string) => table.filter(([name]) => name === tool)
const isThere = (when: When, filled: (buffer: Buffer) => boolean): boolean => when === 'always' || when.some(filled)

type Modes = { readonly [tool: string]: readonly string[] | undefined }

const enumOf = ({ name, inputSchema }: Tool): readonly string[] | undefined => {
  const properties = inputSchema.properties as { readonly [name: string]: { readonly enum?: readonly string[] } }
  return properties[by[name] ?? '']?.enum
}

const modesOf = async (client: TestClient): Promise<Modes> =>
  Object.fromEntries((await client.tools()).map((tool) => [tool.name, enumOf(tool)]))

const metaOf = async (client: TestClient): Promise<{ readonly [tool: string]: Tool['_meta'] }> =>
  Object.fromEntries((await client.tools()).map(({ name, _meta }) => [name, _meta]))

/** Returns the counts in a list, by tool. */
const countsOf = async (client: TestClient): Promise<{ readonly [tool: string]: unknown }> =>
  Object.fromEntries(Object.entries(await metaOf(client)).map(([tool, meta]) => [tool, meta?.data_counts]))

/** Fills a buffer with events of its kind. */
function fill(page: WatchedPage, buffer: Buffer, times = 1): void {
  if (buffer === 'entries') page.log('info', times)
  else page.see(buffer, times)
}

/** Connects a client and, in a session, makes the first observation. */
async function observing({ connect }: Pick<Harness, 'connect'>, { served }: { readonly served: object }): Promise<TestClient> {
  const client = await connect(served)
  await client.call('observe', { what: 'page' })
  return client
}

verifies('S01', async ({ connect }) => {
  const client = await connect(pageWatcher().served)
  expect(await modesOf(client)).toEqual({ observe: ['errors', 'logs', 'page'], query_dom: undefined })
})

verifies('S02', async ({ connect }) => {
  const { served, page } = pageWatcher()
  const client = await connect(served)
  page.see('networkBodies', 2)
  expect(await modesOf(client)).toEqual({ observe: ['errors', 'logs', 'network', 'page'], query_dom: undefined })
  await client.call('observe', { what: 'network' })
  expect((await modesOf(client)).generate).toEqual(['pr_summary', 'sarif', 'har'])
})

verifies('S03', async ({ connect }) => {
  const client = await connect(pageWatcher().served)
  const reply = textOf(await client.call('observe', { what: 'page' }))
  for (const tool of ['analyze', 'generate', 'configure']) expect(reply).toContain(`- ${tool}(`)
  await client.waitForListChanges(1)
  expect(await client.toolNames()).toEqual(all)
  await client.call('observe', { what: 'page' })
  await client.settle()
  expect(client.listChanges).toBe(1)
})

verifies('S04', async (harness) => {
  const made = pageWatcher()
  const client = await observing(harness, made)
  const before = await modesOf(client)
  made.page.see('enhancedActions')
  const after = await modesOf(client)
  expect(gained(before, after)).toEqual({
    observe: ['actions'],
    analyze: ['changes', 'timeline'],
    generate: ['reproduction', 'test', 'pr_summary'],
  })
})

verifies('S05', async (harness) => {
  const made = pageWatcher()
  const client = await observing(harness, made)
  const before = await modesOf(client)
  made.page.see('snapshots')
  expect(gained(before, await modesOf(client))).toEqual({
    observe: ['vitals'],
    analyze: ['performance', 'changes'],
    generate: ['pr_summary'],
  })
})

/** Returns the modes that each tool gained. */
function gained(before: Modes, after: Modes): Modes {
  const news = Object.entries(after).map(
    ([tool, modes = []]) => [tool, modes.filter((mode) => !before[tool]?.includes(mode))] as const,
  )
  return Object.fromEntries(news.filter(([, modes]) => modes.length > 0))
}

verifies('S06', async (harness) => {
  const made = pageWatcher()
  const client = await observing(harness, made)
  expect((await modesOf(client)).configure).toEqual(['buffers', 'clear', 'health'])
  for (const buffer of buffers) fill(made.page, buffer)
  expect((await modesOf(client)).configure).toEqual(['buffers', 'clear', 'health'])
})

verifies('S07', async (harness) => {
  const made = pageWatcher()
  const client = await observing(harness, made)
  const { page } = made
  expect((await countsOf(client)).observe).toEqual({ errors: 0, logs: 0 })
  page.log('error', 3)
  page.log('info', 44)
  page.see('networkBodies', 12)
  page.see('enhancedActions', 8)
  const { observe } = await metaOf(client)
  // The specified example, including the mode that is always available.
  expect(observe).toEqual({
    available_modes: ['errors', 'logs', 'network', 'actions', 'page'],
    data_counts: { errors: 3, logs: 47, network: 12, actions: 8 },
  })
  page.log('error')
  expect((await countsOf(client)).observe).toEqual({ errors: 4, logs: 48, network: 12, actions: 8 })
})

verifies('S08', async ({ connect }) => {
  const { served, page } = pageWatcher()
  const client = await connect(served)
  page.see('networkBodies')
  const { observe = [] } = await modesOf(client)
  expect(observe).toContain('network')
  expect(observe).not.toContain('actions')
})

verifies('S09', async ({ connect }) => {
  const client = await connect(pageWatcher().served)
  for (let round = 0; round < 5; round++) expect(await client.toolNames()).toEqual(first)
  await client.settle()
  expect(client.listChanges).toBe(0)
})

verifies('S10', async ({ connect }) => {
  const { served, page } = pageWatcher()
  for (const buffer of buffers) fill(page, buffer, 5)
  const client = await connect(served)
  expect(await client.toolNames()).toEqual(first)
  // Using query_dom is not an observation.
  await client.call('query_dom', { selector: 'main' })
  expect(await client.toolNames()).toEqual(first)
  expect(await refusalOf(client.call('generate', { format: 'har' }))).toMatchObject({ reason: 'unknown_tool' })
})

verifies('S11', async ({ connect }) => {
  const { served, page } = pageWatcher()
  const client = await connect(served)
  page.isOpen = false
  const failures = [
    [{ what: 'page' }, 'tool_failed'],
    [{ what: 'network' }, 'mode_unavailable'],
    [{ what: 'nothing' }, 'invalid_arguments'],
    [{}, 'invalid_arguments'],
    [{ what: 'page', limit: 0 }, 'invalid_arguments'],
  ] as const
  for (const [args, reason] of failures) {
    expect(reasonOf(await client.call('observe', args))).toBe(reason)
    expect(await client.toolNames()).toEqual(first)
  }
  page.isOpen = true
  await client.call('observe', { what: 'page' })
  expect(await client.toolNames()).toEqual(all)
})

verifies('S12', async ({ serve }) => {
  const before = await serve(pageWatcher().served)
  const client = await before.connect({ principal: { id: 'ada' } })
  await client.call('observe', { what: 'page' })
  expect(await client.toolNames()).toEqual(all)
  await before.close()
  const after = await serve(pageWatcher().served)
  expect(await (await after.connect({ principal: { id: 'ada' } })).toolNames()).toEqual(first)
})

verifies('S13', async (harness) => {
  for (const policy of ['filtered', 'static'] as const) {
    const client = await observing(harness, pageWatcher({ policy }))
    for (const tool of await client.tools())
      if (['configure', 'query_dom'].includes(tool.name)) expect(tool).not.toHaveProperty('_meta')
      else expect(tool).toHaveProperty('_meta.available_modes')
  }
})

/** Events of a page and the expected counts. */
const counted = {
  observe: { errors: 2, logs: 3, network: 2, websocket_events: 1, websocket_status: 1, actions: 3, vitals: 1 },
  analyze: { performance: 1, api: 0, timeline: 3 },
  generate: { reproduction: 3, test: 3, har: 2 },
}

function happen(page: WatchedPage): void {
  page.log('error', 2)
  page.log('info')
  page.see('networkBodies', 2)
  page.see('wsEvents')
  page.see('connections')
  page.see('enhancedActions', 3)
  page.see('snapshots')
}

verifies('S14', async (harness) => {
  const made = pageWatcher({ policy: 'static' })
  const client = await observing(harness, made)
  for (const [tool, counts] of Object.entries(await countsOf(client)))
    expect(Object.values(counts ?? {}), `${tool} on a fresh server`).toEqual(rowsCounted(tool).map(() => 0))
  happen(made.page)
  expect(await countsOf(client)).toMatchObject(counted)
  made.page.see('endpoints', 2)
  expect(await countsOf(client)).toMatchObject({ ...counted, analyze: { ...counted.analyze, api: 2 } })
  const filtered = pageWatcher()
  const other = await observing(harness, filtered)
  happen(filtered.page)
  // A mode that is not listed has no count.
  expect(await countsOf(other)).toMatchObject({ ...counted, analyze: { performance: 1, timeline: 3 } })
  expect((await countsOf(other)).analyze).not.toHaveProperty('api')
})

const rowsCounted = (tool: string) => rows(tool).filter(([, , , count]) => count !== undefined)

verifies('S15', async (harness) => {
  const made = pageWatcher()
  const client = await observing(harness, made)
  const { facts } = made.page
  for (let set = 0; set < 2 ** buffers.length; set++) {
    const filled = (buffer: Buffer): boolean => ((set >> buffers.indexOf(buffer)) & 1) === 1
    facts.set(Object.fromEntries(buffers.map((buffer) => [buffer, filled(buffer) ? 1 : 0])))
    const wanted = Object.keys(by).map((tool) => [
      tool,
      rows(tool).flatMap(([, mode, when]) => (isThere(when, filled) ? [mode] : [])),
    ])
    expect(await modesOf(client), `with ${buffers.filter(filled).join()}`).toEqual({
      ...Object.fromEntries(wanted),
      query_dom: undefined,
    })
  }
})

verifies('S16', async (harness) => {
  const made = pageWatcher({ protocol: { notifyIntervalMs: 1 } })
  const client = await observing(harness, made)
  const { page } = made
  const soon = () => new Promise((resolve) => setImmediate(resolve))
  const writing = async (): Promise<void> => {
    for (let round = 0; round < 500; round++) {
      page.log('error')
      page.see('networkBodies')
      page.see('enhancedActions', 3)
      await soon()
      page.clear()
      await soon()
    }
  }
  const reading = async (): Promise<void> => {
    for (let round = 0; round < 20; round++) {
      const lists = await Promise.all([client.tools(), client.tools(), client.tools()])
      for (const tool of lists.flat()) {
        if (tool._meta === undefined) continue
        expect(tool._meta.available_modes).toEqual(enumOf(tool))
        const counts = Object.entries((tool._meta.data_counts ?? {}) as { [mode: string]: number })
        // A mode that needs data is listed only if it has some.
        for (const [mode, count] of counts) if (!['errors', 'logs'].includes(mode)) expect(count, `of ${mode}`).toBeGreaterThan(0)
      }
    }
  }
  await Promise.all([writing(), reading()])
})

verifies('S17', async (harness) => {
  const made = pageWatcher({ limit: 10 })
  const client = await observing(harness, made)
  const { page } = made
  page.log('error', 8)
  page.log('info', 7)
  page.see('networkBodies', 25)
  expect((await countsOf(client)).observe).toMatchObject({ errors: 3, logs: 10, network: 10 })
  page.log('info', 10)
  expect((await countsOf(client)).observe).toMatchObject({ errors: 0, logs: 10 })
  page.clear()
  expect((await countsOf(client)).observe).toEqual({ errors: 0, logs: 0 })
})

verifies('S18', async ({ wire }) => {
  const { served, page } = pageWatcher({ limit: 1_000_000 })
  const client = await wire(served)
  await client.ask('tools/call', { name: 'observe', arguments: { what: 'page' } })
  for (const buffer of buffers) fill(page, buffer)
  const { text: few } = await client.ask('tools/list')
  for (const buffer of buffers) fill(page, buffer, 999_000)
  const { text: many } = await client.ask('tools/list')
  // Only the counts grow, by a few digits each.
  expect(many.length - few.length).toBeLessThanOrEqual(table.length * 6)
  expect(many.length).toBeLessThan(6_000)
})

verifies('S19', async ({ serve }) => {
  const { served, page } = pageWatcher()
  const server = await serve(served)
  const [one, other] = [await server.connect(), await server.connect()]
  await one.call('observe', { what: 'logs' })
  await one.waitForListChanges(1)
  await other.settle()
  expect(other.listChanges).toBe(0)
  expect(await one.toolNames()).toEqual(all)
  expect(await other.toolNames()).toEqual(first)
  page.see('networkBodies', 4)
  expect((await countsOf(one)).observe).toEqual((await countsOf(other)).observe)
  await other.call('observe', { what: 'network' })
  expect(await modesOf(other)).toEqual(await modesOf(one))
})

verifies('S20', async (harness) => {
  const made = pageWatcher({ policy: 'static' })
  const client = await observing(harness, made)
  const hint = async () => (await metaOf(client)).observe?.hint
  expect(await hint()).toBe(
    'No data yet: network, websocket_events, websocket_status, actions, vitals. Load the page, then observe again. Use the page, then observe again.',
  )
  made.page.see('networkBodies')
  made.page.see('enhancedActions')
  expect(await hint()).toBe('No data yet: websocket_events, websocket_status, vitals.')
  for (const buffer of buffers) fill(made.page, buffer)
  expect(await hint()).toBeUndefined()
})

verifies('S21', async (harness) => {
  for (const policy of ['filtered', 'static'] as const) {
    const made = pageWatcher({ policy })
    const client = await observing(harness, made)
    made.page.see('networkBodies')
    const listed = await modesOf(client)
    const metas = await metaOf(client)
    for (const tool of ['observe', 'analyze', 'generate']) {
      const every = rows(tool).map(([, mode]) => mode)
      const there = rows(tool).flatMap(([, mode, when]) => (isThere(when, (buffer) => buffer === 'networkBodies') ? [mode] : []))
      expect(listed[tool]).toEqual(policy === 'static' ? every : there)
      expect(metas[tool]?.available_modes).toEqual(there)
    }
  }
})

verifies('S22', async (harness) => {
  for (const policy of ['filtered', 'static'] as const) {
    const made = pageWatcher({ policy })
    const client = await observing(harness, made)
    await client.tools()
    expect(reasonOf(await client.call('observe', { what: 'network' }))).toBe('mode_unavailable')
    made.page.see('networkBodies', 3)
    expect(textOf(await client.call('observe', { what: 'network' }))).toBe('3 of network')
    expect(textOf(await client.call('generate', { format: 'har' }))).toBe('har')
  }
})

verifies('S23', async (harness) => {
  for (const policy of ['filtered', 'static'] as const) {
    const made = pageWatcher({ policy })
    const client = await observing(harness, made)
    for (const buffer of [undefined, ...buffers]) {
      if (buffer !== undefined) fill(made.page, buffer)
      for (const { name, inputSchema } of await client.tools()) {
        expect(inputSchema.type, `of ${name}`).toBe('object')
        expect(Object.keys(inputSchema.properties ?? {}), `of ${name}`).not.toEqual([])
        for (const combiner of ['anyOf', 'oneOf', 'allOf', 'not', '$ref']) expect(inputSchema).not.toHaveProperty(combiner)
        expect(JSON.parse(JSON.stringify(inputSchema))).toEqual(inputSchema)
        const required = inputSchema.required ?? []
        expect(required.filter((parameter) => !Object.hasOwn(inputSchema.properties ?? {}, parameter))).toEqual([])
      }
    }
  }
})

/** All fields of a tool in the first protocol revisions. */
const plainKeys = ['name', 'title', 'description', 'inputSchema', 'annotations']

verifies('S24', async ({ wire }) => {
  for (const [options, view] of [
    [{ protocol: { counts: false } }, ''],
    [{}, 'counts=false'],
    [{ policy: 'static', protocol: { counts: false } }, ''],
  ] as const) {
    const { served, page } = pageWatcher(options)
    happen(page)
    const client = await wire(served, { view })
    await client.ask('tools/call', { name: 'observe', arguments: { what: 'page' } })
    const { result } = await client.ask('tools/list')
    const tools = result.tools as readonly Tool[]
    expect(tools.map(({ name }) => name)).toEqual(all)
    for (const tool of tools) expect(Object.keys(tool).filter((key) => !plainKeys.includes(key))).toEqual([])
    expect(tools.map(enumOf)[0]).toContain('network')
  }
})

verifies('S25', async (harness) => {
  const made = pageWatcher({ protocol: { notifyIntervalMs: 1 } })
  const client = await observing(harness, made)
  await client.settle()
  const before = client.listChanges
  made.page.see('networkBodies')
  await client.waitForListChanges(before + 1)
  for (let round = 0; round < 20; round++) made.page.see('networkBodies')
  made.page.log('error', 5)
  await client.settle()
  // Without network bodies, the first entry would add modes to analyze and generate.
  expect(client.listChanges).toBe(before + 1)
  expect((await countsOf(client)).observe).toMatchObject({ network: 21, errors: 5 })
})

verifies('S26', async (harness) => {
  let now = 0
  const made = pageWatcher({ protocol: { notifyIntervalMs: 1_000_000 }, now: () => now })
  const client = await observing(harness, made)
  await client.settle()
  const { page } = made
  const before = client.listChanges
  page.see('networkBodies')
  await client.waitForListChanges(before + 1)
  // Each round changes the list, and no notification may be sent before the interval ends.
  for (let round = 0; round < 200; round++) {
    if (round % 2 === 0) page.clear()
    else for (const buffer of buffers) fill(page, buffer)
    if (round % 50 === 0) await client.settle()
  }
  await client.settle()
  expect(client.listChanges).toBe(before + 1)
  const slow = pageWatcher({ protocol: { notifyIntervalMs: 1_000 }, now: () => now })
  const other = await observing(harness, slow)
  await other.settle()
  const start = other.listChanges
  slow.page.see('networkBodies')
  await other.waitForListChanges(start + 1)
  now = 1_000
  for (const buffer of buffers) fill(slow.page, buffer)
  await other.waitForListChanges(start + 2)
  expect((await modesOf(other)).observe).toEqual(rows('observe').map(([, mode]) => mode))
})

verifies('S27', async ({ wire }) => {
  const { served } = pageWatcher()
  const client = await wire(served)
  const before = await client.ask('tools/list')
  const tools = before.result.tools as readonly Tool[]
  expect(tools.map(({ name }) => name)).toEqual(all)
  const advised = tools.filter(({ description = '' }) => description.endsWith('Call observe first.')).map(({ name }) => name)
  expect(advised).toEqual(['analyze', 'generate', 'configure'])
  await client.ask('tools/call', { name: 'observe', arguments: { what: 'page' } })
  await client.ask('tools/call', { name: 'analyze', arguments: { target: 'accessibility' } })
  expect((await client.ask('tools/list')).text).toBe(before.text)
})

verifies('S28', async (harness) => {
  for (const policy of ['filtered', 'static'] as const) {
    const made = pageWatcher({ policy })
    const client = await observing(harness, made)
    const answer = async (args: Record<string, unknown>) => {
      const reply = await client.call('observe', args)
      return [reasonOf(reply), textOf(reply)] as const
    }
    const [missing, howToChoose] = await answer({})
    expect(missing).toBe('invalid_arguments')
    expect(howToChoose).toContain('- what: is missing. Choose one of: errors, logs, page.')
    const [unknown, nearest] = await answer({ what: 'lgos' })
    expect(unknown).toBe('invalid_arguments')
    expect(nearest).toContain('Nearest: logs. Choose one of: errors, logs, page.')
    expect(await answer({ what: 'actions' })).toEqual([
      'mode_unavailable',
      'observe(what: "actions") has no data now. Use the page, then observe again. Choose one of: errors, logs, page.',
    ])
    const [stranger, whose] = await answer({ what: 'logs', connection: 'a' })
    expect(stranger).toBe('invalid_arguments')
    expect(whose).toContain('- connection: does not go with what: "logs"; it belongs to websocket_events.')
  }
})

verifies('S29', async ({ wire }) => {
  const { greeting } = await wire(pageWatcher().served)
  expect(greeting.result.instructions).toBe('Watches a page.\nStart with observe: more tools are listed after it succeeds.')
})

verifies('S31', async (harness) => {
  const made = pageWatcher()
  const client = await observing(harness, made)
  expect(await metaOf(client)).toMatchObject({
    observe: { available_modes: ['errors', 'logs', 'page'], data_counts: { errors: 0, logs: 0 } },
    analyze: { available_modes: ['accessibility'] },
    generate: { available_modes: ['sarif'] },
  })
  for (const tool of ['analyze', 'generate']) expect((await metaOf(client))[tool]).not.toHaveProperty('data_counts')
  made.page.see('networkBodies')
  expect((await countsOf(client)).generate).toEqual({ har: 1 })
  expect((await metaOf(client)).analyze).not.toHaveProperty('data_counts')
  // If every mode is listed, zero counts are sent as well.
  const listingAll = await observing(harness, pageWatcher({ policy: 'static' }))
  expect((await countsOf(listingAll)).generate).toEqual({ reproduction: 0, test: 0, har: 0 })
})

verifies('S32', async ({ serve, testTransport }) => {
  const { served, page } = pageWatcher()
  const server = await serve(served)
  // On 2026-07-28 only the URL identifies the host.
  const hosts = [
    { view: 'host=codex' },
    { view: 'host=gemini-cli' },
    ...(testTransport.era === 'session' ? [{ name: 'opencode' }] : []),
  ]
  const clients = await Promise.all(hosts.map((host) => server.connect(host)))
  const everyMode = Object.fromEntries(Object.keys(by).map((tool) => [tool, rows(tool).map(([, mode]) => mode)]))
  const shown = async (client: TestClient) =>
    (await client.tools()).map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  for (const client of clients) {
    expect(await client.toolNames()).toEqual(all)
    expect(await modesOf(client)).toEqual({ ...everyMode, query_dom: undefined })
    const before = await shown(client)
    expect(before.map(({ description }) => description)).toEqual([
      'What the page did. A mode without data replies with how to get some.',
      'What it means. A mode without data replies with how to get some. Call observe first.',
      'Files from it. A mode without data replies with how to get some. Call observe first.',
      'How the page is watched. Call observe first.',
      'Elements of the page',
    ])
    expect((await metaOf(client)).generate).toMatchObject({
      available_modes: ['sarif'],
      hint: expect.stringContaining('No data yet: reproduction, test, pr_summary, har.') as string,
    })
    expect(textOf(await client.call('observe', { what: 'network' }))).toContain('Load the page, then observe again.')
    expect(textOf(await client.call('observe', { what: 'page' }))).toBe('1 of page')
    page.see('networkBodies')
    expect(await shown(client)).toEqual(before)
    expect(textOf(await client.call('observe', { what: 'network' }))).toBe('1 of network')
    page.clear()
  }
  // Unknown hosts and hosts that re-list get the default list.
  for (const host of [{}, { view: 'host=claude-code' }])
    expect((await modesOf(await server.connect(host))).observe).toEqual(['errors', 'logs', 'page'])
})

verifies('S34', async ({ connect }) => {
  let now = 0
  const { served, page } = pageWatcher({ now: () => now, protocol: { notifyIntervalMs: 1 } })
  const client = await connect(served)
  expect(await client.toolNames()).toEqual(first)
  page.see('networkBodies')
  await client.waitForListChanges(1)
  // The client was notified and did not re-list within the time that any following client needs.
  now = 60_000
  const reply = textOf(await client.call('observe', { what: 'page' }))
  for (const tool of ['analyze', 'generate', 'configure'])
    expect(reply).toContain(
      `- ${tool}(${by[tool]}: ${rows(tool)
        .map(([, mode]) => `"${mode}"`)
        .join(' | ')})`,
    )
  expect(reply).toContain('call_tool')
  expect(textOf(await client.call('call_tool', { name: 'analyze', arguments: { target: 'accessibility' } }))).toBe(
    'accessibility',
  )
  // A client that re-lists later gets only the modes with data.
  expect((await modesOf(client)).generate).toEqual(['pr_summary', 'sarif', 'har'])
})

verifies('S33', async ({ connect }) => {
  const facts = new LiveFacts({ mails: 0 })
  const count = (snapshot: { readonly facts: { readonly mails: number } }): number => snapshot.facts.mails
  const served = defineToolbox({ name: 'post', version: '1.0.0', facts }).composite(
    'read',
    {
      by: 'what',
      modes: {
        mails: { description: 'Mails', count, whenEmpty: 'Wait for the postman.' },
        history: { description: 'All that came', available: true, count },
        spam: { description: 'Spam', available: (at) => at.facts.mails > 5, count },
      },
    },
    { mails: () => 'mails', history: () => 'history', spam: () => 'spam' },
  )
  const client = await connect(served)
  const listed = async () => (await client.tools())[0]?._meta
  expect(await listed()).toEqual({ available_modes: ['history'], data_counts: { history: 0 } })
  const refused = await client.call('read', { what: 'mails' })
  expect([reasonOf(refused), textOf(refused)]).toEqual([
    'mode_unavailable',
    'read(what: "mails") has no data now. Wait for the postman. Choose one of: history.',
  ])
  facts.set({ mails: 3 })
  expect(await listed()).toEqual({ available_modes: ['mails', 'history'], data_counts: { mails: 3, history: 3 } })
  expect(textOf(await client.call('read', { what: 'mails' }))).toBe('mails')
  facts.set({ mails: 6 })
  expect(await listed()).toMatchObject({ available_modes: ['mails', 'history', 'spam'] })
})
