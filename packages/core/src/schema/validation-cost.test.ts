import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ValidationCost } from './validation-cost.ts'

const linear = { uniqueItems: 'linear' } as const
const quadratic = { uniqueItems: 'quadratic' } as const
const rows = (count: number): readonly object[] => Array.from({ length: count }, (_, id) => ({ id, name: `row ${id}` }))

/** Nested objects. */
function nested(depth: number): object {
  let value: object = { kind: 'leaf' }
  for (let i = 0; i < depth; i++) value = { left: value }
  return value
}

const alternatives = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      oneOf: [
        { properties: { kind: { const: 'a' }, left: { $ref: '#/$defs/node' } } },
        { properties: { kind: { const: 'b' }, left: { $ref: '#/$defs/node' } } },
      ],
    },
  },
}

describe('the cost of validating a value', () => {
  test('follows from its size and the schema, without a walk, if nothing repeats', () => {
    const cost = new ValidationCost({ properties: { rows: { items: { properties: { id: { type: 'number' } } } } } }, linear)
    expect(cost.isWithin({ rows: rows(100) }, 10_000)).toBe(true)
    expect(cost.isWithin({ rows: rows(100) }, 100)).toBe(false)
    expect(cost.excess({ rows: rows(100) }, 10_000)).toBeUndefined()
  })

  test('is unknown for a recursive schema, and small for one without alternatives', () => {
    const tree = { properties: { left: { $ref: '#' }, right: { $ref: '#' } } }
    const cost = new ValidationCost(tree, linear)
    expect(cost.excess(nested(90), 1_000)).toBeUndefined()
    expect(cost.isWithin(nested(90), 1_000)).toBe(true)
  })

  test('doubles with every level where two alternatives repeat', () => {
    const cost = new ValidationCost(alternatives, linear)
    expect(cost.excess(nested(5), 1_000)).toBeUndefined()
    const excess = cost.excess(nested(60), 100_000)
    expect(excess).toMatchObject({ path: expect.arrayContaining(['left']) })
    expect(['oneOf', '$ref', 'properties']).toContain(excess?.keyword)
  })

  test('grows with the square of the number of items for validators that compare all pairs', () => {
    const schema = { properties: { rows: { type: 'array', uniqueItems: true, items: { type: 'object' } } } }
    expect(new ValidationCost(schema, quadratic).excess({ rows: rows(3_000) }, 2_000_000)).toEqual({
      path: ['rows'],
      keyword: 'uniqueItems',
    })
    expect(new ValidationCost(schema, quadratic).isWithin({ rows: rows(3_000) }, 2_000_000)).toBe(false)
    expect(new ValidationCost(schema, linear).excess({ rows: rows(3_000) }, 2_000_000)).toBeUndefined()
    const texts = { properties: { rows: { uniqueItems: true, items: { type: 'string' } } } }
    expect(new ValidationCost(texts, quadratic).excess({ rows: rows(3_000).map(String) }, 2_000_000)).toBeUndefined()
  })

  test.each([
    ['enum', { items: { enum: Array.from({ length: 500 }, String) } }, Array.from({ length: 500 }, () => 'x')],
    ['enum', { items: { enum: [rows(500)] } }, Array.from({ length: 100 }, () => ({}))],
    ['const', { items: { const: rows(500) } }, Array.from({ length: 100 }, () => [])],
    [
      'patternProperties',
      { patternProperties: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`^x${n}`, {}])) },
      Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`y${n}`, 1])),
    ],
    [
      'additionalProperties',
      { additionalProperties: false },
      Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [n, 1])),
    ],
    ['contains', { contains: { anyOf: [] } }, Array.from({ length: 100_000 }, () => 1)],
    ['anyOf', { items: { anyOf: Array.from({ length: 200 }, () => ({})) } }, Array.from({ length: 1_000 }, () => 1)],
    ['propertyNames', { propertyNames: {} }, Object.fromEntries(Array.from({ length: 90_000 }, (_, n) => [`y${n}`, 1]))],
    ['pattern', { items: { pattern: '^a' } }, Array.from({ length: 100 }, () => 'b'.repeat(100_000))],
  ])('counts %s', (keyword, schema, value) => {
    const cost = new ValidationCost(schema, linear)
    expect(cost.isWithin(value, 50_000)).toBe(false)
    expect(cost.excess(value, 50_000)?.keyword).toBe(keyword)
  })

  test('is the same, up to a small factor, by estimate and by walk', () => {
    const leaf = fc.constantFrom<object | boolean>({ type: 'string' }, { enum: ['a', 'b'] }, { const: { a: 1 } }, true, false)
    const schema = fc.letrec<{ schema: object | boolean }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc.record(
          {
            properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
            items: tie('schema'),
            anyOf: fc.array(tie('schema'), { maxLength: 3 }),
            uniqueItems: fc.boolean(),
            additionalProperties: tie('schema'),
          },
          { requiredKeys: [] },
        ),
      ),
    })).schema
    fc.assert(
      fc.property(schema, fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 1, max: 400 }), (each, value, steps) => {
        const cost = new ValidationCost(each, linear)
        return !cost.isWithin(value, steps) || cost.excess(value, 20 * steps) === undefined
      }),
    )
  })

  test('never throws, for any schema and value', () => {
    for (const schema of [
      true,
      false,
      null,
      'x',
      { $ref: '#/nowhere' },
      { $ref: '#' },
      { allOf: [{ $ref: '#' }] },
      { items: [1, 2] },
    ])
      for (const value of [null, 1, 'x', [], {}, [[1]], { a: { b: 1 } }]) {
        const cost = new ValidationCost(schema, quadratic)
        cost.isWithin(value, 1_000)
        cost.excess(value, 1_000)
      }
  })
})
