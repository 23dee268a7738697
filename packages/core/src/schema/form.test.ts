import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonSchema } from '../tool/tool.ts'
import { type Field, type FieldKind, fieldsIn, formOf } from './form.ts'

const object = (properties: { readonly [name: string]: unknown }, rest: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...rest,
})

const fieldOf = (schema: unknown, rest: JsonSchema = {}, name = 'x'): Field => {
  const [field] = formOf(object({ [name]: schema }, rest)).fields
  if (field === undefined) throw new Error('the form has no field')
  return field
}

const parsed = (json: string): JsonSchema => JSON.parse(json) as JsonSchema

const namesOf = (fields: readonly Field[]): readonly string[] => fields.map(({ name }) => name)

const labelsOf = (field: Field): readonly string[] => {
  if (field.kind === 'union') return field.branches.map(({ label }) => label)
  return field.kind === 'choice' || field.kind === 'multichoice' ? field.choices.map(({ label }) => label) : []
}

const valuesOf = (field: Field): readonly unknown[] =>
  field.kind === 'choice' || field.kind === 'multichoice' ? field.choices.map(({ value }) => value) : []

/** Every field, at any depth. */
function* all(field: Field): Generator<Field> {
  yield field
  if (field.kind === 'list') yield* all(field.item)
  if (field.kind === 'object' && field.extra !== undefined) yield* all(field.extra)
  if (field.kind === 'object') for (const inner of field.fields) yield* all(inner)
  if (field.kind === 'union') for (const { field: inner } of field.branches) yield* all(inner)
}

describe('the kind of a field', () => {
  test.each<[string, unknown, FieldKind]>([
    ['a string', { type: 'string' }, 'text'],
    ['a string with lines', { type: 'string', contentMediaType: 'text/markdown' }, 'multiline'],
    ['a string of a format with lines', { type: 'string', format: 'textarea' }, 'multiline'],
    ['a very long string', { type: 'string', maxLength: 5_000 }, 'multiline'],
    ['a short string', { type: 'string', maxLength: 50 }, 'text'],
    ['bytes as text', { type: 'string', contentEncoding: 'base64' }, 'file'],
    ['bytes by format', { type: 'string', format: 'binary' }, 'file'],
    ['a number', { type: 'number' }, 'number'],
    ['an integer', { type: 'integer' }, 'integer'],
    ['a boolean', { type: 'boolean' }, 'boolean'],
    ['an enumeration', { enum: ['a', 'b'] }, 'choice'],
    ['a constant', { const: 1 }, 'choice'],
    ['an empty enumeration', { type: 'string', enum: [] }, 'text'],
    ['a list of strings', { type: 'array', items: { type: 'string' } }, 'list'],
    ['a list without items', { type: 'array' }, 'list'],
    ['a list without a type', { items: { type: 'string' } }, 'list'],
    ['a list of choices', { type: 'array', items: { enum: ['a', 'b'] } }, 'multichoice'],
    ['a list of nothing', { type: 'array', items: false }, 'json'],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }] }, 'json'],
    ['an older tuple', { items: [{ type: 'string' }] }, 'json'],
    ['an object', { type: 'object', properties: { a: {} } }, 'object'],
    ['properties without a type', { properties: { a: {} } }, 'object'],
    ['a record without a type', { additionalProperties: { type: 'string' } }, 'object'],
    ['several types', { type: ['string', 'number'] }, 'union'],
    ['several shapes', { anyOf: [{ type: 'string' }, { type: 'object' }] }, 'union'],
    ['anything', {}, 'json'],
    ['true', true, 'json'],
    ['null alone', { type: 'null' }, 'json'],
    ['null in a union alone', { anyOf: [{ type: 'null' }] }, 'json'],
    ['an unknown type', { type: 'date' }, 'json'],
    ['a type that is not a string', { type: 7 }, 'json'],
  ])('for %s', (_, schema, kind) => {
    expect(fieldOf(schema).kind).toBe(kind)
  })

  test.each(['body', 'description', 'Message'])('is multi-line text for a string named %s', (name) => {
    expect(fieldOf({ type: 'string' }, {}, name).kind).toBe('multiline')
  })

  test.each([
    ['a format', { format: 'email' }],
    ['choices', { enum: ['short', 'long'] }],
  ])('is not multi-line text if the schema is more specific: %s', (_, rest) => {
    expect(fieldOf({ type: 'string', ...rest }, {}, 'body').kind).not.toBe('multiline')
  })

  test('is json with the allowed types if a form cannot show the parts', () => {
    expect(fieldOf({ type: 'array', items: [] })).toMatchObject({ kind: 'json', types: ['array'] })
    expect(fieldOf({})).not.toHaveProperty('types')
  })

  test('a property that allows no value has no field', () => {
    expect(formOf(object({ a: false, b: null, c: 'text', d: {} })).fields.map(({ name }) => name)).toEqual(['d'])
  })
})

describe('a field', () => {
  test('has the annotations of the schema', () => {
    const schema = { type: 'string', title: 'Your name', description: 'As on the door', default: 'Ada' }
    expect(fieldOf(schema, { required: ['x'] })).toMatchObject({
      name: 'x',
      path: ['x'],
      label: 'Your name',
      description: 'As on the door',
      default: 'Ada',
      required: true,
      nullable: false,
      secret: false,
    })
  })

  test('is labelled with its name if there is no title', () => {
    expect(fieldOf({ title: 7, description: 8 })).toMatchObject({ label: 'x' })
    expect(fieldOf({})).not.toHaveProperty('description')
  })

  test('has a default, which can be null, only if the schema has one', () => {
    expect(fieldOf({ default: null })).toHaveProperty('default', null)
    expect(fieldOf({})).not.toHaveProperty('default')
  })

  test('truncates long labels and descriptions', () => {
    const { label, description } = fieldOf({ title: '\u{1f600}'.repeat(1_000), description: 'x'.repeat(1_000_000) })
    expect(label).toBe(`${'\u{1f600}'.repeat(99)}…`)
    expect(description).toHaveLength(4_000)
  })

  test('has its limits', () => {
    const schema = {
      type: 'string',
      minLength: 1,
      maxLength: 9,
      pattern: '^(a+)+$',
      format: 'uri',
      uniqueItems: true,
      maximum: 'x',
    }
    expect(fieldOf(schema).constraints).toEqual({
      minLength: 1,
      maxLength: 9,
      pattern: '^(a+)+$',
      format: 'uri',
      uniqueItems: true,
    })
    expect(fieldOf({ type: 'number', minimum: 1, maximum: 5, multipleOf: 0.5 }).constraints).toEqual({
      minimum: 1,
      maximum: 5,
      multipleOf: 0.5,
    })
  })

  test('supports the limits of older schemas', () => {
    const schema = { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: true }
    expect(fieldOf(schema).constraints).toEqual({ exclusiveMinimum: 0, exclusiveMaximum: 9 })
  })

  test.each([
    ['a union with null', { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] }],
    ['a union with a reference to null', { anyOf: [{ type: 'string', maxLength: 3 }, { $ref: '#/$defs/none' }] }],
    ['two types', { type: ['null', 'string'], maxLength: 3 }],
    ['the older keyword', { type: 'string', nullable: true, maxLength: 3 }],
  ])('that can be null keeps its kind and limits: %s', (_, schema) => {
    const field = fieldOf(schema, { $defs: { none: { const: null } } })
    expect(field).toMatchObject({ kind: 'text', nullable: true, constraints: { maxLength: 3 } })
  })

  test('around a single branch keeps its own annotations and inherits missing ones', () => {
    const inner = { type: 'string', title: 'Inner', description: 'inner text', format: 'password' }
    expect(fieldOf({ anyOf: [inner, { type: 'null' }] })).toMatchObject({
      label: 'Inner',
      description: 'inner text',
      secret: true,
    })
    expect(fieldOf({ title: 'Outer', description: 'outer text', oneOf: [inner] })).toMatchObject({
      label: 'Outer',
      description: 'outer text',
      nullable: false,
    })
  })

  test.each(['password', 'userPassword', 'api_key', 'apiKey', 'API-KEY', 'github_token', 'client.secret', 'credentials'])(
    'named %s is secret',
    (name) => {
      expect(fieldOf({ type: 'string' }, {}, name).secret).toBe(true)
    },
  )

  test.each(['max_tokens', 'page_token', 'nextToken', 'tokenizer', 'key', 'secretary', 'passwordless_mode'])(
    'named %s is not secret',
    (name) => {
      expect(fieldOf({ type: 'string' }, {}, name).secret).toBe(false)
    },
  )

  test('is secret by format or writeOnly, and only if it is text', () => {
    expect(fieldOf({ type: 'string', format: 'password' }).secret).toBe(true)
    expect(fieldOf({ type: ['string', 'null'], writeOnly: true }).secret).toBe(true)
    expect(fieldOf({ type: 'integer' }, {}, 'token').secret).toBe(false)
  })
})

describe('choices', () => {
  test('are labelled by their values or by enumNames', () => {
    expect(labelsOf(fieldOf({ enum: ['a', 1, null, { b: 2 }] }))).toEqual(['a', '1', 'null', '{"b":2}'])
    expect(labelsOf(fieldOf({ enum: ['a', 'b'], enumNames: ['First'] }))).toEqual(['First', 'b'])
    expect(labelsOf(fieldOf({ enum: ['a'], 'x-enumNames': [7] }))).toEqual(['a'])
  })

  test('can be constants with titles', () => {
    const field = fieldOf({ oneOf: [{ const: 'a', title: 'First', description: 'The first' }, { const: 'b' }] })
    expect(field).toMatchObject({
      kind: 'choice',
      choices: [
        { value: 'a', label: 'First', description: 'The first' },
        { value: 'b', label: 'b' },
      ],
    })
  })

  test('can be multiple, as a list of constants with titles', () => {
    const field = fieldOf({
      type: 'array',
      items: {
        anyOf: [
          { const: 'r', title: 'Red' },
          { const: 'g', title: 'Green' },
        ],
      },
    })
    expect(field.kind).toBe('multichoice')
    expect(labelsOf(field)).toEqual(['Red', 'Green'])
  })

  test('that include null make the field nullable', () => {
    expect(fieldOf({ enum: ['a', null] }).nullable).toBe(true)
    expect(fieldOf({ anyOf: [{ enum: ['a', 'b'] }, { enum: [null] }] })).toMatchObject({ kind: 'choice', nullable: true })
  })

  test('are unique', () => {
    expect(valuesOf(fieldOf({ anyOf: [{ enum: ['a', 'b'] }, { enum: ['b', 'c'] }] }))).toEqual(['a', 'b', 'c'])
  })
})

describe('a union', () => {
  const file = { type: 'object', properties: { kind: { const: 'file' }, path: { type: 'string' } }, required: ['kind', 'path'] }
  const url = { type: 'object', properties: { kind: { const: 'url' }, url: { type: 'string' } }, required: ['kind', 'url'] }

  test('names its branches by title, by their constant, or by kind', () => {
    const branches = [{ ...file, title: 'A file' }, url, { type: 'array', items: { type: 'integer' } }, { type: 'string' }]
    expect(labelsOf(fieldOf({ oneOf: branches }))).toEqual(['A file', 'url', 'list of integer', 'text'])
  })

  test('of several types has a branch for each, without the title of the union', () => {
    expect(labelsOf(fieldOf({ title: 'Id', type: ['string', 'integer', 'null'] }))).toEqual(['text', 'integer'])
  })

  test('of objects has the fields of all branches, and requires only what every branch requires', () => {
    const fields = fieldsIn(fieldOf({ oneOf: [file, url] }))
    expect(fields.map(({ name, required }) => [name, required])).toEqual([
      ['kind', true],
      ['path', false],
      ['url', false],
    ])
    expect(fields[0]).toMatchObject({ kind: 'choice', choices: [{ value: 'file' }, { value: 'url' }], order: 0 })
  })

  test('of objects merges fields of the same name from all branches', () => {
    const branch = (value: unknown): JsonSchema => ({ type: 'object', properties: { value } })
    const both = (a: unknown, b: unknown): Field | undefined => fieldsIn(fieldOf({ anyOf: [branch(a), branch(b)] }))[0]
    expect(both({ type: 'string', maxLength: 1 }, { type: 'string' })).toMatchObject({ kind: 'text', constraints: {} })
    expect(both({ type: 'string' }, { type: ['integer', 'boolean'] })).toMatchObject({
      kind: 'union',
      branches: [{ label: 'text' }, { label: 'integer' }, { label: 'boolean' }],
    })
    expect(fieldsIn(both(file, url) as Field)).toHaveLength(3)
  })

  test('that only restricts combinations keeps the fields of the outer schema', () => {
    const together = { type: 'object', properties: { a: {}, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] }
    expect(fieldOf(together)).toMatchObject({ kind: 'object', fields: [{ name: 'a' }, { name: 'b' }] })
    expect(namesOf(formOf(together).fields)).toEqual(['a', 'b'])
  })

  test('inside an object with fields adds those fields to each branch', () => {
    const schema = {
      ...object({ id: { type: 'string' } }, { required: ['id'] }),
      oneOf: [file, { $ref: '#/$defs/url' }],
      $defs: { url },
    }
    const form = formOf(schema)
    expect(form.fields.map(({ name, required }) => [name, required])).toEqual([
      ['kind', true],
      ['path', false],
      ['id', true],
      ['url', false],
    ])
  })

  test('of plain values has no fields', () => {
    expect(fieldsIn(fieldOf({ type: ['string', 'number'] }))).toEqual([])
    expect(fieldsIn(fieldOf({ type: 'string' }))).toEqual([])
  })
})

describe('references', () => {
  const $defs = { user: { type: 'object', title: 'User', properties: { name: { type: 'string' } }, required: ['name'] } }

  test('within the schema are resolved, and sibling keywords take precedence', () => {
    const field = fieldOf({ $ref: '#/$defs/user', title: 'Owner' }, { $defs })
    expect(field).toMatchObject({ kind: 'object', label: 'Owner', fields: [{ path: ['x', 'name'], required: true }] })
  })

  test('can be escaped, or refer to another reference', () => {
    const defs = { 'a/b~c d': { $ref: '#/$defs/user' }, ...$defs }
    expect(fieldOf({ $ref: '#/$defs/a~1b~0c%20d' }, { $defs: defs }).kind).toBe('object')
  })

  test('to the same target next to each other are all followed', () => {
    const form = formOf(object({ a: { $ref: '#/$defs/user' }, b: { $ref: '#/$defs/user' } }, { $defs }))
    expect(form.fields.map(({ kind }) => kind)).toEqual(['object', 'object'])
    expect(form.isCut).toBe(false)
  })

  test('in a cycle are cut where they recur, with their type kept', () => {
    const node = { type: 'object', properties: { value: { type: 'string' }, next: { $ref: '#/$defs/node' } } }
    const form = formOf(object({ head: { $ref: '#/$defs/node' } }, { $defs: { node } }))
    expect(form).toMatchObject({
      isCut: true,
      fields: [{ kind: 'object', fields: [{ name: 'value' }, { name: 'next', kind: 'json', types: ['object'] }] }],
    })
  })

  test.each<[string, JsonSchema]>([
    ['itself', object({ x: { $ref: '#' } })],
    ['a pair', object({ x: { $ref: '#/$defs/a' } }, { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } })],
    ['an allOf', object({ x: { $ref: '#/$defs/a' } }, { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } } })],
    ['the whole by allOf', { type: 'object', allOf: [{ $ref: '#' }], properties: { x: {} } }],
  ])('in a cycle end: %s', (_, schema) => {
    const form = formOf(schema)
    expect(form.isCut).toBe(true)
    expect(form.fields).toMatchObject([{ name: 'x', kind: 'json' }])
  })

  test.each([
    ['elsewhere', 'https://example.com/schema.json'],
    ['a name', '#user'],
    ['nothing', '#/$defs/missing'],
    ['something that is not a schema', '#/$defs/user/title'],
    ['what every object inherits', '#/constructor'],
    ['a broken escape', '#/%E0%A4%A'],
  ])('to %s become a field of any value', (_, $ref) => {
    const form = formOf(object({ x: { $ref, description: 'kept' } }, { $defs }))
    expect(form.isCut).toBe(true)
    expect(form.fields).toMatchObject([{ kind: 'json', description: 'kept' }])
  })
})

describe('allOf', () => {
  test('is one schema with all requirements', () => {
    const field = fieldOf({
      title: 'First title',
      allOf: [
        { type: ['number', 'string'], minimum: 1, maximum: 9, title: 'Second title' },
        { type: 'integer', minimum: 3, maximum: 20, multipleOf: 2 },
        true,
        false,
      ],
    })
    expect(field).toMatchObject({ kind: 'integer', label: 'First title', constraints: { minimum: 3, maximum: 9, multipleOf: 2 } })
  })

  test('merges properties, required and shared properties', () => {
    const form = formOf({
      type: 'object',
      properties: { a: { type: 'string', maxLength: 9 } },
      required: ['a'],
      allOf: [
        { properties: { a: { maxLength: 5 }, b: { type: 'integer' } }, required: ['b'] },
        { properties: { c: {} }, additionalProperties: false },
        { allOf: [{ properties: { d: {} } }] },
      ],
    })
    expect(form.fields).toMatchObject([
      { name: 'a', kind: 'text', required: true, constraints: { maxLength: 5 } },
      { name: 'b', required: true },
      { name: 'c', required: false },
      { name: 'd' },
    ])
  })

  test('keeps the values that all branches allow', () => {
    expect(valuesOf(fieldOf({ enum: ['a', 'b', 'c'], allOf: [{ enum: ['b', 'c', 'd'] }] }))).toEqual(['b', 'c'])
    expect(fieldOf({ type: 'integer', allOf: [{ type: 'number' }] }).kind).toBe('integer')
  })

  test('with an unreadable branch still shows the others', () => {
    const form = formOf(object({ a: {} }, { allOf: [{ $ref: 'https://example.com/' }] }))
    expect(namesOf(form.fields)).toEqual(['a'])
    expect(form.isCut).toBe(true)
  })
})

describe('the order of fields', () => {
  test('is that of the schema', () => {
    expect(namesOf(formOf(object({ b: {}, a: {}, c: {} })).fields)).toEqual(['b', 'a', 'c'])
  })

  test('follows x-order, as numbers or as a list; others come after', () => {
    const numbered = { c: {}, b: { 'x-order': 2 }, a: { 'x-order': 1 }, d: { 'x-order': 'soon' } }
    expect(formOf(object(numbered)).fields.map(({ name, order }) => [name, order])).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 2],
      ['d', 3],
    ])
    expect(namesOf(formOf(object({ a: {}, b: {}, c: {} }, { 'x-order': ['c', 'a', 7] })).fields)).toEqual(['c', 'a', 'b'])
  })
})

describe('additional properties', () => {
  test('are a separate field if the schema defines them', () => {
    expect(fieldOf({ type: 'object', additionalProperties: { type: 'integer' } })).toMatchObject({ extra: { kind: 'integer' } })
    expect(fieldOf({ type: 'object', properties: { a: {} }, additionalProperties: true })).toMatchObject({
      extra: { kind: 'json' },
    })
    expect(fieldOf({ type: 'object', patternProperties: { '^x-': {} }, additionalProperties: false })).toMatchObject({
      extra: { kind: 'json' },
    })
    expect(fieldOf({ type: 'object' })).toMatchObject({ extra: { kind: 'json' } })
  })

  test('are absent if forbidden, or not mentioned next to others', () => {
    expect(fieldOf({ type: 'object', additionalProperties: false })).not.toHaveProperty('extra')
    expect(fieldOf({ type: 'object', properties: { a: {} } })).not.toHaveProperty('extra')
  })
})

describe('names of Object.prototype properties', () => {
  test('are ordinary names', () => {
    const form = formOf(
      parsed(
        '{"type":"object","properties":{"__proto__":{"type":"string"},"":{},"--help":{},"constructor":{}},"required":["__proto__"]}',
      ),
    )
    expect(namesOf(form.fields)).toEqual(['__proto__', '', '--help', 'constructor'])
    expect(form.fields[0]).toMatchObject({ kind: 'text', required: true, path: ['__proto__'] })
    expect(form.fields[3]).toMatchObject({ required: false })
    expect(Object.prototype).not.toHaveProperty('kind')
  })

  test('survive merging by allOf and by a union', () => {
    const schema = parsed(
      '{"allOf":[{"properties":{"__proto__":{"type":"string"}}},{"properties":{"__proto__":{"maxLength":3},"toString":{}}}],"type":"object"}',
    )
    expect(formOf(schema).fields).toMatchObject([
      { name: '__proto__', kind: 'text', constraints: { maxLength: 3 } },
      { name: 'toString' },
    ])
    expect(namesOf(formOf({ oneOf: [schema, schema] }).fields)).toEqual(['__proto__', 'toString'])
  })
})

describe('the budget', () => {
  const wide = (count: number): JsonSchema =>
    object(Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { type: 'string' }])))

  test('is enough for 20,000 properties, and the rest is omitted', () => {
    expect(formOf(wide(20_000))).toMatchObject({ isCut: false, fields: { length: 20_000 } })
    expect(formOf(wide(30_000))).toMatchObject({ isCut: true, fields: { length: 20_000 } })
    expect(formOf(wide(9), { fields: 3 })).toMatchObject({ isCut: true, fields: { length: 3 } })
  })

  test('limits a schema of any depth', () => {
    let schema: JsonSchema = { type: 'string' }
    for (let level = 0; level < 5_000; level++) schema = object({ a: schema })
    const form = formOf(schema)
    expect(form.isCut).toBe(true)
    expect([...all(form.root)].map(({ kind }) => kind).slice(-2)).toEqual(['object', 'json'])
    expect([...all(formOf(schema, { depth: 2 }).root)]).toHaveLength(4)
  })

  test.each<[string, (inner: JsonSchema) => JsonSchema]>([
    ['lists', (items) => ({ type: 'array', items })],
    ['unions', (inner) => ({ anyOf: [inner, { type: 'string' }] })],
    ['allOf', (inner) => ({ allOf: [inner] })],
    ['records', (additionalProperties) => ({ type: 'object', additionalProperties })],
  ])('limits %s of any depth', (_, around) => {
    let schema: JsonSchema = { type: 'string' }
    for (let level = 0; level < 5_000; level++) schema = around(schema)
    expect([...all(formOf(object({ x: schema })).root)].length).toBeLessThan(50)
  })

  /** Definitions that each refer to the next one twice: following them all would take 2^40 steps. */
  const doubling = (mention: (next: JsonSchema) => JsonSchema): JsonSchema => ({
    ...object({ x: { $ref: '#/$defs/d0' } }),
    $defs: Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [`d${level}`, mention({ $ref: `#/$defs/d${level + 1}` })]),
    ),
  })

  test.each<[string, (next: JsonSchema) => JsonSchema]>([
    ['properties', (next) => object({ a: next, b: next })],
    ['unions', (next) => ({ anyOf: [next, next] })],
    ['allOf', (next) => ({ allOf: [next, next] })],
  ])('limits definitions that double at every step: %s', (_, mention) => {
    const form = formOf(doubling(mention))
    expect(form.isCut).toBe(true)
    expect([...all(form.root)].length).toBeLessThanOrEqual(20_001)
  })

  test('limits many references to a large definition', () => {
    const large = { type: 'object', properties: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`n${i}`, false])) }
    const schema = object(
      Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`p${i}`, { $ref: '#/$defs/large', title: 'T' }])),
      { $defs: { large } },
    )
    expect(formOf(schema).isCut).toBe(true)
    expect(formOf(object({ x: large }), { steps: 4_000 })).toMatchObject({
      isCut: true,
      fields: [{ kind: 'json', types: ['object'] }],
    })
  })

  test('turns too many choices into a text field', () => {
    const schema = object({ x: { type: 'string', enum: Array.from({ length: 1_000 }, (_, index) => `v${index}`) } })
    expect(formOf(schema, { steps: 500 })).toMatchObject({ isCut: true, fields: [{ kind: 'json', types: ['string'] }] })
  })

  test('always returns a form, even if it is too small for anything', () => {
    expect(formOf(wide(3), { fields: -1 })).toMatchObject({ isCut: true, fields: [], root: { kind: 'json' } })
    expect(formOf(wide(3), { steps: 0 })).toMatchObject({ isCut: true, fields: [], root: { kind: 'json', types: ['object'] } })
  })

  test('never runs a pattern', () => {
    expect(fieldOf({ type: 'string', pattern: '(' }).constraints.pattern).toBe('(')
  })
})

test('every schema has a form, within the budget, with unique field names', () => {
  const keyword = fc.constantFrom(
    ...[
      'type',
      'properties',
      'items',
      'anyOf',
      'oneOf',
      'allOf',
      'enum',
      'const',
      '$ref',
      'required',
      'additionalProperties',
      'x-order',
    ],
  )
  const { schema } = fc.letrec<{ schema: JsonSchema; value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('string', 'object', 'array', 'null', '#', '#/properties/a', true, false, null, 7),
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('schema'),
      fc.dictionary(fc.constantFrom('a', 'b', '', '__proto__'), tie('schema')),
    ),
    schema: fc.dictionary(keyword, tie('value'), { maxKeys: 4 }),
  }))
  fc.assert(
    fc.property(schema, (given) => {
      const form = formOf(given, { fields: 200 })
      expect(new Set(namesOf(form.fields)).size).toBe(form.fields.length)
      expect([...all(form.root)].length).toBeLessThanOrEqual(201)
    }),
    { numRuns: 500 },
  )
})
