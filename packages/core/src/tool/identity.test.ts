import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../base/canonical.ts'
import { identityOf, type Sha256, ToolSetIdentity, toolIdentity, valueIdentity } from './identity.ts'
import type { Tool } from './tool.ts'

const sha256: Sha256 = (data) => createHash('sha256').update(data).digest()

const agentList: Tool = {
  name: 'agent_list',
  description: 'List all agents',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
}
const readFile: Tool = {
  name: 'read_file',
  description: 'Read file contents',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
}
const search: Tool = {
  name: 'search',
  title: 'Search',
  description: 'Finds documents',
  inputSchema: { type: 'object', properties: { query: { type: 'string' }, limit: { type: 'integer' } }, required: ['query'] },
  outputSchema: { type: 'object', properties: { hits: { type: 'array' } } },
  annotations: { readOnlyHint: true },
}
const tools = [agentList, readFile, search]
const identity = identityOf(tools, sha256)

const parsed = (text: string): Tool => JSON.parse(text) as Tool

/** The same value with the keys of every object in the opposite order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, turned(item)]),
  )
}

describe('the same tools have the same identity', () => {
  test('in any order', () => {
    expect(identityOf(tools.toReversed(), sha256)).toBe(identity)
    expect(identityOf([search, agentList, readFile], sha256)).toBe(identity)
  })

  test('with their keys in any order', () => {
    expect(
      identityOf(
        tools.map((tool) => turned(tool) as Tool),
        sha256,
      ),
    ).toBe(identity)
  })

  test('with any whitespace', () => {
    expect(
      identityOf(
        tools.map((tool) => parsed(JSON.stringify(tool, undefined, '\t '))),
        sha256,
      ),
    ).toBe(identity)
  })

  test('with any notation of numbers and texts', () => {
    const bounded = (n: string, text: string): Tool =>
      parsed(`{"name":"n","description":${text},"inputSchema":{"type":"object","properties":{"n":{"maximum":${n}}}}}`)
    expect(identityOf([bounded('1e2', String.raw`"\u00f6\/"`)], sha256)).toBe(identityOf([bounded('100.0', '"ö/"')], sha256))
  })

  test('with any `_meta`', () => {
    expect(identityOf([{ ...agentList, _meta: { count: 7 } }, readFile, { ...search, _meta: {} }], sha256)).toBe(identity)
  })

  test('with missing properties written as undefined', () => {
    const holes = { ...agentList, title: undefined, annotations: undefined } as unknown as Tool
    expect(identityOf([holes, readFile, search], sha256)).toBe(identity)
  })
})

describe('a change results in another identity:', () => {
  const changes: readonly (readonly [string, Partial<Tool>])[] = [
    ['of the name', { name: 'find' }],
    ['of the title', { title: 'Find' }],
    ['of the description', { description: 'Finds documents.' }],
    ['of a type in the schema', { inputSchema: { ...search.inputSchema, properties: { query: { type: 'number' } } } }],
    ['of what is required', { inputSchema: { ...search.inputSchema, required: ['query', 'limit'] } }],
    ['of an order that means something', { inputSchema: { ...search.inputSchema, enum: ['a', 'b'] } }],
    ['of the schema of results', { outputSchema: { type: 'object', properties: { hits: { type: 'number' } } } }],
    ['of an annotation', { annotations: { readOnlyHint: false } }],
    ['of the icons', { icons: [{ src: 'https://example.com/a.png' }] }],
    ['of how it is run', { execution: { taskSupport: 'optional' } }],
    ['by an unknown property', { 'x-new': 1 } as unknown as Partial<Tool>],
  ]

  test.each(changes)('%s', (_, change) => {
    const changed = { ...search, ...change }
    expect(identityOf([agentList, readFile, changed], sha256)).not.toBe(identity)
    expect(toolIdentity(changed, sha256)).not.toBe(toolIdentity(search, sha256))
  })

  test.each(['title', 'description', 'outputSchema', 'annotations'] as const)('without a %s', (part) => {
    const { [part]: _, ...rest } = search
    expect(identityOf([agentList, readFile, rest as Tool], sha256)).not.toBe(identity)
  })

  test('by a tool that is added or removed', () => {
    expect(identityOf([agentList, readFile], sha256)).not.toBe(identity)
    expect(identityOf([...tools, { ...search, name: 'search_again' }], sha256)).not.toBe(identity)
    expect(identityOf([], sha256)).not.toBe(identity)
  })

  test('by the order of items in an array', () => {
    const one = { ...search, inputSchema: { type: 'object', enum: ['a', 'b'] } } as const
    const other = { ...search, inputSchema: { type: 'object', enum: ['b', 'a'] } } as const
    expect(toolIdentity(one, sha256)).not.toBe(toolIdentity(other, sha256))
  })
})

describe('based on names', () => {
  const named = identityOf(tools, sha256, 'names')

  test('only names and descriptions count', () => {
    const bare = tools.map(({ name, description = '' }): Tool => ({ name, description, inputSchema: { type: 'object' } }))
    expect(identityOf(bare, sha256, 'names')).toBe(named)
    expect(identityOf(bare, sha256)).not.toBe(identity)
  })

  test('a name or a description changes it', () => {
    expect(identityOf([agentList, readFile, { ...search, name: 'find' }], sha256, 'names')).not.toBe(named)
    expect(identityOf([agentList, readFile, { ...search, description: 'Finds' }], sha256, 'names')).not.toBe(named)
  })

  test('no description is the same as an empty one', () => {
    const { description: _, ...undescribed } = search
    expect(toolIdentity(undescribed, sha256, 'names')).toBe(toolIdentity({ ...search, description: '' }, sha256, 'names'))
  })

  test('it differs from the identity based on definitions, also for the same objects', () => {
    expect(named).not.toBe(identity)
    expect(identityOf(tools, sha256)).toBe(identity)
  })
})

// Computed by another program from the description of the algorithm. A change here breaks every existing cache.
describe('the algorithm is stable:', () => {
  const hundred = Array.from(
    { length: 100 },
    (_, i): Tool => ({
      name: `tool_${i}`,
      title: `Tool ${i}`,
      description: `Does ${i} ö € 😂`,
      inputSchema: { type: 'object', properties: { n: { type: 'number', minimum: i } } },
      annotations: { readOnlyHint: i % 2 === 0 },
    }),
  )

  test.each([
    ['no tools', identityOf([], sha256), 'e5a00aa9-991a-88a5-ae31-09844d84a555'],
    ['two tools', identityOf([agentList, readFile], sha256), '8f269d12-e4d5-80a9-a2ec-ad2fec21753b'],
    ['their names', identityOf([agentList, readFile], sha256, 'names'), '23799495-5f3f-8a41-b319-2026ab0bd402'],
    ['a hundred tools', identityOf(hundred, sha256), '62c6121f-11d9-86b6-b47f-41008d1f0fea'],
    ['one tool', toolIdentity(readFile, sha256), 'a7f1a140-98ef-8905-b502-c088cc9ba70f'],
    ['its name', toolIdentity(readFile, sha256, 'names'), '22b71c23-9b07-848d-98c2-19d5e6a7905c'],
    ['a value', valueIdentity({ n: 1, groups: ['a'] }, sha256), '1604033d-73a1-8b2a-a5e9-a85c55d0cea1'],
  ])('%s', (_, actual, expected) => {
    expect(actual).toBe(expected)
  })

  test('the hash input is canonical JSON (RFC 8785)', () => {
    const sample: unknown = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`)
    const text = String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`
    const hashed: (string | Uint8Array)[] = []
    const spying: Sha256 = (data) => {
      hashed.push(data)
      return sha256(data)
    }
    valueIdentity(sample, spying)
    toolIdentity({ ...readFile, _meta: { a: 1 }, annotations: sample as object }, spying)
    expect(hashed).toEqual([
      text,
      `{"annotations":${text},"description":"Read file contents","inputSchema":${canonicalJson(readFile.inputSchema)},"name":"read_file"}`,
    ])
  })
})

const anyName = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 })
const anyTool: fc.Arbitrary<Tool> = fc
  .record({ name: anyName, description: fc.string({ unit: 'grapheme' }), extra: fc.jsonValue({ maxDepth: 2 }) })
  .map(({ name, description, extra }) => ({ name, description, inputSchema: { type: 'object', extra } }))

test('an identity is a UUID of version 8 and of the variant of RFC 9562', () => {
  fc.assert(
    fc.property(fc.array(anyTool), (some) => {
      expect(identityOf(some, sha256)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u)
    }),
  )
})

test('an identity updated tool by tool is that of the remaining tools', () => {
  const step = fc.oneof(
    anyTool.map((tool) => ({ tool })),
    anyName.map((gone) => ({ gone })),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom('definitions', 'names'), (steps, basis) => {
      const set = new ToolSetIdentity(sha256, basis)
      const left = new Map<string, Tool>()
      for (const each of steps) {
        if ('tool' in each) {
          set.set(each.tool)
          left.set(each.tool.name, each.tool)
        } else {
          set.delete(each.gone)
          left.delete(each.gone)
        }
        expect(set.value).toBe(identityOf(left.values(), sha256, basis))
      }
      expect(set.size).toBe(left.size)
    }),
  )
})

test('adding a removed tool again restores the previous identity', () => {
  const set = new ToolSetIdentity(sha256)
  for (const tool of tools) set.set(tool)
  expect(set.value).toBe(identity)
  set.delete('search')
  expect(set.value).toBe(identityOf([agentList, readFile], sha256))
  set.set({ ...search, title: 'Find' })
  set.set(search)
  expect(set.value).toBe(identity)
})

test('computing the identity of a tool does not change that of the set', () => {
  const mine = tools.map((tool) => ({ ...tool }))
  for (const tool of mine) toolIdentity(tool, sha256)
  expect(identityOf(mine, sha256)).toBe(identity)
})

test('changing one of a thousand tools hashes only that tool, its bucket and the root', () => {
  let hashes = 0
  const counting: Sha256 = (data) => {
    hashes++
    return sha256(data)
  }
  const set = new ToolSetIdentity(counting)
  for (let i = 0; i < 1_000; i++) set.set({ ...search, name: `tool_${i}` })
  const before = set.value
  hashes = 0
  set.set({ ...search, name: 'tool_500', description: 'Changed' })
  expect(set.value).not.toBe(before)
  // It may be in another bucket now.
  expect(hashes).toBeLessThanOrEqual(4)
  hashes = 0
  expect(set.value).not.toBe(before)
  expect(hashes).toBe(0)
})

test('a definition that is not JSON is rejected', () => {
  const ring: { [key: string]: unknown; type: 'object' } = { type: 'object' }
  ring.self = ring
  expect(() => identityOf([{ name: 'ring', inputSchema: ring }], sha256)).toThrow('JSON has no cycles')
})
