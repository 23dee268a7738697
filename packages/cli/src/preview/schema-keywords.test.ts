import { expect, test } from 'vitest'
import { schemaKeywords } from './schema-keywords.ts'

test('keywords are found at any depth', () => {
  const schema = {
    type: 'object',
    properties: { when: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] } },
    patternProperties: { '^x-': { items: { minimum: 1 } } },
    $defs: { code: { pattern: '^a' } },
  }
  expect([...schemaKeywords(schema)].toSorted()).toEqual(
    ['$defs', 'anyOf', 'format', 'items', 'minimum', 'pattern', 'patternProperties', 'properties', 'type'].toSorted(),
  )
})

test('properties, defaults and examples named like keywords do not count', () => {
  const schema = {
    properties: { format: { type: 'string' }, title: { type: 'string' } },
    default: { minimum: 1 },
    examples: [{ pattern: 'x' }],
  }
  expect([...schemaKeywords(schema)].toSorted()).toEqual(['default', 'examples', 'properties', 'type'])
})

test('values other than schemas have no keywords', () => {
  for (const schema of [undefined, null, true, 'text', []]) expect(schemaKeywords(schema).size).toBe(0)
})
