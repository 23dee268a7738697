import type { CallToolResult } from '@modelcontextprotocol/server'
import { type } from 'arktype'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineToolbox, LiveFacts, type ModePolicy, type Toolbox, type ToolboxOptions } from '../index.ts'
import { replyData, type TestContext, testContext } from '../testing/index.ts'
import type { Report } from './report.ts'

const info = { name: 'browser', version: '1.0.0' }
const empty = { logs: 0, network: 0, vitals: 0 }
type Buffers = typeof empty
type Options = Omit<ToolboxOptions<unknown, Buffers>, 'name' | 'version' | 'facts' | 'groups'>

const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
const reasonOf = ({ isError, _meta }: CallToolResult): unknown => isError === true && _meta?.['io.github.unfold-mcp/reason']

/** A recorded page: `observe` has modes for its data, and `page` always. */
function watching(policy: ModePolicy = 'filtered', options: Options = {}) {
  const facts = new LiveFacts<Buffers>(empty)
  const toolbox = defineToolbox({ ...info, ...options, facts }).composite(
    'observe',
    {
      by: 'what',
      description: 'Look at what the page did',
      policy,
      readOnly: true,
      inputSchema: z.object({ limit: z.int().min(1).default(10) }),
      modes: {
        page: { description: 'The page as it is' },
        logs: {
          description: 'Console entries',
          available: ({ facts: { logs } }) => logs > 0,
          count: ({ facts: { logs } }) => logs,
          whenEmpty: 'Wait until the page logs something.',
          inputSchema: z.object({ level: z.enum(['info', 'error']).optional() }),
        },
        network: {
          description: 'Requests and answers',
          available: ({ facts: { network } }) => network > 0,
          count: ({ facts: { network } }) => network,
          inputSchema: z.object({ url: z.string() }),
        },
      },
    },
    {
      page: (input) => ({ ...input }),
      logs: (input) => ({ ...input }),
      network: (input, ctx) => ({ ...input, there: ctx.facts.network }),
    },
  )
  return { facts, toolbox }
}

const enumOf = (client: TestContext): unknown => {
  const schema = client.tools().find((tool) => tool.name === 'observe')?.inputSchema
  return (schema?.properties as { readonly what: { readonly enum: readonly string[] } } | undefined)?.what.enum
}

const metaOf = (client: TestContext) => client.tools().find((tool) => tool.name === 'observe')?._meta

describe('a filtered composite tool', () => {
  test('lists the modes with data, in order of declaration', async () => {
    const { facts, toolbox } = watching()
    await using client = await testContext(toolbox)
    expect(enumOf(client)).toEqual(['page'])
    facts.set({ network: 1 })
    expect(enumOf(client)).toEqual(['page', 'network'])
    facts.set({ logs: 1 })
    expect(enumOf(client)).toEqual(['page', 'logs', 'network'])
    facts.set({ network: 0 })
    expect(enumOf(client)).toEqual(['page', 'logs'])
  })

  test('has the parameters of the listed modes', async () => {
    const { facts, toolbox } = watching()
    await using client = await testContext(toolbox)
    const parameters = () => Object.keys(client.tools()[0]?.inputSchema.properties as object)
    expect(parameters()).toEqual(['what', 'limit'])
    facts.set({ network: 1 })
    expect(parameters()).toEqual(['what', 'limit', 'url'])
  })

  test('is not listed while it has no mode, but can still be called', async () => {
    const facts = new LiveFacts({ clicks: 0 })
    const clicks = {
      description: 'Clicks',
      available: (now: { facts: { clicks: number } }) => now.facts.clicks > 0,
      whenEmpty: 'Click on the page.',
    }
    const toolbox = defineToolbox({ ...info, facts })
      .composite('replay', { by: 'what', modes: { clicks } }, { clicks: () => 'replayed' })
      .tool('ping', {}, () => 'pong')
    await using client = await testContext(toolbox)
    expect(client.toolNames()).toEqual(['ping'])
    const refused = await client.call('replay', { what: 'clicks' })
    expect(reasonOf(refused)).toBe('mode_unavailable')
    expect(textOf(refused)).toBe('replay(what: "clicks") has no data now. Click on the page. No mode has data now.')
    facts.set({ clicks: 1 })
    expect(textOf(await client.call('replay', { what: 'clicks' }))).toBe('replayed')
    expect(client.toolNames()).toEqual(['replay', 'ping'])
  })
})

describe('a static composite tool', () => {
  test('lists all modes regardless of data, and _meta contains those with data and how to get more', async () => {
    const { facts, toolbox } = watching('static')
    await using client = await testContext(toolbox)
    expect(enumOf(client)).toEqual(['page', 'logs', 'network'])
    expect(metaOf(client)).toEqual({
      available_modes: ['page'],
      data_counts: { logs: 0, network: 0 },
      hint: 'No data yet: logs, network. Wait until the page logs something.',
    })
    facts.set({ logs: 3, network: 2 })
    expect(enumOf(client)).toEqual(['page', 'logs', 'network'])
    expect(metaOf(client)).toEqual({ available_modes: ['page', 'logs', 'network'], data_counts: { logs: 3, network: 2 } })
  })

  test('answers a mode without data with how to get some', async () => {
    const { toolbox } = watching('static')
    await using client = await testContext(toolbox)
    const refused = await client.call('observe', { what: 'logs' })
    expect(reasonOf(refused)).toBe('mode_unavailable')
    expect(textOf(refused)).toBe(
      'observe(what: "logs") has no data now. Wait until the page logs something. Choose one of: page.',
    )
    expect(textOf(await client.call('observe', { what: 'network', url: '/' }))).toContain('No data for "network" yet.')
  })
})

describe.each<ModePolicy>(['filtered', 'static'])('a call of a %s composite tool', (policy) => {
  test('reaches the handler of its mode, with defaults applied and the mode as a parameter', async () => {
    const { facts, toolbox } = watching(policy)
    facts.set({ logs: 1, network: 5 })
    await using client = await testContext(toolbox)
    const seen = async (args: Record<string, unknown>) => (await client.call('observe', args)).structuredContent
    expect(await seen({ what: 'page' })).toEqual({ what: 'page', limit: 10 })
    expect(await seen({ what: 'logs', level: 'error', limit: 2 })).toEqual({ what: 'logs', limit: 2, level: 'error' })
    expect(await seen({ what: 'network', url: '/api' })).toEqual({ what: 'network', limit: 10, url: '/api', there: 5 })
  })

  test('reaches data that arrived after the list was read', async () => {
    const { facts, toolbox } = watching(policy)
    await using client = await testContext(toolbox)
    client.tools()
    facts.set({ logs: 1 })
    expect((await client.call('observe', { what: 'logs' })).structuredContent).toEqual({ what: 'logs', limit: 10 })
  })

  test('without a mode, or with an unknown one, is answered with the available modes', async () => {
    const { facts, toolbox } = watching(policy)
    facts.set({ logs: 1 })
    await using client = await testContext(toolbox)
    const answer = async (args: unknown) => textOf(await client.call('observe', args))
    expect(await answer({})).toContain('- what: is missing. Choose one of: page, logs.')
    expect(await answer({ what: 'lgos' })).toContain(
      '- what: is "lgos", which is not a valid value. Nearest: logs. Choose one of',
    )
    expect(await answer({ what: 7 })).toContain('- what: is "7", which is not a valid value. Choose one of: page, logs.')
    expect(await answer({ what: ['logs'] })).toContain('is "["logs"]", which is not a valid value.')
    expect(await answer({ what: null })).toContain('is "null", which is not a valid value.')
    expect(reasonOf(await client.call('observe', {}))).toBe('invalid_arguments')
  })

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('with the mode %s is rejected', async (name) => {
    const { toolbox } = watching(policy)
    await using client = await testContext(toolbox)
    const refused = await client.call('observe', { what: name })
    expect(reasonOf(refused)).toBe('invalid_arguments')
    expect(textOf(refused)).toContain(`is "${name}", which is not a valid value.`)
  })

  test('reports every unknown argument, and the mode it belongs to', async () => {
    const { facts, toolbox } = watching(policy)
    facts.set({ logs: 1, network: 1 })
    await using client = await testContext(toolbox)
    const hostile = JSON.parse('{"what":"logs","url":"/","levl":"error","limit":0,"__proto__":{"limit":1}}') as object
    const refused = await client.call('observe', hostile)
    expect(reasonOf(refused)).toBe('invalid_arguments')
    expect(textOf(refused).split('\n').slice(1, -1)).toEqual([
      '- url: does not go with what: "logs"; it belongs to network.',
      '- levl: does not go with what: "logs". Nearest: level.',
      '- __proto__: does not go with what: "logs".',
      expect.stringMatching(/^- limit: /u),
    ])
  })

  test('without a required argument of its mode is rejected', async () => {
    const { facts, toolbox } = watching(policy)
    facts.set({ network: 1 })
    await using client = await testContext(toolbox)
    const refused = await client.call('observe', { what: 'network' })
    expect(reasonOf(refused)).toBe('invalid_arguments')
    expect(textOf(refused)).toContain('- url:')
  })

  test('of a mode without data reports that first, whatever else is wrong', async () => {
    const { toolbox } = watching(policy)
    await using client = await testContext(toolbox)
    expect(reasonOf(await client.call('observe', { what: 'network', nonsense: true }))).toBe('mode_unavailable')
  })

  test('with arguments that are not an object is rejected because its mode is missing', async () => {
    const { toolbox } = watching(policy)
    await using client = await testContext(toolbox)
    for (const args of [[], 'logs', 7]) expect(textOf(await client.call('observe', args))).toContain('- what: is missing.')
  })
})

describe('counts', () => {
  test('are read with the list, and are not part of the definition', async () => {
    const { facts, toolbox } = watching()
    facts.set({ logs: 1 })
    await using client = await testContext(toolbox)
    expect(metaOf(client)).toEqual({ available_modes: ['page', 'logs'], data_counts: { logs: 1 } })
    facts.set({ logs: 48 })
    expect(metaOf(client)).toEqual({ available_modes: ['page', 'logs'], data_counts: { logs: 48 } })
  })

  test('alone cause no notifications, and cursors stay valid', async () => {
    const { facts, toolbox } = watching('filtered', { protocol: { pageSize: 1, notifyIntervalMs: 1 } })
    toolbox.tool('ping', {}, () => 'pong')
    facts.set({ logs: 1 })
    await using client = await testContext(toolbox)
    const { nextCursor } = client.list()
    for (let logs = 2; logs < 100; logs++) facts.set({ logs })
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(client.listChanges).toBe(0)
    expect(client.list(nextCursor).tools.map(({ name }) => name)).toEqual(['ping'])
  })

  test('can be disabled by the author, and by a URL', async () => {
    const { facts, toolbox } = watching('static', { protocol: { counts: false } })
    facts.set({ logs: 1 })
    await using strict = await testContext(toolbox)
    expect(strict.tools()[0]).not.toHaveProperty('_meta')
    await using insisting = await testContext(toolbox, { view: 'counts=true' })
    expect(insisting.tools()[0]).not.toHaveProperty('_meta')
    for (const era of ['session', 'stateless'] as const) {
      const { toolbox: counting } = watching('static')
      await using asking = await testContext(counting, { era, view: 'counts=false' })
      await using other = await testContext(counting, { era })
      expect(asking.tools()[0]).not.toHaveProperty('_meta')
      expect(other.tools()[0]).toHaveProperty('_meta.available_modes')
      expect(asking.toolNames()).toEqual(other.toolNames())
    }
    await expect(testContext(toolbox, { view: 'counts=maybe' })).rejects.toMatchObject({ reason: 'invalid_view' })
  })

  test('are added to the _meta of the author, the version and host hints', async () => {
    const toolbox = defineToolbox({ ...info, exposure: { hostHints: true } }).composite(
      'observe',
      {
        by: 'what',
        version: '2',
        tags: ['spy'],
        _meta: { 'example.com/owner': 'web' },
        modes: { logs: { description: 'Logs', count: () => 3 }, page: { description: 'Page', available: () => false } },
      },
      { logs: () => '', page: () => '' },
    )
    await using client = await testContext(toolbox)
    expect(metaOf(client)).toEqual({
      'example.com/owner': 'web',
      'io.github.unfold-mcp/version': '2',
      'anthropic/searchHint': expect.stringMatching(/^spy\b/u),
      available_modes: ['logs'],
      data_counts: { logs: 3 },
    })
    await using strict = await testContext(toolbox, { view: 'counts=false' })
    expect(metaOf(strict)).toEqual({
      'example.com/owner': 'web',
      'io.github.unfold-mcp/version': '2',
      'anthropic/searchHint': expect.stringMatching(/^spy\b/u),
    })
  })

  test('belong to the same snapshot as the modes, also if facts are a function', async () => {
    let reads = 0
    const toolbox = defineToolbox({ ...info, facts: () => ({ read: ++reads }) }).composite(
      'observe',
      {
        by: 'what',
        modes: {
          odd: { description: 'Odd', available: ({ facts }) => facts.read % 2 === 1, count: ({ facts }) => facts.read },
          even: { description: 'Even', available: ({ facts }) => facts.read % 2 === 0, count: ({ facts }) => facts.read },
        },
      },
      { odd: () => '', even: () => '' },
    )
    await using client = await testContext(toolbox)
    for (let round = 0; round < 4; round++) {
      const [tool] = client.tools()
      const properties = tool?.inputSchema.properties as { what: { enum: string[] } } | undefined
      const meta = tool?._meta as { available_modes: string[]; data_counts: object } | undefined
      expect(meta?.available_modes).toEqual(properties?.what.enum)
      expect(Object.keys(meta?.data_counts ?? {})).toEqual(properties?.what.enum)
    }
  })

  test('are absent for a tool without counts', async () => {
    const toolbox = defineToolbox(info).composite(
      'configure',
      { by: 'action', modes: { clear: { description: 'Clear' }, health: { description: 'Health' } } },
      { clear: () => '', health: () => '' },
    )
    await using client = await testContext(toolbox)
    expect(client.tools()[0]).not.toHaveProperty('_meta')
  })
})

describe('with other features', () => {
  test('a predicate that throws hides its mode, and is reported with the name of the tool', async () => {
    const reports: Report[] = []
    const toolbox = defineToolbox({ ...info, report: (report) => void reports.push(report) }).composite(
      'observe',
      {
        by: 'what',
        modes: {
          logs: { description: 'Logs' },
          broken: {
            description: 'Broken',
            available: () => {
              throw new TypeError('no data')
            },
          },
        },
      },
      { logs: () => '', broken: () => '' },
    )
    await using client = await testContext(toolbox)
    expect(enumOf(client)).toEqual(['logs'])
    expect(reports[0]).toMatchObject({ reason: 'predicate_failed', message: expect.stringContaining('"observe"') as string })
    expect(reasonOf(await client.call('observe', { what: 'broken' }))).toBe('mode_unavailable')
  })

  test('a tool that is not permitted is unknown, with and without data', async () => {
    const { facts, toolbox } = watching('filtered', { permit: () => false })
    facts.set({ logs: 1 })
    await using client = await testContext(toolbox)
    expect(client.toolNames()).toEqual([])
    await expect(client.call('observe', { what: 'logs' })).rejects.toMatchObject({ reason: 'unknown_tool' })
  })

  test('a group lists and hides it like any other tool', async () => {
    const toolbox = defineToolbox({ ...info, groups: { deep: { description: 'Deeper looks' } } }).composite(
      'analyze',
      { group: 'deep', by: 'target', modes: { api: { description: 'The API' } } },
      { api: () => 'shape' },
    )
    await using client = await testContext(toolbox)
    await expect(client.call('analyze', { target: 'api' })).rejects.toMatchObject({ reason: 'unknown_tool' })
    expect(textOf(await client.call('activate_deep'))).toContain('- analyze(target: "api")')
    expect(textOf(await client.call('analyze', { target: 'api' }))).toBe('shape')
  })

  test('an activator does not name one that may have no modes', async () => {
    const toolbox = defineToolbox({ ...info, groups: { deep: { description: 'Deeper looks' } } })
    const modes = { api: { description: 'The API', available: () => false } }
    toolbox.composite('analyze', { group: 'deep', by: 'target', modes }, { api: () => '' })
    toolbox.composite('audit', { group: 'deep', by: 'target', policy: 'static', modes }, { api: () => '' })
    await using client = await testContext(toolbox)
    expect(client.tools()[0]?.description).toBe('Deeper looks. Enables: audit.')
  })

  test('a predicate can use the active groups, per client', async () => {
    const toolbox = defineToolbox({ ...info, groups: { deep: { description: 'Deeper looks' } } })
      .tool('dig', { group: 'deep' }, () => '')
      .composite(
        'observe',
        {
          by: 'what',
          modes: { page: { description: '' }, depths: { description: '', available: ({ isActive }) => isActive('deep') } },
        },
        { page: () => 'page', depths: () => 'depths' },
      )
    await using one = await testContext(toolbox)
    await using other = await testContext(toolbox)
    await one.call('activate_deep')
    expect(enumOf(one)).toEqual(['page', 'depths'])
    expect(enumOf(other)).toEqual(['page'])
    expect(textOf(await one.call('observe', { what: 'depths' }))).toBe('depths')
    expect(reasonOf(await other.call('observe', { what: 'depths' }))).toBe('mode_unavailable')
  })

  test('search finds it by the purpose of its modes, and returns the current modes', async () => {
    const { facts, toolbox } = watching('filtered', { exposure: 'search' })
    for (const era of ['session', 'stateless'] as const) {
      facts.set({ logs: 0 })
      await using client = await testContext(toolbox, { era })
      expect(client.toolNames()).toEqual(['search_tools', 'describe_tools', 'call_tool'])
      expect(textOf(await client.call('search_tools', { query: 'look at the page' }))).toContain('- observe(what: "page"')
      facts.set({ logs: 1 })
      expect(textOf(await client.call('search_tools', { query: 'console entries' }))).toContain('- observe(what: "page" | "logs"')
      const described = textOf(await client.call('describe_tools', { names: ['observe'] }))
      expect(described).toContain('"enum":["page","logs"]')
      expect(described).not.toContain('network')
    }
  })

  test('search does not find one without modes', async () => {
    const toolbox = defineToolbox({ ...info, exposure: 'search' })
      .composite(
        'replay',
        { by: 'what', description: 'Replay clicks', modes: { clicks: { description: 'Clicks', available: () => false } } },
        {
          clicks: () => '',
        },
      )
      .tool('ping', { description: 'Say that the server is there' }, () => '')
    await using client = await testContext(toolbox)
    expect(textOf(await client.call('search_tools', { query: 'replay clicks' }))).toContain('No match for')
  })

  test('semantic search and custom ranking find it as well', async () => {
    const seen: unknown[] = []
    const { facts, toolbox } = watching('filtered', {
      exposure: 'search',
      search: {
        rank: (_query, matches) => {
          seen.push(...matches.map(({ tool }) => (tool.inputSchema.properties as { what: { enum: unknown } }).what.enum))
          return [...matches]
        },
      },
    })
    facts.set({ network: 1 })
    await using client = await testContext(toolbox)
    expect(textOf(await client.call('search_tools', { query: 'requests and answers' }))).toContain('- observe(')
    expect(seen).toEqual([['page', 'network']])
  })

  test('manage_tools enables it, with the current modes', async () => {
    const { facts, toolbox } = watching('filtered', { exposure: 'lazy' })
    await using client = await testContext(toolbox)
    expect(textOf(await client.call('manage_tools', { action: 'enable', tools: 'observe' }))).toContain('- observe(what: "page"')
    facts.set({ logs: 1 })
    expect(enumOf(client)).toEqual(['page', 'logs'])
  })

  test('call_tool calls it, and answers invalid arguments with a valid example', async () => {
    const { facts, toolbox } = watching('filtered', { exposure: 'search' })
    facts.set({ network: 2 })
    await using client = await testContext(toolbox)
    const through = (args: unknown) => client.call('call_tool', { name: 'observe', arguments: args })
    expect((await through({ what: 'network', url: '/' })).structuredContent).toMatchObject({ url: '/', there: 2 })
    for (const args of [{}, { what: 'netwrok' }, { what: 'network' }, { what: 'network', url: 7, level: 'info' }, { limit: 0 }]) {
      const refused = await through(args)
      expect(reasonOf(refused)).toBe('invalid_arguments')
      expect(textOf(refused)).toContain('Its schema: {"')
      expect(textOf(refused)).not.toContain('console')
      const { example } = replyData(refused) as { example: Record<string, unknown> }
      expect(reasonOf(await through(example))).toBe(false)
    }
    expect(reasonOf(await through({ what: 'logs' }))).toBe('mode_unavailable')
  })

  test('call_tool reports the problem even if no mode is available', async () => {
    const toolbox = defineToolbox({ ...info, exposure: 'search' }).composite(
      'replay',
      { by: 'what', modes: { clicks: { description: 'Clicks', available: () => false } } },
      { clicks: () => '' },
    )
    await using client = await testContext(toolbox)
    const refused = await client.call('call_tool', { name: 'replay', arguments: {} })
    expect(textOf(refused)).toContain('- what: is missing. No mode has data now.')
  })

  test('a client gets an empty list if nothing has data', async () => {
    const toolbox = defineToolbox(info).composite(
      'replay',
      { by: 'what', modes: { clicks: { description: 'Clicks', available: () => false } } },
      { clicks: () => '' },
    )
    await using client = await testContext(toolbox)
    expect(client.tools()).toEqual([])
  })
})

describe('an invalid declaration throws', () => {
  const handlersOf = (value: object) => value as never
  const one = { logs: { description: 'Logs' } }

  test('a mode without a handler, for any mode name', () => {
    const box = (): Toolbox => defineToolbox(info)
    expect(() => box().composite('a', { by: 'what', modes: one }, handlersOf({}))).toThrow(
      'Tool "a" has no handler for its mode "logs"',
    )
    for (const name of ['constructor', 'toString', '__proto__']) {
      const modes = JSON.parse(`{"${name}":{"description":"A mode"}}`) as typeof one
      expect(() => box().composite('a', { by: 'what', modes }, handlersOf({}))).toThrow(`no handler for its mode "${name}"`)
      const handlers = Object.fromEntries([[name, () => 'reached']])
      expect(() => box().composite('a', { by: 'what', modes }, handlersOf(handlers))).not.toThrow()
    }
  })

  test('a mode named like a property of Object.prototype is dispatched like any other', async () => {
    const modes = JSON.parse('{"__proto__":{"description":"A"},"constructor":{"description":"B"}}') as typeof one
    const handlers = Object.fromEntries(Object.keys(modes).map((name) => [name, () => `reached ${name}`]))
    const toolbox = defineToolbox(info).composite('a', { by: 'hasOwnProperty', modes }, handlersOf(handlers))
    await using client = await testContext(toolbox)
    for (const name of ['__proto__', 'constructor'])
      expect(textOf(await client.call('a', { hasOwnProperty: name }))).toBe(`reached ${name}`)
    expect(textOf(await client.call('a', {}))).toContain('- hasOwnProperty: is missing.')
  })

  test('no modes, conflicting parameters, and a schema that is not an object', () => {
    const box = (): Toolbox => defineToolbox(info)
    const handlers = handlersOf({ a: () => '', b: () => '' })
    expect(() => box().composite('x', { by: 'what', modes: {} }, {})).toThrow('it has no modes')
    const differing = {
      a: { description: '', input: z.object({ id: z.string() }) },
      b: { description: '', input: type({ id: 'number' }) },
    }
    expect(() => box().composite('x', { by: 'what', modes: differing }, handlers)).toThrow(
      '"id" differs between mode "a" and mode "b"',
    )
    expect(() =>
      box().composite('x', { by: 'what', modes: { a: { description: '', inputSchema: z.string() } } }, handlers),
    ).toThrow('Tool "x (a)": its input is of type "string"')
    const union = z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])
    expect(() => box().composite('x', { by: 'what', modes: { a: { description: '', inputSchema: union } } }, handlers)).toThrow(
      'uses anyOf at the top',
    )
  })

  test('a duplicate name, and a reserved name', () => {
    const twice = () =>
      defineToolbox(info)
        .tool('observe', {}, () => '')
        .composite('observe', { by: 'what', modes: one }, { logs: () => '' })
    expect(twice).toThrow('declared twice in browser')
    expect(() => defineToolbox(info).composite('call_tool', { by: 'what', modes: one }, { logs: () => '' })).toThrow('library')
  })
})

test('a handler that fails in one mode fails only that call', async () => {
  const toolbox = defineToolbox({ ...info, report: () => undefined }).composite(
    'observe',
    { by: 'what', modes: { good: { description: 'Good' }, bad: { description: 'Bad' } } },
    {
      good: () => 'fine',
      bad: () => {
        throw new Error('The page is gone. Open it again.')
      },
    },
  )
  await using client = await testContext(toolbox)
  expect(await client.call('observe', { what: 'bad' })).toMatchObject({
    isError: true,
    content: [{ text: 'The page is gone. Open it again.' }],
  })
  expect(textOf(await client.call('observe', { what: 'good' }))).toBe('fine')
})
