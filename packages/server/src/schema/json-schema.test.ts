import { describe, expect, test } from 'vitest'
import { invalidArguments } from '../tool/invalid-arguments.ts'
import { compileJsonSchema } from './json-schema.ts'

/** Objects that count how often one of their members is read. */
function counted(count: number): { readonly items: readonly object[]; readonly reads: () => number } {
  let reads = 0
  const items = Array.from(
    { length: count },
    (_, id) =>
      new Proxy(
        { id },
        {
          get(target, name, receiver) {
            if (name === 'id') reads++
            return Reflect.get(target, name, receiver)
          },
        },
      ),
  )
  return { items, reads: () => reads }
}

function problemsOf(schema: object, value: unknown): readonly { readonly path: string; readonly message: string }[] {
  const checked = compileJsonSchema('tool', schema as never)(value)
  return 'problems' in checked ? checked.problems : []
}

describe('uniqueItems', () => {
  test('reads each item a few times, not once per other item', () => {
    const { items, reads } = counted(1_000)
    expect(problemsOf({ type: 'array', uniqueItems: true, items: { type: 'object' } }, items)).toEqual([])
    expect(reads()).toBeLessThan(10_000)
  })

  test.each([
    [[1, '1', true, null, [], {}, [1], { a: 1 }, { a: '1' }, '{"a":1}', 'null'], undefined],
    [
      [{ a: 1, b: 2 }, 5, { b: 2, a: 1 }],
      [0, 2],
    ],
    [
      ['x', 'y', 'x'],
      [0, 2],
    ],
    [
      [
        [1, { a: [] }],
        [1, { a: [] }],
      ],
      [0, 1],
    ],
    [[Number.NaN, { a: Number.NaN }, { a: Number.NaN }], undefined],
  ])('of %j', (items, pair) => {
    const message = `must NOT have duplicate items (items ## ${pair?.[0]} and ${pair?.[1]} are identical)`
    expect(problemsOf({ uniqueItems: true }, items)).toEqual(pair === undefined ? [] : [{ path: '', message }])
    expect(problemsOf({ uniqueItems: false }, items)).toEqual([])
  })
})

describe('a value that is expensive to validate', () => {
  const tree = {
    $defs: {
      node: {
        oneOf: ['a', 'b', 'c'].map((kind) => ({
          properties: { kind: { const: kind }, left: { $ref: '#/$defs/node' } },
          required: ['kind'],
        })),
      },
    },
    properties: { tree: { $ref: '#/$defs/node' } },
  }
  const nested = (depth: number): object => (depth === 0 ? { kind: 'a' } : { kind: 'a', left: nested(depth - 1) })

  test('is rejected before validation, with the location and what to do', () => {
    expect(problemsOf(tree, { tree: nested(5) })).toEqual([])
    const [problem, ...others] = problemsOf(tree, { tree: nested(60) })
    expect(others).toEqual([])
    expect(problem?.path).toBe('tree.left.left.left.left.left.left.left.…')
    expect(problem?.message).toMatch(
      /^validating this takes more than 1,000,000 steps, most of them for "[$\w]+"\. Send fewer elements at once, or nest them less$/u,
    )
  })

  test('has one problem instead of one for each of its elements, and mentions that there may be more', () => {
    const schema = { items: { type: 'object', required: ['a', 'b', 'c'] } }
    const few = problemsOf(
      schema,
      Array.from({ length: 100 }, () => ({})),
    )
    expect(few).toHaveLength(300)
    const [first, last, ...others] = problemsOf(
      schema,
      Array.from({ length: 60_000 }, () => ({})),
    )
    expect(first).toEqual({ path: '0', message: "must have required property 'a'" })
    expect(last?.message).toContain('there may be further problems')
    expect(others).toEqual([])
  })
})

describe('the text of an error is short', () => {
  const textOf = (schema: object, value: unknown): string => {
    const { content } = invalidArguments('tool', problemsOf(schema, value))
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  }

  test('if the caller sends many long unknown names', () => {
    const strangers = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${n}${'x'.repeat(5_000)}`, { '': 1 }]))
    const unknown = textOf({ additionalProperties: false }, strangers)
    expect(unknown).toContain('- … and 450 more')
    expect(unknown.length).toBeLessThan(20_000)
    expect(textOf({ additionalProperties: { type: 'string' } }, strangers).length).toBeLessThan(30_000)
  })

  test('if the schema allows thousands of values', () => {
    const schema = { items: { enum: Array.from({ length: 3_000 }, (_, n) => `unit number ${n}`) } }
    const text = textOf(schema, ['none', 'any'])
    expect(text).toContain('- 1: must be one of "unit number 0", "unit number 1"')
    expect(text).toContain('(3000 in all)')
    expect(text.length).toBeLessThan(2_000)
  })
})
