import { describe, expect, test } from 'vitest'
import { correctArguments, exampleOf } from './example.ts'

describe('an example of a text', () => {
  test.each([
    [{ pattern: '^\\d{4}$' }, '1234'],
    [{ pattern: '^[a-z]{2,3}$', maxLength: 2 }, 'ab'],
    [{ maxLength: 2 }, 'te'],
    [{ minLength: 6 }, 'textxx'],
    [{ format: 'date' }, '2026-01-31'],
    [{ format: 'date-time' }, '2026-01-31T12:00:00Z'],
    [{ format: 'email' }, 'name@example.com'],
    [{ format: 'uri' }, 'https://example.com/'],
    [{ format: 'uuid' }, '123e4567-e89b-42d3-a456-426614174000'],
    [{ format: 'ipv4' }, '192.0.2.1'],
    [{ format: 'ipv6' }, '2001:db8::1'],
    [{ format: 'unknown' }, 'text'],
    // As zod writes an email address: the pattern has lookaheads, and is equivalent to the format.
    [{ format: 'email', pattern: '^(?!\\.)(?!.*\\.\\.)([a-z]+)@([a-z]+\\.)+[a-z]{2,}$' }, 'name@example.com'],
    // The pattern is more specific than the format.
    [{ format: 'email', pattern: '^[a-z]+@acme\\.example$' }, 'abc@acme.example'],
    [{ pattern: '^(?=.*\\d)[a-z\\d]{8,}$' }, '<matches ^(?=.*\\d)[a-z\\d]{8,}$>'],
  ])('%j: %s', (schema, example) => {
    expect(exampleOf({ type: 'string', ...schema })).toBe(example)
  })
})

test.each([
  [{ type: 'integer', multipleOf: 5 }, 5],
  [{ type: 'integer', minimum: 7, multipleOf: 5 }, 10],
  [{ type: 'number', exclusiveMinimum: 0 }, 1],
  [{ type: 'number', maximum: -2 }, -2],
])('an example of a number: %j is %d', (schema, example) => {
  expect(exampleOf(schema)).toBe(example)
})

test('arguments are corrected with examples that match the schema', () => {
  const schema = {
    type: 'object',
    properties: { zip: { type: 'string', pattern: '^\\d{4}$' }, on: { type: 'string', format: 'date' } },
    required: ['zip', 'on'],
  }
  expect(correctArguments(schema, { zip: 'abc', other: 1 }, new Set(['zip']))).toEqual({
    zip: '1234',
    other: 1,
    on: '2026-01-31',
  })
})
