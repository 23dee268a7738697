import { expect, test } from 'vitest'
import { referenceFindings } from './references.ts'

const found = (inputSchema: object): readonly string[] =>
  referenceFindings({ inputSchema }).map(({ path, description }) => `${path} ${description}`)

const remote = 'refers to a schema on another host, which a client may fetch'
const missing = 'refers to a schema that does not exist'

test.each([
  ['a property', { properties: { a: { $ref: 'https://x.example/a.json' } } }, `inputSchema.properties.a.$ref ${remote}`],
  ['an item of a list', { anyOf: [{}, { $ref: 'http://x.example/#/a' }] }, `inputSchema.anyOf[1].$ref ${remote}`],
  ['the root', { $dynamicRef: 'file:///etc/passwd' }, `inputSchema.$dynamicRef ${remote}`],
  ['a relative URI', { $id: 'https://x.example/b/', items: { $ref: 'c' } }, `inputSchema.items.$ref ${remote}`],
  ['a property named default', { properties: { default: { $ref: 'ftp://x' } } }, `inputSchema.properties.default.$ref ${remote}`],
  ['a missing definition', { $defs: { a: {} }, items: { $ref: '#/$defs/b' } }, `inputSchema.items.$ref ${missing}`],
  ['a missing anchor', { $defs: { a: { $anchor: 'a' } }, items: { $ref: '#b' } }, `inputSchema.items.$ref ${missing}`],
  ['a file without a base', { items: { $ref: 'common.json' } }, `inputSchema.items.$ref ${missing}`],
  ['an unknown URN', { items: { $ref: 'urn:x:y' } }, `inputSchema.items.$ref ${missing}`],
])('a reference that is remote or unresolvable is found: %s', (_what, schema, expected) => {
  expect(found(schema)).toEqual([expected])
})

test.each([
  { items: { $ref: '#' } },
  { $defs: { 'a/b~%': { type: 'string' } }, items: { $ref: '#/$defs/a~1b~0%25' } },
  { definitions: { a: { $anchor: 'x' } }, items: { $ref: '#x' } },
  { $defs: { a: { $id: 'https://x.example/a' } }, items: { $ref: 'https://x.example/a#/whatever' } },
  { $id: 'https://x.example/root', $defs: { a: { $id: 'a' } }, items: { $ref: 'a' } },
  { $defs: { a: { $id: 'https://x.example/a', $defs: { b: {} }, items: { $ref: '#/$defs/b' } } } },
  { items: { $ref: 'http://json-schema.org/draft-07/schema#' } },
  { items: { $ref: 'https://json-schema.org/draft/2020-12/schema' } },
  { properties: { $ref: { type: 'string' } } },
  { properties: { a: { const: { $ref: 'https://x.example' }, default: { $ref: 'https://x.example' } } } },
  { enum: [{ $ref: 'https://x.example' }] },
])('a reference within the schema, and data that looks like one, is not: %j', (schema) => {
  expect(found(schema)).toEqual([])
})

test('the number of findings per tool is limited', () => {
  const properties = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`p${at}`, { $ref: `https://x.example/${at}` }]))
  expect(referenceFindings({ inputSchema: { properties }, outputSchema: { properties } })).toHaveLength(10)
})
