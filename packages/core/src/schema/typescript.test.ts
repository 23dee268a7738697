import fc from 'fast-check'
import { parseSync } from 'oxc-parser'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import type { JsonSchema, Tool } from '../tool/tool.ts'
import { declarationsOf } from './typescript.ts'

const tool = (inputSchema: JsonSchema, rest: Partial<Tool> = {}): Tool => ({
  name: 'act',
  ...rest,
  inputSchema: { ...inputSchema, type: 'object' },
})

const declared = (inputSchema: JsonSchema, rest: Partial<Tool> = {}): string =>
  declarationsOf([{ path: ['act'], tool: tool(inputSchema, rest) }])

/** The type of a schema, as an output. */
const typeOf = (outputSchema: JsonSchema): string => {
  const text = declared({}, { outputSchema })
  expect(problemsOf(text)).toEqual([])
  return /act\(\): Promise<(.*)>\n\}$/su.exec(text)?.[1]?.replaceAll('\n  ', '\n') ?? text
}

const problemsOf = (text: string): readonly string[] =>
  parseSync('tools.ts', text).errors.map(({ message }) => `${message} in ${text}`)

/** Top-level statements: named types and the tools. Anything else was injected by a schema. */
const statementsOf = (text: string): readonly string[] => parseSync('tools.ts', text).program.body.map(({ type }) => type)

const object = (properties: JsonSchema, rest: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...rest })

describe('declarations of tools in TypeScript', () => {
  test('have the path, the description, the parameters and the result of each tool', () => {
    const create = tool(
      object(
        {
          repo: { type: 'string', description: 'Owner and name' },
          state: { enum: ['open', 'closed'], default: 'open' },
          labels: { type: 'array', items: { type: 'string' } },
          'due-date': { type: 'string', format: 'date' },
        },
        { required: ['repo'] },
      ),
      { description: 'Open an issue.\n\nThe title should be short.', outputSchema: object({ number: { type: 'integer' } }) },
    )
    const text = declarationsOf([
      { path: ['github', 'create_issue'], tool: create },
      { path: ['github', 'list-repos'], tool: tool({}) },
      { path: ['now'], tool: tool({}, { title: 'Current time', outputSchema: { type: 'string' } }) },
    ])
    expect(text).toMatchInlineSnapshot(`
      "declare const tools: {
        github: {
          /**
           * Open an issue.
           * The title should be short.
           */
          create_issue(args: {
            /** Owner and name */
            repo: string
            /** default "open" */
            state?: "open" | "closed"
            labels?: string[]
            /** date */
            "due-date"?: string
          }): Promise<{ number?: number }>
          "list-repos"(): Promise<unknown>
        }
        /** Current time */
        now(): Promise<string>
      }"
    `)
    expect(problemsOf(text)).toEqual([])
  })

  test.each<[string, JsonSchema, string]>([
    ['anything', {}, 'unknown'],
    ['a constant', { const: 'a' }, '"a"'],
    ['values', { enum: ['a', 1, true, null] }, '"a" | 1 | true | null'],
    ['many values', { enum: Array.from({ length: 50 }, (_, index) => index) }, 'number'],
    ['several types', { type: ['string', 'null'] }, 'string | null'],
    ['a value or null, as in OpenAPI', { type: 'string', nullable: true }, 'string | null'],
    ['a list of alternatives', { type: 'array', items: { type: ['string', 'number'] } }, '(string | number)[]'],
    ['a list of anything', { type: 'array' }, 'unknown[]'],
    ['a tuple', { prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 1, items: false }, '[string, number?]'],
    [
      'an older tuple',
      { type: 'array', items: [{ type: 'string' }], minItems: 1, additionalItems: { type: 'number' } },
      '[string, ...number[]]',
    ],
    ['a record', { type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    ['patterns', { patternProperties: { '^a': { type: 'string' } } }, 'Record<string, string>'],
    ['an object without properties', { type: 'object', additionalProperties: false }, '{}'],
    ['an object', object({ a: { type: 'string' }, b: {} }, { required: ['a', 'c'] }), '{ a: string, b?: unknown, c: unknown }'],
    ['more properties', object({ a: {} }, { additionalProperties: true }), '{ a?: unknown } & Record<string, unknown>'],
    ['alternatives', { anyOf: [{ type: 'string' }, object({ a: {} })] }, 'string | { a?: unknown }'],
    ['alternatives of one type', { type: 'string', oneOf: [{ const: 'a' }, { const: 'b' }] }, '"a" | "b"'],
    ['alternatives of what is required', { ...object({ a: {} }), anyOf: [{ required: ['a'] }, {}] }, '{ a?: unknown }'],
    [
      'all of several',
      { allOf: [object({ a: {} }), { oneOf: [object({ b: {} }), object({ c: {} })] }] },
      '{ a?: unknown } & ({ b?: unknown } | { c?: unknown })',
    ],
    ['nothing', { not: {}, enum: [] }, 'never'],
    ['a short reference', { $ref: '#/$defs/id', $defs: { id: { type: 'string' } } }, 'string'],
    ['a reference that does not exist', { $ref: '#/$defs/id' }, 'unknown'],
    ['a reference to another document', { $ref: 'https://example.com/a.json' }, 'unknown'],
    ['a name that needs quotes', object({ 'a-b': {}, __proto: {} }), '{ "a-b"?: unknown, __proto?: unknown }'],
  ])('describe %s', (_, schema, type) => {
    expect(typeOf(schema)).toBe(type)
  })

  test('say in a comment what a type cannot', () => {
    const schema = object({
      at: { type: 'string', format: 'date-time', description: 'When' },
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'At most.' },
      until: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }], default: null },
    })
    expect(declared(schema, { outputSchema: schema })).toMatchInlineSnapshot(`
      "declare const tools: {
        act(args?: {
          /** When. date-time */
          at?: string
          /** At most. integer, ≥ 1, ≤ 100, default 20 */
          limit?: number
          /** default null, date */
          until?: string | null
        }): Promise<{
          /** When. date-time */
          at?: string
          /** At most. */
          limit?: number
          /** date */
          until?: string | null
        }>
      }"
    `)
  })

  test('name shared and recursive types', () => {
    const node = object({
      name: { type: 'string', description: 'Unique' },
      children: { type: 'array', items: { $ref: '#/$defs/tree node' } },
    })
    const text = declared(
      {
        ...object({ root: { $ref: '#/$defs/tree%20node' }, other: { $ref: '#/$defs/tree%20node' } }),
        $defs: { 'tree node': node },
      },
      { outputSchema: object({ self: { $ref: '#' } }) },
    )
    expect(text).toMatchInlineSnapshot(`
      "type TreeNode = {
        /** Unique */
        name?: string
        children?: TreeNode[]
      }
      type Self = { self?: Self }
      declare const tools: {
        act(args?: { root?: TreeNode, other?: TreeNode }): Promise<{ self?: Self }>
      }"
    `)
    expect(problemsOf(text)).toEqual([])
  })

  test('label a learned result', () => {
    const text = declarationsOf([{ path: ['act'], tool: tool({}), observed: object({ id: { type: 'number' } }) }])
    expect(text).toContain('act(): Promise</* observed, not guaranteed */ { id?: number }>')
    expect(problemsOf(text)).toEqual([])
  })

  test.each([
    'ends */ } ; alert(1) /*',
    'a\u2028alert(1)\u2029b\r\nalert(2)',
    '*\u200b/ alert(1)',
    '**\n/ alert(1)',
    '\u202e hidden \u0000 text',
    '"] } `alert(1)` \\',
  ])('%j does not leave its comment, name or literal', (evil) => {
    const schema: JsonSchema = object(
      {
        [evil]: { description: evil, default: evil, pattern: evil, format: evil, enum: [evil, 1] },
        ref: { $ref: '#/$defs/evil' },
      },
      { required: [evil], $defs: { evil: { ...object({ [evil]: { $ref: '#/$defs/evil' } }), title: evil } } },
    )
    const text = declarationsOf([
      { path: [evil, evil], tool: tool(schema, { description: `${evil}\n${evil}`, outputSchema: schema }) },
    ])
    expect(problemsOf(text)).toEqual([])
    expect(new Set(statementsOf(text))).toEqual(new Set(['TSTypeAliasDeclaration', 'VariableDeclaration']))
    expect(text).not.toMatch(/[\p{Cf}\u2028\u2029\0]/u)
  })

  test('AT-K20-3: parse for any schema, are the same each time, and stay within their limits', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.constantFrom('a', 'b', '*/', '__proto__', '\n//', '#'))
    const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 2, depthSize: 'small', withCrossShrink: true },
        fc.constantFrom<unknown>(true, false, null, {}, [], 'x'),
        fc.record(
          {
            type: fc.oneof(
              fc.constantFrom('string', 'integer', 'object', 'array', 'null', 'x'),
              fc.array(text, { maxLength: 3 }),
            ),
            description: text,
            format: text,
            default: fc.jsonValue(),
            const: fc.jsonValue(),
            enum: fc.array(fc.jsonValue(), { maxLength: 4 }),
            properties: fc.dictionary(text, tie('schema'), { maxKeys: 4 }),
            required: fc.array(text, { maxLength: 3 }),
            additionalProperties: tie('schema'),
            items: fc.oneof(tie('schema'), fc.array(tie('schema'), { maxLength: 2 })),
            prefixItems: fc.array(tie('schema'), { maxLength: 2 }),
            minItems: fc.nat(3),
            anyOf: fc.array(tie('schema'), { maxLength: 2 }),
            oneOf: fc.array(tie('schema'), { maxLength: 2 }),
            allOf: fc.array(tie('schema'), { maxLength: 2 }),
            nullable: fc.boolean(),
            $ref: fc.constantFrom('#', '#/$defs/a', '#/$defs/b', '#/properties/a', 'x'),
            $defs: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
          },
          { requiredKeys: [] },
        ),
      ),
    }))
    const path = fc.oneof(fc.tuple(text), fc.tuple(text, text))
    fc.assert(
      fc.property(fc.array(fc.tuple(path, schema, schema, text), { maxLength: 3 }), (tools) => {
        const declarations = tools.map(([at, input, output, description]) => ({
          path: at,
          tool: tool(input as JsonSchema, { description, outputSchema: output as JsonSchema }),
        }))
        const made = declarationsOf(declarations)
        expect(problemsOf(made)).toEqual([])
        expect(statementsOf(made).filter((type) => type !== 'TSTypeAliasDeclaration')).toEqual(['VariableDeclaration'])
        expect(declarationsOf(declarations)).toBe(made)
      }),
      propertyRuns({ long: 20_000, sample: 200 }),
    )
  })

  test.each<[string, JsonSchema]>([
    ['deep', nested(5_000, (inner) => object({ inner }))],
    ['deep lists', nested(5_000, (inner) => ({ type: 'array', items: inner }))],
    ['deep alternatives', nested(5_000, (inner) => ({ anyOf: [inner, { type: 'null' }] }))],
    ['wide', object(Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`name${index}`, { type: 'string' }])))],
    ['doubling', doubling(40)],
    ['a chain of references', chain(5_000)],
    ['long texts', object({ a: { description: 'x'.repeat(1_000_000), const: 'y'.repeat(1_000_000) } })],
  ])('a schema that is %s stays within the limits', (_, schema) => {
    const text = declared(schema, { description: 'z'.repeat(1_000_000) })
    expect(text.length).toBeLessThan(60_000)
    expect(problemsOf(text)).toEqual([])
  })
})

function nested(levels: number, around: (inner: JsonSchema) => JsonSchema): JsonSchema {
  let schema: JsonSchema = { type: 'string' }
  for (let level = 0; level < levels; level++) schema = around(schema)
  return schema
}

/** Two references on each level: written out, 2^levels types. */
function doubling(levels: number): JsonSchema {
  const level = (index: number): [string, JsonSchema] => {
    const next = { $ref: `#/$defs/d${index + 1}` }
    return [`d${index}`, { type: 'array', prefixItems: [next, next], minItems: 2, items: false }]
  }
  return object(
    { a: { $ref: '#/$defs/d0' } },
    { $defs: Object.fromEntries(Array.from({ length: levels }, (_, index) => level(index))) },
  )
}

function chain(length: number): JsonSchema {
  const link = (index: number): [string, JsonSchema] => [`c${index}`, object({ next: { $ref: `#/$defs/c${index + 1}` } })]
  return object({ a: { $ref: '#/$defs/c0' } }, { $defs: Object.fromEntries(Array.from({ length }, (_, index) => link(index))) })
}
