import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { firstSentence, signature, typeText } from './signature.ts'
import type { JsonSchema, Tool } from './tool.ts'

const tool = (schema: JsonSchema, rest: Partial<Tool> = {}): Tool => ({
  name: 'act',
  ...rest,
  inputSchema: { ...schema, type: 'object' },
})

/** A schema nested in this wrapper `levels` times. */
function nested(levels: number, around: (inner: JsonSchema) => JsonSchema): JsonSchema {
  let schema: JsonSchema = { type: 'string' }
  for (let level = 0; level < levels; level++) schema = around(schema)
  return schema
}

describe('the signature of a tool', () => {
  test('lists required parameters, then optional ones, then the description', () => {
    const create: Tool = {
      name: 'create_issue',
      description: 'Open an issue. The title should be short.',
      inputSchema: {
        type: 'object',
        properties: { body: { type: 'string' }, repo: { type: 'string' }, title: { type: 'string' } },
        required: ['title', 'repo'],
      },
    }
    expect(signature(create)).toBe('create_issue(repo: string, title: string, body?: string) — Open an issue')
  })

  test('of a tool without parameters and description is a bare call', () => {
    expect(signature(tool({}))).toBe('act()')
  })

  test('falls back to the title', () => {
    expect(signature(tool({}, { title: 'Act now' }))).toBe('act() — Act now')
  })

  test('is truncated at 240 characters, or at the requested length', () => {
    const long = tool({}, { description: 'x'.repeat(500) })
    expect(signature(long)).toHaveLength(240)
    expect(signature(long).endsWith('x…')).toBe(true)
    expect(signature(long, 20)).toBe('act() — xxxxxxxxxxx…')
  })

  test('is never truncated within a surrogate pair', () => {
    expect(signature(tool({}, { description: '\u{1f600}\u{1f600}' }), 10)).toBe('act() — …')
  })

  test('stays on one line, for any parameter names', () => {
    expect(signature(tool({ properties: { 'a\nb': { type: 'x\r\ny' } } }))).toBe('act(a b?: x y)')
  })

  test.each<[string, JsonSchema]>([
    ['properties that are null', { properties: null }],
    ['properties that are a list', { properties: [{ type: 'string' }] }],
    ['properties that are a text', { properties: 'a' }],
    ['properties that are absent though some are required', { required: ['a'] }],
  ])('shows no parameters for %s', (_, schema) => {
    expect(signature(tool(schema))).toBe('act()')
  })

  test.each([null, 'a', { a: true }, [null, 1, {}]])('takes no parameter for required when `required` is %j', (required) => {
    expect(signature(tool({ properties: { a: { type: 'string' } }, required }))).toBe('act(a?: string)')
  })

  test('shows a parameter named __proto__ like any other', () => {
    expect(signature(tool(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as JsonSchema))).toBe(
      'act(__proto__?: string)',
    )
  })

  test('is one line within the limit for any schema', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (properties, required) => {
        const line = signature(tool({ properties, required }))
        expect(line.length).toBeLessThanOrEqual(240)
        expect(line).not.toMatch(/[\n\r\u2028\u2029]/)
      }),
    )
  })
})

describe('the type of a schema', () => {
  test.each<[string, unknown, string]>([
    ['a simple type', { type: 'integer' }, 'integer'],
    ['a constant', { const: 'open' }, '"open"'],
    ['a constant null', { const: null }, 'null'],
    ['a constant object', { const: { a: 1 } }, 'object'],
    ['an enumeration', { type: 'string', enum: ['open', 'closed', 3, null] }, '"open" | "closed" | 3 | null'],
    ['an enumeration of structures', { enum: [{ a: 1 }, [1]] }, 'object | array'],
    ['a long enumeration', { enum: [1, 2, 3, 4, 5, 6, 7, 8] }, '1 | 2 | 3 | 4 | 5 | 6 | … 2 more'],
    ['several types', { type: ['string', 'null'] }, 'string | null'],
    ['alternatives', { anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string | number'],
    ['exclusive alternatives', { oneOf: [{ const: 1 }, { const: 2 }] }, '1 | 2'],
    ['alternatives that look the same', { anyOf: [{ type: 'string', minLength: 1 }, { type: 'string' }] }, 'string'],
    ['many alternatives', { anyOf: [1, 2, 3, 4, 5].map((value) => ({ const: value })) }, '1 | 2 | 3 | 4 | …'],
    ['an array', { type: 'array', items: { type: 'string' } }, 'string[]'],
    ['an array of arrays', { type: 'array', items: { type: 'array', items: { type: 'number' } } }, 'number[][]'],
    ['an array of alternatives', { type: 'array', items: { type: ['string', 'null'] } }, '(string | null)[]'],
    ['an array of anything', { type: 'array' }, 'any[]'],
    ['a tuple', { type: 'array', items: [{ type: 'string' }] }, 'any[]'],
    ['an object without properties', { type: 'object' }, 'object'],
    [
      'an object',
      { type: 'object', properties: { a: { type: 'string' }, b: { enum: [1, 2] } }, required: ['b'] },
      '{ b: 1 | 2, a?: string }',
    ],
    ['an object in an array', { type: 'array', items: { type: 'object', properties: { a: {} } } }, 'object[]'],
    [
      'an object in an object',
      { type: 'object', properties: { a: { type: 'object', properties: { b: { type: 'string' } } } } },
      '{ a?: object }',
    ],
    ['an empty schema', {}, 'any'],
    ['true', true, 'any'],
    ['nothing', undefined, 'any'],
    ['a reference', { $ref: '#/$defs/a' }, 'any'],
  ])('of %s', (_, schema, text) => {
    expect(typeText(schema)).toBe(text)
  })

  test.each<[string, unknown, string]>([
    ['an enum that is a text', { type: 'string', enum: 'x' }, 'string'],
    ['an enum without values', { type: 'string', enum: [] }, 'string'],
    ['an anyOf that is null', { anyOf: null, oneOf: [{ type: 'string' }] }, 'string'],
    ['an anyOf that is a text', { anyOf: 'x', type: 'string' }, 'string'],
    ['an anyOf without branches', { anyOf: [] }, 'any'],
    ['an anyOf of rubbish', { anyOf: [null, 1, 'x', []] }, 'any'],
    ['a type without names', { type: [] }, 'any'],
    ['a type that is a number', { type: 1 }, 'any'],
    ['a type that cannot be made a text', { type: ['string', { toString: 1, valueOf: 1 }] }, 'string'],
    ['properties that are null', { type: 'object', properties: null }, 'object'],
    ['items that are null', { type: 'array', items: null }, 'any[]'],
    ['a schema that is a list', [], 'any'],
  ])('of %s is read as far as possible', (_, schema, text) => {
    expect(typeText(schema)).toBe(text)
  })

  test('truncates a long constant', () => {
    expect(typeText({ const: 'x'.repeat(1000) })).toBe(`"${'x'.repeat(58)}…`)
  })

  test.each<[string, unknown]>([
    ['objects', nested(10_000, (inner) => ({ type: 'object', properties: { inner } }))],
    ['arrays', nested(10_000, (inner) => ({ type: 'array', items: inner }))],
    ['alternatives', nested(10_000, (inner) => ({ anyOf: [inner, { type: 'null' }] }))],
    ['arrays of alternatives', nested(10_000, (inner) => ({ type: 'array', items: { oneOf: [inner] } }))],
    ['constants', { const: nested(10_000, (inner) => ({ inner })) }],
    ['enumerations', { enum: [nested(10_000, (inner) => ({ inner }))] }],
    ['types', { type: [nested(10_000, (inner) => ({ inner }))] }],
  ])('of 10,000 levels of %s stays short', (_, schema) => {
    expect(typeText(schema).length).toBeLessThan(100)
  })

  test('of alternatives that share their branches is found quickly', () => {
    const shared = nested(60, (inner) => ({ anyOf: [inner, inner] }))
    expect(typeText(shared)).toBe('any')
  })
})

describe('the first sentence', () => {
  test.each([
    ['ends at a full stop', 'Read a file. Then close it.', 'Read a file'],
    ['ends at a line break', 'Read a file\nThen close it', 'Read a file'],
    ['ends at the end', 'Read a file', 'Read a file'],
    ['loses its own full stop', 'Read a file.', 'Read a file'],
    ['does not end within a number or a name', 'Use v1.2 of index.ts to read', 'Use v1.2 of index.ts to read'],
    ['has single spaces', '  Read \t a   file ', 'Read a file'],
    ['of nothing is nothing', ' \n ', ''],
    ['ends at a question mark', 'Is it open? Says so', 'Is it open'],
  ])('%s', (_, text, sentence) => {
    expect(firstSentence(text)).toBe(sentence)
  })
})
