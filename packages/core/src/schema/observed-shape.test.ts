import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { mergedShapes, schemaOfShape, shapeOf } from './observed-shape.ts'
import { declarationsOf } from './typescript.ts'

/** The type that is learned from these results, in this order. */
function learned(...values: readonly unknown[]): string {
  const shape = values.map((value) => shapeOf(value)).reduce((known, other) => mergedShapes(known, other))
  const text = declarationsOf([
    { path: ['act'], tool: { name: 'act', inputSchema: { type: 'object' } }, observed: schemaOfShape(shape) },
  ])
  return /not guaranteed \*\/ (.*)>\n\}$/su.exec(text)?.[1]?.replaceAll(/\s*\n\s*/gu, ' ') ?? text
}

const entries = (
  count: number,
  value: (index: number) => unknown,
  name = (index: number): string => `name_${'abcdefghijklmnopqrstuvwxyz'.charAt(index % 26)}${'x'.repeat(index / 26)}`,
) => Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), value(index)]))

describe('a shape learned from results', () => {
  test.each<[string, readonly unknown[], string]>([
    ['a text', ['secret'], 'string'],
    ['an object', [{ id: 7, tags: ['x'], owner: null }], '{ id: number, tags: string[], owner: null }'],
    ['an empty list', [[]], 'unknown[]'],
    ['an empty object', [{}], 'Record<string, unknown>'],
    ['items that differ', [[{ a: 1 }, { b: 'x' }, 2]], '(number | { a?: number, b?: string })[]'],
    [
      'results that differ',
      [{ a: 1, b: 1 }, { a: 'x' }, { a: null, c: true }],
      '{ a: null | number | string, b?: number, c?: boolean }',
    ],
    ['a list and an object', [[1], { a: 1 }], 'number[] | { a: number }'],
    ['a list that was empty at first', [{ items: [] }, { items: [{ id: 1 }] }], '{ items: { id: number }[] }'],
    ['an object that was empty at first', [{}, { a: 1 }], '{ a?: number }'],
    ['numbered fields', [{ line1: 'x', x2y: 1 }], '{ line1: string, x2y: number }'],
  ])('describes %s', (_, values, type) => {
    expect(learned(...values)).toBe(type)
  })

  test.each<[string, unknown, string]>([
    ['an address', { 'ada@example.com': { age: 1 }, name: { age: 2 } }, 'Record<string, { age: number }>'],
    ['a path', { '/home/ada/secret.txt': 'x' }, 'Record<string, string>'],
    ['an identifier', { c0ffee1234: 1 }, 'Record<string, number>'],
    ['a date', { '2026-01-31': 1, total: 2 }, 'Record<string, number>'],
    ['a sentence', { 'Ada is late': true }, 'Record<string, boolean>'],
    ['a long name', { ['x'.repeat(41)]: 1 }, 'Record<string, number>'],
    ['an entry of a map', { ada: { age: 1 }, bob: { age: 2 }, cy: { age: 3 } }, 'Record<string, { age: number }>'],
    ['one of many values', entries(17, (index) => index), 'Record<string, number>'],
    ['one of very many', entries(41, (index) => (index === 0 ? 'x' : index)), 'Record<string, number | string>'],
  ])('does not keep a key that is %s', (_, value, type) => {
    expect(learned(value)).toBe(type)
  })

  test('turns an object into a record once a key turns out to be data', () => {
    expect(learned({ ada: 1 }, { 'ada@example.com': 'x' })).toBe('Record<string, number | string>')
    expect(learned({ 'ada@example.com': 'x' }, { ada: 1 })).toBe('Record<string, number | string>')
  })

  test('is the same object when a result adds nothing', () => {
    const known = shapeOf({ a: [{ b: 1 }], c: { d: 'x' } })
    expect(mergedShapes(known, shapeOf({ a: [{ b: 2 }, { b: 3 }], c: { d: 'y' } }))).toBe(known)
  })

  test('AT-K21-4: never contains a value, and does not grow beyond its limits', () => {
    const marked = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom<unknown>('SECRET', 48_151_623, true, null),
        fc.array(tie('value'), { maxLength: 5 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c', 'SECRET 1', 'ada@SECRET'), tie('value')),
      ),
    })).value
    fc.assert(
      fc.property(fc.array(marked, { minLength: 1, maxLength: 6 }), (values) => {
        const shape = values.map((value) => shapeOf(value)).reduce((known, other) => mergedShapes(known, other))
        const text = JSON.stringify(schemaOfShape(shape))
        expect(text).not.toMatch(/SECRET|48151623/)
        expect(text.length).toBeLessThan(40_000)
        for (const value of values) expect(mergedShapes(shape, shapeOf(value))).toBe(shape)
      }),
      propertyRuns({ long: 10_000, sample: 200 }),
    )
  })

  test.each<[string, unknown]>([
    ['deep', Array.from({ length: 5_000 }).reduce((inner) => [inner], 1)],
    ['wide', entries(100_000, (index) => ({ index }))],
    ['long', Array.from({ length: 100_000 }, (_, index) => ({ a: { b: { c: { d: index } } } }))],
    ['bushy', entries(30, () => entries(30, () => entries(30, (index) => (index === 1 ? 'x' : 1))))],
  ])('of a result that is %s is small', (_, value) => {
    expect(JSON.stringify(schemaOfShape(shapeOf(value))).length).toBeLessThan(20_000)
  })
})
