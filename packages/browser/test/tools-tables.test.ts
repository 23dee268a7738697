import { testTransports } from '@unfold-mcp/server/testing'
import { describe, expect, test } from 'vitest'
import { describeInChromium, until } from './chromium.ts'
import { choosing, countsOf, failureOf, type Modes, metaOf, modesOf } from './replies.ts'
import { serving } from './served.ts'

/** The buffers of the specification, by their names there. */
type Buffer =
  | 'server.entries'
  | 'capture.networkBodies'
  | 'capture.wsEvents'
  | 'capture.connections'
  | 'capture.enhancedActions'
  | 'capture.perf.snapshots'
  | 'capture.schemaStore'

const anyCapture = [
  'capture.networkBodies',
  'capture.wsEvents',
  'capture.connections',
  'capture.enhancedActions',
  'capture.perf.snapshots',
] as const satisfies readonly Buffer[]

/** The tables of the specification: each mode, and the buffers of which one must be non-empty. */
const tables: { readonly [tool: string]: readonly (readonly [mode: string, ...when: ['Always'] | readonly Buffer[]])[] } = {
  observe: [
    ['errors', 'Always'],
    ['logs', 'Always'],
    ['network', 'capture.networkBodies'],
    ['websocket_events', 'capture.wsEvents'],
    ['websocket_status', 'capture.connections'],
    ['actions', 'capture.enhancedActions'],
    ['vitals', 'capture.perf.snapshots'],
    ['page', 'Always'],
  ],
  analyze: [
    ['performance', 'capture.perf.snapshots'],
    ['api', 'capture.schemaStore'],
    ['accessibility', 'Always'],
    ['changes', 'server.entries', ...anyCapture],
    ['timeline', 'capture.enhancedActions'],
  ],
  generate: [
    ['reproduction', 'capture.enhancedActions'],
    ['test', 'capture.enhancedActions'],
    ['pr_summary', 'server.entries', 'capture.enhancedActions', 'capture.networkBodies', 'capture.perf.snapshots'],
    ['sarif', 'Always'],
    ['har', 'capture.networkBodies'],
  ],
  configure: [
    ['health', 'Always'],
    ['buffers', 'Always'],
    ['filters', 'Always'],
    ['redaction', 'Always'],
    ['clear', 'Always'],
    ['save', 'Always'],
    ['load', 'Always'],
  ],
}

/** The specified counts of each mode; `errors` are the entries of that level. Other modes have no counts. */
const counted: { readonly [tool: string]: { readonly [mode: string]: Buffer | 'errors' } } = {
  observe: {
    errors: 'errors',
    logs: 'server.entries',
    network: 'capture.networkBodies',
    websocket_events: 'capture.wsEvents',
    websocket_status: 'capture.connections',
    actions: 'capture.enhancedActions',
    vitals: 'capture.perf.snapshots',
  },
  analyze: { performance: 'capture.perf.snapshots', api: 'capture.schemaStore', timeline: 'capture.enhancedActions' },
  generate: {
    reproduction: 'capture.enhancedActions',
    test: 'capture.enhancedActions',
    har: 'capture.networkBodies',
  },
}

/** An event, and what it adds to the buffers. */
const happenings: readonly (readonly [what: string, act: string, Readonly<Partial<Record<Buffer | 'errors', number>>>])[] = [
  ['nothing', 'nothing', {}],
  ['the page writes a line', 'line', { 'server.entries': 1 }],
  ['the page writes an error', 'error', { 'server.entries': 1, errors: 1 }],
  ['the page loads a picture', 'picture', { 'capture.networkBodies': 1 }],
  ['the page asks its server', 'fetch', { 'capture.networkBodies': 2, 'capture.schemaStore': 1 }],
  ['the page opens a WebSocket', 'socket', { 'capture.wsEvents': 2, 'capture.connections': 1 }],
  ['the page opens a WebSocket whose events are filtered out', 'quiet socket', { 'capture.connections': 1 }],
  ['the person clicks', 'click', { 'capture.enhancedActions': 1 }],
  ['the page is measured', 'measure', { 'capture.perf.snapshots': 1 }],
]

type Filled = (typeof happenings)[number][2]

/** The modes in the tables for these buffer contents. */
function modesWith(filled: Filled): Modes {
  const isThere = ([, ...when]: readonly string[]): boolean =>
    when.some((each) => each === 'Always' || (filled[each as Buffer] ?? 0) > 0)
  const modes = Object.entries(tables).map(([tool, rows]) => [tool, rows.filter(isThere).map(([mode]) => mode)])
  return { ...Object.fromEntries(modes), query_dom: undefined }
}

/** The specified counts of the listed modes for these buffer contents. */
function countsWith(filled: Filled): { readonly [tool: string]: unknown } {
  const listed = modesWith(filled)
  const counts = Object.entries(counted).map(([tool, rows]) => {
    const own = Object.entries(rows).flatMap(([mode, buffer]) =>
      listed[tool]?.includes(mode) ? [[mode, filled[buffer] ?? 0] as const] : [],
    )
    return [tool, own.length === 0 ? undefined : Object.fromEntries(own)]
  })
  return { ...Object.fromEntries(counts), configure: undefined, query_dom: undefined }
}

describeInChromium('the availability tables, on a real page', () => {
  const served = serving()
  const { calm, observing } = served

  const acts: { readonly [act: string]: () => Promise<unknown> } = {
    nothing: async () => undefined,
    line: () => served.watch.page.evaluate(() => console.info('a line')),
    error: () => served.watch.page.evaluate(() => console.error('an error')),
    picture: () => served.watch.page.evaluate(() => Object.assign(new Image(), { src: '/picture.svg' }).decode()),
    fetch: () =>
      served.watch.page.evaluate(async () => {
        for (const id of [1, 2]) await (await fetch(`/api/items/${id}`)).text()
      }),
    socket: () => served.watch.page.evaluate(talk),
    'quiet socket': async () => {
      const client = await observing()
      await client.call('configure', { action: 'filters', ignore_urls: ['/ws'] })
      await served.watch.page.evaluate(talk)
    },
    click: () => served.watch.page.locator('h1').click(),
    measure: () => served.measure(),
  }

  /** Opens a WebSocket and sends one message, without waiting for its echo. */
  async function talk(): Promise<void> {
    const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/ws`)
    await new Promise((resolve) => socket.addEventListener('open', resolve))
    socket.send('close')
  }

  /** The contents of the buffers, under the names of the specification. */
  const inBuffers = (): Filled => {
    const facts = served.watch.recording.facts.read()
    return {
      errors: facts.errors,
      'server.entries': facts.logs,
      'capture.networkBodies': facts.network,
      'capture.wsEvents': facts.sockets,
      'capture.connections': facts.connections,
      'capture.enhancedActions': facts.actions,
      'capture.perf.snapshots': facts.snapshots,
      'capture.schemaStore': facts.endpoints,
    }
  }

  describe.each(happenings)('when %s', (_what, act, filled) => {
    test('the modes in the tables are listed with their counts, and each can be called', async () => {
      await calm()
      const client = await observing()
      expect(await modesOf(client)).toEqual(modesWith({}))
      await acts[act]?.()
      await until('it is in the buffers', () =>
        Object.entries(filled).every(([buffer, min]) => (inBuffers()[buffer as Buffer] ?? 0) >= min),
      )
      expect(await modesOf(client)).toEqual(modesWith(filled))
      // A socket may receive more than was sent; the counts are those of the buffers.
      expect(await countsOf(client)).toEqual(countsWith(inBuffers()))
      const before = modesWith({})
      for (const [tool, modes = []] of Object.entries(modesWith(filled)))
        for (const mode of modes.filter((each) => !before[tool]?.includes(each))) {
          expect(failureOf(await client.call(tool, choosing(tool, mode)))).toBeUndefined()
        }
      served.watch.recording.filters = { urls: [], ignoreUrls: [], levels: [], types: [] }
    })
  })

  test('modes that are always available can be called without records', async () => {
    await calm()
    const client = await observing()
    const args: { readonly [mode: string]: object } = { save: { name: 'nothing' }, load: { session: 'nothing' } }
    for (const [tool, modes = []] of Object.entries(modesWith({})))
      for (const mode of modes) {
        expect(failureOf(await client.call(tool, { ...choosing(tool, mode), ...args[mode] }))).toBeUndefined()
      }
    expect((await client.call('query_dom', { selector: 'h1' })).isError).not.toBe(true)
  })

  test('_meta lists the available modes, and configure and query_dom have none', async () => {
    await calm()
    const client = await observing()
    const meta = await metaOf(client)
    const modes = await modesOf(client)
    for (const tool of ['observe', 'analyze', 'generate']) expect(meta[tool]?.available_modes).toEqual(modes[tool])
    const without = (await client.tools()).filter((tool) => !('_meta' in tool)).map(({ name }) => name)
    expect(without).toEqual(['query_dom', 'configure'])
  })

  test.each(testTransports)('over $transport in the era $era every schema is a plain object', async (testTransport) => {
    await calm('/')
    const client = await observing(testTransport)
    const combiners = ['anyOf', 'oneOf', 'allOf', 'not', '$ref']
    const tools = await client.tools()
    expect(tools.map(({ inputSchema }) => inputSchema.type)).toEqual(tools.map(() => 'object'))
    expect(tools.filter(({ inputSchema }) => combiners.some((name) => name in inputSchema))).toEqual([])
  })
})
