import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { defaultBudget } from './budget.ts'
import { checkValue } from './check.ts'

/** A busy machine may take longer than the default for a simple pattern. */
const patient = { ...defaultBudget, patternMs: 60_000 }

const problems = (schema: unknown, value: unknown) =>
  checkValue(schema, value, patient).problems.map(({ path, message }) => `${path || 'it'} ${message}`)

// A literal `then` property would make the linter take the object for a promise.
const [, keyword] = ['if', 'then', 'else'] as const
const consequence = <T>(schema: T): Record<string, T> => ({ [keyword]: schema })

test('every problem is found, each with its path', () => {
  const schema = {
    type: 'object',
    properties: {
      user: {
        type: 'object',
        properties: { name: { type: 'string', minLength: 1 }, age: { type: 'integer', minimum: 0 } },
        required: ['name'],
      },
      tags: { type: 'array', items: { type: 'string' }, uniqueItems: true, maxItems: 2 },
      kind: { enum: ['open', 'closed'] },
    },
    required: ['user', 'kind'],
    additionalProperties: false,
  }
  expect(problems(schema, { user: { age: -1.5 }, tags: ['a', 'a', 3], knid: 1 })).toEqual([
    'user.age must be an integer, but is a number',
    'user.age must be at least 0',
    'user.name is required',
    'tags must have at most 2 items',
    'tags.1 duplicates item 0',
    'tags.2 must be a string, but is an integer',
    'kind is required; found "knid"',
    'knid is not a known property. Nearest: kind',
  ])
})

test('a value that is not allowed is reported with the nearest one', () => {
  expect(problems({ enum: ['open', 'closed'] }, 'opne')).toEqual(['it must be one of "open", "closed". Nearest: open'])
  expect(problems({ enum: [1, null, { a: [1] }] }, { a: [1] })).toEqual([])
  expect(problems({ const: { a: 1, b: 2 } }, { b: 2, a: 1 })).toEqual([])
  expect(problems({ const: 'x' }, 'y')).toEqual(['it must be "x"'])
})

test('of several alternatives, the problems of the closest are reported, or the requirements of all', () => {
  const schema = {
    anyOf: [
      { type: 'object', properties: { by: { const: 'id' }, id: { type: 'integer' } }, required: ['by', 'id'] },
      { type: 'object', properties: { by: { const: 'name' }, name: { type: 'string' } }, required: ['by', 'name'] },
    ],
  }
  expect(problems(schema, { by: 'name' })).toEqual(['name is required'])
  expect(problems({ anyOf: [{ type: 'string' }, { type: 'null' }] }, 7)).toEqual([
    'it must be a string or null, but is an integer',
  ])
  expect(problems({ oneOf: [{ type: 'number' }, { minimum: 2 }] }, 3)).toEqual([
    'it matches 2 of 2 alternatives, but must match exactly one',
  ])
  expect(problems({ type: ['string', 'integer'] }, null)).toEqual(['it must be a string or an integer, but is null'])
})

test('references within the document are followed, and nothing is fetched', () => {
  const tree = {
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, value: { type: 'integer' } } } },
    $ref: '#/$defs/node',
  }
  expect(problems(tree, { next: { next: { value: 'x' } } })).toEqual(['next.next.value must be an integer, but is a string'])
  expect(
    problems(
      { $id: 'https://example.com/a', properties: { b: { $ref: 'b' } }, $defs: { b: { $id: 'b', type: 'string' } } },
      { b: 1 },
    ),
  ).toEqual(['b must be a string, but is an integer'])
  expect(checkValue({ $ref: 'https://example.com/secret.json' }, 1)).toEqual({
    problems: [],
    unchecked: ['unresolved reference https://example.com/secret.json'],
  })
})

test.each([
  ['a reference to itself', { $ref: '#' }],
  ['references in a circle', { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }],
  ['alternatives that double with each level', bomb(25)],
  ['schemas nested deeper than the stack', nested(20_000)],
])('%s is left unchecked within the budget', (_, schema) => {
  const { problems: found, unchecked } = checkValue(schema, { a: 1 })
  expect(found).toEqual([])
  expect(unchecked).toHaveLength(1)
})

function bomb(levels: number): unknown {
  const defs: Record<string, unknown> = { d0: { type: 'object' } }
  for (let i = 1; i <= levels; i++) defs[`d${i}`] = { allOf: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }] }
  return { $defs: defs, $ref: `#/$defs/d${levels}` }
}

function nested(levels: number): unknown {
  let schema: unknown = { type: 'object' }
  for (let i = 0; i < levels; i++) schema = { allOf: [schema] }
  return schema
}

test('20,000 properties are checked within the budget', () => {
  const names = Array.from({ length: 20_000 }, (_, i) => `p${i}`)
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const schema = { type: 'object', properties, required: names, additionalProperties: false }
  expect(checkValue(schema, Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual({ problems: [], unchecked: [] })
  expect(checkValue(schema, { p1: 'x' }).problems).toHaveLength(defaultBudget.problems)
})

test('a catastrophic pattern times out, and so does everything that depends on it', () => {
  const evil = { type: 'string', pattern: '^(a+)+$' }
  const text = `${'a'.repeat(40)}b`
  expect(checkValue(evil, text)).toEqual({ problems: [], unchecked: ['pattern timed out'] })
  expect(checkValue({ not: evil }, text).problems).toEqual([])
  expect(checkValue({ oneOf: [evil, { type: 'string' }] }, text).problems).toEqual([])
  expect(checkValue({ if: evil, ...consequence(false), else: false }, text).problems).toEqual([])
  expect(
    checkValue({ patternProperties: { '^(a+)+$': { type: 'null' } }, additionalProperties: false }, { [text]: 1 }).problems,
  ).toEqual([])
})

test('patterns share one time budget', () => {
  const properties = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`p${i}`, { pattern: `^(a+)+${i}$` }]))
  const value = Object.fromEntries(Object.keys(properties).map((name) => [name, `${'a'.repeat(40)}b`]))
  expect(checkValue({ properties }, value, { ...defaultBudget, patternMs: 20 })).toMatchObject({ problems: [] })
})

test('a pattern is not run as code', () => {
  expect(problems({ pattern: '^\\p{Lu}' }, 'Ünder')).toEqual([])
  expect(problems({ pattern: '^[a-z]+$' }, 'A')).toEqual(['it must match the pattern ^[a-z]+$'])
  expect(problems({ pattern: '[\\w-.]' }, 'x')).toEqual([])
  expect(checkValue({ pattern: '(' }, 'x').unchecked).toEqual(['invalid regular expression'])
  expect(checkValue({ pattern: '"); process.exit(1); //' }, 'x').unchecked).toHaveLength(1)
})

test.each(['__proto__', 'constructor', 'toString', '', '--help', 'a.b', 'ünï'])('a property named %j is not special', (name) => {
  const schema = JSON.parse(
    `{"type":"object","properties":{${JSON.stringify(name)}:{"type":"string"}},"required":[${JSON.stringify(name)}],"additionalProperties":false}`,
  ) as unknown
  const value = (of: unknown): unknown => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(of)}}`)
  expect(problems(schema, value('x'))).toEqual([])
  expect(problems(schema, value(1))).toEqual([`${name || 'it'} must be a string, but is an integer`])
  expect(problems(schema, {})).toEqual([`${name || 'it'} is required`])
  expect(checkValue({ additionalProperties: false }, value(1)).problems).toHaveLength(1)
})

test('text of the server is escaped', () => {
  const [problem = ''] = problems({ required: ['\u001b[31mred'] }, {})
  expect(problem).toBe('\\u{1b}[31mred is required')
})

test('keywords of earlier drafts are supported', () => {
  const draft7 = 'http://json-schema.org/draft-07/schema#'
  expect(problems({ $schema: draft7, items: [{ type: 'string' }], additionalItems: false }, ['a', 1])).toEqual([
    '1 is not allowed',
  ])
  expect(problems({ dependencies: { a: ['b'] } }, { a: 1 })).toEqual(['b is required when "a" is present'])
  expect(problems({ minimum: 3, exclusiveMinimum: true }, 3)).toEqual(['it must be more than 3'])
  expect(problems({ $schema: draft7, $ref: '#/definitions/any', type: 'string', definitions: { any: true } }, 1)).toEqual([])
})

test('multipleOf tolerates binary rounding', () => {
  expect(problems({ multipleOf: 0.1 }, 0.3)).toEqual([])
  expect(problems({ multipleOf: 0.01 }, 4.02)).toEqual([])
  expect(problems({ multipleOf: 3 }, 7)).toEqual(['it must be a multiple of 3'])
})

test('an invalid schema accepts everything', () => {
  for (const schema of [undefined, null, 7, 'x', [], true, {}]) expect(problems(schema, { a: 1 })).toEqual([])
  expect(problems(false, 1)).toEqual(['it is not allowed'])
  expect(checkValue({ type: 'banana' }, 1)).toEqual({ problems: [], unchecked: ['unknown type'] })
})

test('unevaluatedProperties and unevaluatedItems respect every applicator', () => {
  const strict = (rest: object): object => ({ properties: { first: true }, ...rest, unevaluatedProperties: false })
  const value = { first: 1, b: 2 }
  const refused = ['b is not a known property']
  expect(problems(strict({}), value)).toEqual(refused)
  expect(problems(strict({ allOf: [{ properties: { b: true } }] }), value)).toEqual([])
  expect(problems(strict({ anyOf: [{ required: ['c'], properties: { b: true } }, {}] }), value)).toEqual(refused)
  expect(problems(strict({ if: { patternProperties: { '^b': true } } }), value)).toEqual([])
  expect(problems(strict({ not: { properties: { b: { type: 'string' } }, required: ['b'] } }), value)).toEqual(refused)
  expect(problems({ prefixItems: [true], contains: { const: 7 }, unevaluatedItems: false }, [1, 7, 8])).toEqual([
    '2 is not allowed',
  ])
  expect(problems({ prefixItems: [true], items: true, unevaluatedItems: false }, [1, 7, 8])).toEqual([])
})

const json: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false, 0, 1, 2.5, -3, '', 'a', 'ab', 'héé'),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
})).value

const number = fc.integer({ min: 0, max: 3 })

const schemas: fc.Arbitrary<unknown> = fc.letrec((tie) => {
  const schema = tie('schema')
  const keywords = {
    type: fc.oneof(
      fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object'),
      fc.constant(['string', 'null']),
    ),
    enum: fc.uniqueArray(json, { minLength: 1, maxLength: 3, comparator: (a, b) => JSON.stringify(a) === JSON.stringify(b) }),
    const: json,
    minimum: number,
    exclusiveMaximum: number,
    multipleOf: fc.constantFrom(1, 2),
    minLength: number,
    maxLength: number,
    pattern: fc.constantFrom('^a', 'b$', '^.$'),
    items: schema,
    prefixItems: fc.array(schema, { minLength: 1, maxLength: 2 }),
    contains: schema,
    minItems: number,
    maxItems: number,
    uniqueItems: fc.boolean(),
    properties: fc.dictionary(fc.constantFrom('a', 'b'), schema, { noNullPrototype: true }),
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'c'), schema, { noNullPrototype: true }),
    additionalProperties: schema,
    propertyNames: fc.constantFrom({ maxLength: 0 }, { pattern: '^[ab]' }),
    required: fc.subarray(['a', 'b', 'c']),
    minProperties: number,
    dependentRequired: fc.constant({ a: ['b'] }),
    dependentSchemas: fc.dictionary(fc.constantFrom('a', 'b'), schema, { noNullPrototype: true }),
    allOf: fc.array(schema, { minLength: 1, maxLength: 2 }),
    anyOf: fc.array(schema, { minLength: 1, maxLength: 2 }),
    oneOf: fc.array(schema, { minLength: 1, maxLength: 2 }),
    not: schema,
    if: schema,
    ...consequence(schema),
    else: schema,
    $ref: fc.constant('#/$defs/it'),
  }
  return {
    schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), fc.constant({}), fc.record(keywords, { requiredKeys: [] }).map(few)),
  }
}).schema

/** Keeps a few keywords: with all of them, no value would ever match. */
function few(schema: object): object {
  const entries = Object.entries(schema)
  const start = JSON.stringify(schema).length % Math.max(1, entries.length)
  return Object.fromEntries([...entries, ...entries].slice(start, start + 3))
}

test('agrees with Ajv on random schemas and values', () => {
  fc.assert(
    fc.property(schemas, schemas, json, (schema, it, value) => {
      const whole = { $defs: { it: withoutRefs(it) }, allOf: [schema] }
      const engine = new Ajv2020({ strict: false, validateSchema: false, allErrors: true })
      const { problems: found, unchecked } = checkValue(whole, value, patient)
      expect(unchecked).toEqual([])
      expect(found.length === 0).toBe(engine.compile(whole)(value))
    }),
    propertyRuns({ long: 200, sample: 50 }),
  )
})

/** Target of references, so it must not contain any. */
function withoutRefs(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => (key === '$ref' ? undefined : value)) as unknown
}
