import { expect, test } from 'vitest'
import { commentText, typeText } from './types.ts'

test('plain schemas become plain types', () => {
  expect(typeText({ type: 'integer' })).toBe('number')
  expect(typeText({ enum: ['a', 1, null] })).toBe('"a" | 1 | null')
  expect(typeText({ type: ['string', 'null'] })).toBe('string | null')
  expect(typeText({ type: 'array', items: { type: 'string' } })).toBe('readonly (string)[]')
  expect(typeText({ type: 'object', properties: { a: { type: 'string' }, 'b-c': {} }, required: ['a'] })).toBe(
    '{\n  readonly a: string\n  readonly "b-c"?: unknown\n}',
  )
  expect(typeText({ anyOf: [{ type: 'string' }, { type: 'number' }] })).toBe('string | number')
})

test('a reference is followed until it recurs', () => {
  const schema = { $ref: '#/$defs/node', $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } } }
  expect(typeText(schema)).toBe('{\n  readonly next?: unknown\n}')
  expect(typeText({ $ref: '#' })).toBe('unknown')
  expect(typeText({ $ref: 'https://elsewhere.example/schema' })).toBe('unknown')
})

test('names with a meaning in JavaScript are safe', () => {
  const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"":{},"a\\u2028b":{}}}')
  expect(typeText(schema)).toBe(
    '{\n  readonly "__proto__"?: string\n  readonly ""?: unknown\n  readonly "a\\u2028b"?: unknown\n}',
  )
})

test('comments cannot be terminated early', () => {
  expect(commentText('before */ after\n// more', '')).toBe('/** before * / after // more */\n')
  expect(commentText('  ', '')).toBe('')
})

test('an endless schema has a finite type', () => {
  const deep = { type: 'object', properties: {} as Record<string, unknown> }
  let at = deep
  for (let level = 0; level < 10_000; level++) {
    const inner = { type: 'object', properties: {} }
    at.properties = { a: inner, b: inner }
    at = inner
  }
  expect(typeText(deep).length).toBeLessThan(1_000_000)
})
