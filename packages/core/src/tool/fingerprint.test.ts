import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fingerprint, toolFingerprint } from './fingerprint.ts'
import type { Tool } from './tool.ts'

const search: Tool = {
  name: 'search',
  title: 'Search',
  description: 'Find issues',
  inputSchema: { type: 'object', properties: { query: { type: 'string' }, limit: { type: 'integer' } }, required: ['query'] },
  outputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
  icons: [{ src: 'https://example.com/a.png', sizes: ['48x48'] }],
  execution: { taskSupport: 'optional' },
}

describe('a text', () => {
  test('has a fingerprint of 32 hexadecimal digits, for any content', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(fingerprint(text)).toMatch(/^[0-9a-f]{32}$/)
      }),
    )
  })

  test('always has the same fingerprint', () => {
    expect(fingerprint('create_issue')).toBe(fingerprint(['create', 'issue'].join('_')))
  })

  test('that differs in one character has another fingerprint', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string({ minLength: 1, maxLength: 1 }), (before, after, added) => {
        expect(fingerprint(before + added + after)).not.toBe(fingerprint(before + after))
      }),
    )
  })
})

test.each<[string, (index: number) => string]>([
  ['counted', (index) => `tool_${index}`],
  ['of two letters that differ in one bit', (index) => bits(index, 'P', 'p')],
  ['of two characters that differ in the highest bit', (index) => bits(index, '\u0000', '\u8000')],
  ['of one character, repeated', (index) => 'a'.repeat(index % 1000) + '\u0000'.repeat(Math.floor(index / 1000))],
])('100,000 different texts %s have 100,000 fingerprints', (_, textOf) => {
  const found = new Set(Array.from({ length: 100_000 }, (_item, index) => fingerprint(textOf(index))))
  expect(found.size).toBe(100_000)
})

function bits(index: number, zero: string, one: string): string {
  return index.toString(2).padStart(17, '0').replaceAll('0', zero).replaceAll('1', one)
}

describe('a tool', () => {
  test('keeps its fingerprint when only the order of keys differs', () => {
    const { name, inputSchema, ...rest } = search
    const { type, required, properties } = inputSchema
    expect(toolFingerprint({ ...rest, inputSchema: { required, properties, type }, name })).toBe(toolFingerprint(search))
  })

  test('keeps its fingerprint when only _meta differs', () => {
    expect(toolFingerprint({ ...search, _meta: { count: 7 } })).toBe(toolFingerprint(search))
  })

  test.each<[string, Partial<Tool>]>([
    ['name', { name: 'find' }],
    ['title', { title: 'Find' }],
    ['description', { description: 'Find issues.' }],
    ['inputSchema', { inputSchema: { ...search.inputSchema, required: ['query', 'limit'] } }],
    ['outputSchema', { outputSchema: { type: 'object', properties: {} } }],
    ['annotations', { annotations: { readOnlyHint: false } }],
    ['icons', { icons: [] }],
    ['execution', { execution: {} }],
    ['inputSchema, in a key called _meta', { inputSchema: { ...search.inputSchema, _meta: {} } }],
  ])('changes its fingerprint with its %s', (_, change) => {
    expect(toolFingerprint({ ...search, ...change })).not.toBe(toolFingerprint(search))
  })

  test('changes its fingerprint when a part of its definition is removed', () => {
    const { title: _title, ...untitled } = search
    expect(toolFingerprint(untitled)).not.toBe(toolFingerprint(search))
  })

  test('always has the same fingerprint', () => {
    expect(toolFingerprint(search)).toBe(toolFingerprint(search))
    expect(toolFingerprint(structuredClone(search))).toBe(toolFingerprint(search))
  })

  test('with invalid Unicode has a fingerprint too', () => {
    expect(toolFingerprint({ ...search, description: 'half a pair: \ud83d' })).toMatch(/^[0-9a-f]{32}$/)
  })
})
