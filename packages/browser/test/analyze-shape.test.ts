import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  countNodes,
  emptyShape,
  isData,
  join,
  limitNodes,
  maxFields,
  plainTextShape,
  type Shape,
  shapeOf,
} from '../src/api/shape.ts'
import { shapeSchema } from '../src/api/shape-schema.ts'
import { shapeText } from '../src/api/shape-text.ts'

const learnt = (values: readonly unknown[]): Shape => values.map((value) => shapeOf(value)).reduce(join, emptyShape)
const text = (...values: unknown[]): string => shapeText(learnt(values))

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string(),
      fc.constantFrom('2026-01-02', 'a@b.example', 'https://x.example/'),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(fc.constantFrom('id', 'name', '__proto__', 'constructor', '42'), fc.string({ maxLength: 6 })),
      tie('value'),
      { maxKeys: 5 },
    ),
  ),
})).value

describe('a shape', () => {
  test('has the observed types and none of the values', () => {
    const item = {
      id: 1,
      name: 'Ann',
      price: 1.5,
      at: '2026-01-02T10:00:00Z',
      mail: 'a@b.example',
      link: 'https://x.example/y',
      isOpen: true,
      none: null,
      tags: ['a'],
    }
    expect(text(item)).toBe(
      '{ at: date-time, id: integer, isOpen: boolean, link: uri, mail: email, name: string, none: null, price: number, tags: string[] }',
    )
    expect(JSON.stringify(shapeSchema(learnt([item])))).not.toMatch(/Ann|b\.example|2026/)
  })

  test('a field that is missing once is optional, and values of different types become a union', () => {
    expect(text({ a: 1, b: 'x' }, { a: null })).toBe('{ a: integer | null, b?: string }')
    expect(text({ a: 1 }, { a: 1.5 }, { a: 'x' })).toBe('{ a: number | string }')
    expect(text([1, null], [{ x: 1 }])).toBe('({ x: integer } | integer | null)[]')
    expect(text([], [])).toBe('unknown[]')
  })

  test('a format is kept as long as every text matches it', () => {
    expect(text('2026-01-02', '2026-01-03')).toBe('date')
    expect(text('2026-01-02', null)).toBe('date | null')
    expect(text('2026-01-02', 'soon')).toBe('string')
  })

  test('keys that are data are not kept', () => {
    const byId = { 17: { n: 1 }, '6f1f2a9e-0f2d-4b6a-9d5c-0a1b2c3d4e5f': { n: 2 }, 'ann@x.example': { n: 3 }, total: 3 }
    expect(text(byId)).toBe('{ total: integer, [id]: { n: integer } }')
  })

  test('names that are not identifiers are quoted', () => {
    expect(text({ 'a b': 1, 'x"y': 2, größe: 3 })).toBe(String.raw`{ "a b": integer, größe: integer, "x\"y": integer }`)
  })

  test('merging is idempotent and returns the same object', () => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 5 }), (values) => {
        const shape = learnt(values)
        for (const value of values) expect(join(shape, shapeOf(value))).toBe(shape)
        expect(join(shape, shape)).toBe(shape)
      }),
    )
  })

  test('the result does not depend on the order or grouping of the values', () => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 6 }), fc.nat(6), fc.nat(), (values, cut, turn) => {
        const turned = values.map((_, i) => values[(i + turn) % values.length])
        const inGroups = join(learnt(turned.slice(0, cut)), learnt(turned.slice(cut).reverse()))
        expect(shapeSchema(inGroups)).toEqual(shapeSchema(learnt(values)))
        expect(shapeText(inGroups)).toBe(shapeText(learnt(values)))
      }),
      { numRuns: 300 },
    )
  })

  test('nor does it if there are more fields than the limit', () => {
    const wide = fc.dictionary(fc.stringMatching(/^[a-z]{2}$/), fc.constantFrom(1, 'x', null), {
      minKeys: 60,
      maxKeys: 200,
      size: 'max',
    })
    fc.assert(
      fc.property(wide, wide, wide, (a, b, c) => {
        const one = learnt([a, b, c])
        expect(one.object?.fields.size).toBeLessThanOrEqual(maxFields)
        expect(shapeSchema(learnt([c, b, a]))).toEqual(shapeSchema(one))
        expect(shapeSchema(join(learnt([b]), learnt([c, a])))).toEqual(shapeSchema(one))
      }),
      { numRuns: 50 },
    )
  })

  test('its schema accepts every observed value', () => {
    // The validator does not support a field named __proto__.
    const plain = json.filter((value) => !JSON.stringify(value).includes('__proto__'))
    const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true })
    fc.assert(
      fc.property(fc.array(plain, { minLength: 1, maxLength: 4 }), (values) => {
        const accepts = ajv.compile(shapeSchema(learnt(values)))
        for (const value of values) expect(accepts(JSON.parse(JSON.stringify(value)))).toBe(true)
      }),
      { numRuns: 200 },
    )
  })

  test('its schema rejects values that were never observed', () => {
    const accepts = new Ajv2020({ strict: false, validateFormats: false }).compile(
      shapeSchema(learnt([{ id: 1 }, { id: 2, n: 'x' }])),
    )
    expect([{ id: 3 }, { id: 'x' }, {}, { id: 1, n: 2 }].map((value) => accepts(value))).toEqual([true, false, false, false])
  })

  test('values are recorded up to eight levels deep', () => {
    const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) })
    expect(text(deep(8))).toBe('{ a: { a: { a: { a: { a: { a: { a: { a: integer } } } } } } } }')
    expect(text(deep(9))).toBe('{ a: { a: { a: { a: { a: { a: { a: { a: { … } } } } } } } } }')
    expect(text(deep(5_000))).toBe(text(deep(9)))
    expect(text(JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`))).toBe(`unknown${'[]'.repeat(9)}`)
  })

  test('a shape that keeps growing loses its deepest levels', () => {
    let shape = emptyShape
    for (let i = 0; i < 60; i++) {
      const inner = Object.fromEntries(
        Array.from({ length: 60 }, (_, j) => [
          `k${String.fromCharCode(97 + (j % 26), 97 + (i % 26), 97 + j)}`,
          { x: 1, y: { z: 1 } },
        ]),
      )
      shape = limitNodes(join(shape, shapeOf({ [`f${String.fromCharCode(97 + (i % 26), 97 + i)}`]: inner })))
      expect(countNodes(shape)).toBeLessThanOrEqual(2_000)
    }
    expect(shape.object?.fields.size).toBe(60)
  })

  test('its text is limited by reducing its depth', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 90 }, (_, i) => [`field${String.fromCharCode(97 + (i % 26))}${i}`, { inner: { more: 1 } }]),
    )
    expect(shapeText(shapeOf(wide), 3_500)).toContain('{ … }')
    expect(shapeText(shapeOf(wide), 3_500)).toContain('inner')
    expect(shapeText(shapeOf(wide), 100).length).toBeLessThanOrEqual(100)
  })
})

test('query parameters are parsed as the types that they represent', () => {
  const read = (value: string): string => shapeText(plainTextShape(value))
  expect(['42', '-1.5', 'true', '007', '1e5', '', '2026-01-02', 'x'].map(read)).toEqual([
    'integer',
    'number',
    'boolean',
    'string',
    'string',
    'string',
    'date',
    'string',
  ])
})

test('ids are distinguished from names', () => {
  const ids = [
    '42',
    '6f1f2a9e-0f2d-4b6a-9d5c-0a1b2c3d4e5f',
    '5f3a9c1b',
    '507f1f77bcf86cd799439011',
    '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    'V1StGXR8_Z5jdHi6B-myT',
    'cus_9s6XKzkNRiz8i3',
    'order-10042',
    '2026-01-02',
    'ann@x.example',
    'n'.repeat(65),
  ]
  const names = [
    'items',
    'v1',
    'oauth2',
    'my-long-article-about-cats',
    'averageResponseTime95thPercentile',
    'facade',
    'user_name',
    'iso8601',
    'page-2',
    'größe',
    'p95',
  ]
  expect(ids.filter((id) => !isData(id))).toEqual([])
  expect(names.filter(isData)).toEqual([])
})
