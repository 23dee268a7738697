import type { Tool } from '@unfold-mcp/core'
import { defineToolbox } from '@unfold-mcp/server'
import { testServer, testTransports } from '@unfold-mcp/server/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseConfig } from '../config/read.ts'
import { type EntriesOptions, upstreamEntries } from './entries.ts'

const tool = (name: string, more: object = {}): Tool => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: 'object' },
  ...more,
})

/** Any schema; data from a server has no static type. */
const odd = (name: string, more: object): Tool => ({ ...tool(name), ...more })

function options(server: object = {}, name = 'git'): EntriesOptions {
  const { config } = parseConfig(JSON.stringify({ mcpServers: { [name]: { command: 'x', ...server } } }), {
    file: 'x',
    environment: {},
  })
  const found = config.mcpServers[name]
  if (found === undefined) throw new Error('no server')
  return { server: name, config: found, call: (called, input) => JSON.stringify([called, input]), limit: config.limits.tools }
}

const names = (tools: readonly Tool[], server?: object): readonly string[] =>
  upstreamEntries(tools, options(server)).entries.map((entry) => entry.tool.name)
const notes = (tools: readonly Tool[], server?: object): readonly string[] =>
  upstreamEntries(tools, options(server)).notes.map(({ message }) => message)

describe('the tools of an upstream', () => {
  test('are entries of their own group, with names that map back to the tools', () => {
    const made = upstreamEntries([tool('log'), tool('add it')], options())
    expect(made.entries.map(({ visibility }) => visibility)).toEqual([{ group: 'git' }, { group: 'git' }])
    expect([...made.names.values()]).toEqual(['log', 'add it'])
    expect([...made.names.keys()][0]).toBe('git__log')
    expect(made.notes).toEqual([])
  })

  test('keep their entries only as long as they are unchanged', () => {
    const same = options()
    const before = upstreamEntries([tool('log'), tool('add')], same)
    const after = upstreamEntries([tool('add'), tool('log', { description: 'Shows' }), tool('new')], same, before)
    expect(after.entries[0]).toBe(before.entries[1])
    expect(after.entries[1]).not.toBe(before.entries[0])
    expect(after.entries[1]?.tool.description).toBe('Shows')
    expect(upstreamEntries([tool('add')], options({ deny: ['add'] }), before).entries).toEqual([])
  })

  test('follow the overrides of the configuration', () => {
    const server = {
      tools: { log: { name: 'history', description: 'What happened', pinned: true }, rm: { enabled: false } },
      deny: ['push*'],
    }
    const made = upstreamEntries([tool('log'), tool('rm'), tool('push'), tool('push_all'), tool('add')], options(server))
    expect(made.entries.map((entry) => [entry.tool.name, entry.tool.description, entry.pinned])).toEqual([
      ['history', 'What happened', true],
      ['git__add', 'Does add', undefined],
    ])
    expect(made.names.get('history')).toBe('log')
  })

  test('are the allowed ones, and those enabled by name', () => {
    const tools = ['get_a', 'get_b', 'set_a', 'drop'].map((name) => tool(name))
    expect(names(tools, { allow: ['get_*'] })).toEqual(['git__get_a', 'git__get_b'])
    expect(names(tools, { allow: ['get_*'], deny: ['*_b'] })).toEqual(['git__get_a'])
    expect(names(tools, { allow: ['get_*'], tools: { drop: { enabled: true } } })).toEqual([
      'git__get_a',
      'git__get_b',
      'git__drop',
    ])
    expect(names(tools, { allow: [] })).toEqual([])
  })

  test('that are configured but missing on the upstream cause a note', () => {
    expect(notes([tool('log')], { tools: { lgo: { pinned: true } }, deny: ['x*', 'add'] })).toEqual([
      'The configuration mentions the tool "lgo", which the server does not have. Did you mean "log"?',
      'The configuration mentions the tool "add", which the server does not have.',
    ])
  })

  test('with names similar to the gateway’s own cause a note', () => {
    const made = upstreamEntries([tool('tools')], options({}, 'search'))
    expect(made.notes.map(({ message }) => message)).toEqual(['Similar tool names: search__tools, search_tools.'])
  })

  test('with similar names cause a note', () => {
    expect(notes([tool('read_file'), tool('Read-File')])).toEqual(['Similar tool names: git__read_file, git__Read-File.'])
  })

  test.each([
    ['a Cyrillic letter', 's\u{435}arch', '"s\\u{435}arch"'],
    ['a space at the end', 'search ', '"search "'],
    ['a dot at the end', 'search.', '"search."'],
    ['full-width letters', '\u{ff53}earch', '"\\u{ff53}earch"'],
  ])('that differ only in %s cause a note that shows the difference', (_, name, shown) => {
    expect(notes([tool('search'), tool(name)])).toEqual([`Similar tool names: "search", ${shown}.`])
  })

  test('that differ only in their Unicode normalisation cause a note', () => {
    expect(notes([tool('caf\u{e9}'), tool('cafe\u{301}')])).toEqual(['Similar tool names: "caf\\u{e9}", "cafe\\u{301}".'])
  })
})

function deep(levels: number): object {
  let schema: object = { type: 'string' }
  for (let i = 0; i < levels; i++) schema = { allOf: [schema] }
  return schema
}

const doubling = Object.fromEntries(
  Array.from({ length: 20 }, (_, i) => [`a${i}`, { anyOf: [{ $ref: `#/$defs/a${i + 1}` }, { $ref: `#/$defs/a${i + 1}` }] }]),
)

describe('an invalid tool is omitted with a note, and the others are served', () => {
  test.each([
    ['no schema', { inputSchema: undefined }, 'its input schema is not an object'],
    ['null', { inputSchema: null }, 'its input schema is not an object'],
    ['a list', { inputSchema: [] }, 'its input schema is not an object'],
    ['true', { inputSchema: true }, 'its input schema is not an object'],
    ['a schema of text', { inputSchema: { type: 'string' } }, 'the type of its input schema is not "object"'],
    ['a description that is not a string', { description: 5 }, 'its description is not a string'],
    [
      'a cycle',
      { inputSchema: { type: 'object', $ref: '#' } },
      'its input schema is not accepted: it contains a circular reference',
    ],
    [
      'a circle of two',
      {
        inputSchema: {
          type: 'object',
          properties: { x: { $ref: '#/$defs/a' } },
          $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
        },
      },
      'its input schema is not accepted: it contains a circular reference',
    ],
    [
      'doubling',
      { inputSchema: { type: 'object', $defs: doubling, $ref: '#/$defs/a0' } },
      'its input schema is not accepted: more than 2000 schemas apply to one value',
    ],
    [
      'depth',
      { inputSchema: { type: 'object', ...deep(2_000) } },
      'its input schema is not accepted: it is nested more than 64 levels deep',
    ],
    [
      'properties',
      {
        inputSchema: { type: 'object', properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, {}])) },
      },
      'its input schema is not accepted: it has more than 5000 nodes',
    ],
    [
      'a long pattern',
      { inputSchema: { type: 'object', properties: { x: { pattern: 'a'.repeat(3_000) } } } },
      'its input schema is not accepted: a pattern is longer than 2000 characters',
    ],
    [
      'size',
      { inputSchema: { type: 'object', default: 'x'.repeat(5_000_000) } },
      'its definition is longer than 262144 characters',
    ],
    [
      'a header with a break',
      { inputSchema: { type: 'object', properties: { x: { type: 'string', 'x-mcp-header': 'a\r\nb' } } } },
      'its input schema is not accepted: x-mcp-header of "x" is not a valid header name',
    ],
    [
      'a header twice',
      {
        inputSchema: {
          type: 'object',
          properties: { x: { type: 'string', 'x-mcp-header': 'A' }, y: { type: 'string', 'x-mcp-header': 'a' } },
        },
      },
      'its input schema is not accepted: two parameters have the header a',
    ],
    [
      'a header in a list',
      { inputSchema: { type: 'object', properties: { x: { items: { type: 'string', 'x-mcp-header': 'A' } } } } },
      'its input schema is not accepted: x-mcp-header at "x" is not on a property of an object',
    ],
    ['need of a task', { execution: { taskSupport: 'required' } }, 'it requires task execution'],
  ])('for %s', (_what, more, why) => {
    const tools = [odd('bad', more), tool('good')]
    expect(names(tools)).toEqual(['git__good'])
    expect(notes(tools)).toEqual([`Tool "bad" is omitted: ${why}.`])
  })

  test('for a name that is too long, is listed twice, or one tool too many', () => {
    expect(notes([tool('x'.repeat(300))])[0]).toContain('its name is longer than 256 characters')
    expect(notes([tool('a'), tool('a', { title: 'A' })])).toEqual(['Tool "a" is omitted: it is listed twice.'])
    const few = upstreamEntries([tool('a'), tool('b'), tool('c')], { ...options(), limit: 2 })
    expect(few.entries).toHaveLength(2)
    expect(few.notes).toEqual([{ tool: '', kind: 'left_out', message: 'Only the first 2 of 3 tools are used.' }])
  })
})

describe('a tool is accepted', () => {
  test('with a schema that contains itself at a deeper level, such as a tree', () => {
    const inputSchema = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } }
    expect(names([odd('tree', { inputSchema })])).toEqual(['git__tree'])
  })

  test('with a pattern that may backtrack catastrophically, which is never run and causes a note', () => {
    const inputSchema = { type: 'object', properties: { x: { type: 'string', pattern: '^(a+)+$' } } }
    const made = upstreamEntries([odd('slow', { inputSchema })], options())
    expect(made.notes).toEqual([
      {
        tool: 'slow',
        kind: 'changed',
        message: 'Tool "slow": a pattern in its schema may be subject to catastrophic backtracking: ^(a+)+$.',
      },
    ])
    expect(made.entries[0]?.input.check({ x: 'a'.repeat(50) })).toEqual({ value: { x: 'a'.repeat(50) } })
  })

  test('without hidden characters, with a note; joiners and data stay', () => {
    const family = '👨‍👩‍👧 ❤️'
    const inputSchema = { type: 'object', properties: { x: { description: 'a\u200bb\u202e', enum: ['k\u200b'] } } }
    const made = upstreamEntries(
      [odd('t', { description: `Reads\u{e0041}\u{e0042} ${family}\u001b[2J`, inputSchema })],
      options(),
    )
    expect(made.entries[0]?.tool.description).toBe(`Reads ${family}[2J`)
    expect(made.entries[0]?.tool.inputSchema).toEqual({
      type: 'object',
      properties: { x: { description: 'ab', enum: ['k\u200b'] } },
    })
    expect(made.notes.map(({ message }) => message)).toEqual(['Tool "t": hidden characters were removed from its text.'])
  })

  test('without an output schema or icons that could be harmful', () => {
    const icons = [{ src: 'javascript:alert(1)' }, { src: 'https://x/i.png' }, { src: 'data:image/svg+xml,<svg/>' }, 5]
    const made = upstreamEntries([odd('t', { icons, outputSchema: { $ref: '#' }, extra: 'x' })], options())
    expect(made.entries[0]?.tool).toEqual({ ...tool('t'), name: 'git__t', icons: [{ src: 'https://x/i.png' }] })
    expect(made.notes.map(({ message }) => message)).toEqual([
      'Tool "t": its output schema was removed: it contains a circular reference.',
    ])
  })

  test('or omitted with a note, for any definition', () => {
    const anything = fc.record({ name: fc.string(), inputSchema: fc.jsonValue() }, { requiredKeys: ['name'] })
    const more = fc.dictionary(
      fc.constantFrom('title', 'description', 'outputSchema', 'annotations', 'icons', '_meta', 'execution'),
      fc.jsonValue(),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(anything, more), { maxLength: 5 }), (pairs) => {
        const tools = pairs.map(([a, b]) => odd(a.name, { inputSchema: undefined, ...b, ...a }))
        const made = upstreamEntries(tools, options())
        const leftOut = made.notes.filter(({ kind }) => kind === 'left_out').length
        expect(made.entries.length + leftOut).toBe(tools.length)
        expect(new Set(made.entries.map((entry) => entry.tool.name)).size).toBe(made.entries.length)
      }),
      { numRuns: 200 },
    )
  })
})

test.each(testTransports)(
  'the library serves the entries over $transport ($era), and a call reaches the upstream by its own name',
  async (testTransport) => {
    const inputSchema = { type: 'object', properties: { n: { type: 'number' } } }
    const { entries } = upstreamEntries([odd('add it', { inputSchema }), tool('log')], options())
    const source = {
      name: 'git',
      entries: () => entries,
      groups: () => ({ git: { description: 'Git' } }),
      subscribe: () => () => undefined,
    }
    const toolbox = defineToolbox({ name: 'gateway', version: '1.0.0', exposure: 'everything' }).use(source)
    await using server = await testServer(toolbox, testTransport)
    const client = await server.connect()
    expect(await client.toolNames()).toEqual(entries.map((entry) => entry.tool.name))
    const result = await client.call(entries[0]?.tool.name ?? '', { n: 1 })
    expect(result.content).toEqual([{ type: 'text', text: '["add it",{"n":1}]' }])
    await client.close()
  },
)
