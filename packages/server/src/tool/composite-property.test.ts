import { canonicalJson } from '@unfold-mcp/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { defineToolbox, LiveFacts, type ModePolicy } from '../index.ts'
import { runtimeOf } from '../runtime/servable.ts'
import { compileJsonSchema } from '../schema/json-schema.ts'
import { testContext } from '../testing/index.ts'

const factNames = ['alpha', 'beta', 'gamma'] as const
type FactName = (typeof factNames)[number]

/** Parameters of modes and of the tool; each has one meaning everywhere. */
const pool: { readonly [name: string]: { readonly schema: object; readonly value: fc.Arbitrary<unknown> } } = {
  text: { schema: { type: 'string' }, value: fc.string({ maxLength: 5 }) },
  whole: { schema: { type: 'integer', minimum: 0 }, value: fc.nat() },
  yes: { schema: { type: 'boolean', description: 'Whether to' }, value: fc.boolean() },
  either: { schema: { anyOf: [{ type: 'string' }, { type: 'null' }] }, value: fc.constantFrom('a', null) },
  point: { schema: { $ref: '#/$defs/point' }, value: fc.record({ x: fc.integer() }) },
  constructor: { schema: { type: 'string' }, value: fc.string({ maxLength: 3 }) },
}
const point = { type: 'object', properties: { x: { type: 'integer' } }, required: ['x'], additionalProperties: false }

interface Parameter {
  readonly name: string
  readonly isRequired: boolean
}

const parameters = (names: readonly string[]): fc.Arbitrary<readonly Parameter[]> =>
  fc.uniqueArray(fc.record({ name: fc.constantFrom(...names), isRequired: fc.boolean() }), {
    maxLength: 3,
    selector: ({ name }) => name,
  })

const fact = fc.option(fc.constantFrom<FactName>(...factNames), { nil: undefined })

const mode = fc.record({
  // Objects list numeric names first, regardless of the order of declaration.
  name: fc.oneof(
    fc.string({ minLength: 1, maxLength: 6 }).filter((name) => !/^\d/u.test(name)),
    fc.constantFrom('__proto__', 'constructor', 'toString'),
  ),
  needs: fc.oneof(fact, fc.constant<true>(true)),
  counts: fact,
  takes: parameters(['text', 'whole', 'point', 'constructor']),
})

const declaration = fc.record({
  by: fc.constantFrom('what', 'target', 'valueOf'),
  policy: fc.constantFrom<ModePolicy>('filtered', 'static'),
  shares: parameters(['yes', 'either']),
  modes: fc.uniqueArray(mode, { minLength: 1, maxLength: 5, selector: ({ name }) => name }),
})

const amounts = fc.record({ alpha: fc.nat(3), beta: fc.nat(3), gamma: fc.nat(3) })

const objectOf = (given: readonly Parameter[]) =>
  ({
    type: 'object',
    properties: Object.fromEntries(given.map(({ name }) => [name, pool[name]?.schema])),
    required: given.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    ...(given.some(({ name }) => name === 'point') && { $defs: { point } }),
  }) as const

/** Valid arguments: the required ones, and some of the others. */
const argumentsFor = (given: readonly Parameter[]): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(Object.fromEntries(given.map(({ name }) => [name, pool[name]?.value ?? fc.constant(null)])), {
    requiredKeys: given.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  })

const combiners = ['anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref']

test('for any composite tool and any data, list, schema and dispatch agree', async () => {
  await fc.assert(
    fc.asyncProperty(
      declaration,
      fc.array(amounts, { minLength: 1, maxLength: 3 }),
      fc.constantFrom<'session' | 'stateless'>('session', 'stateless'),
      fc.gen(),
      async ({ by, policy, shares, modes }, moments, era, generate) => {
        const facts = new LiveFacts<{ [F in FactName]: number }>({ alpha: 0, beta: 0, gamma: 0 })
        const declared = Object.fromEntries(
          modes.map(({ name, needs, counts, takes }) => [
            name,
            {
              description: `About ${name}`,
              input: objectOf(takes),
              ...(needs !== undefined && {
                available: needs === true || ((now: { facts: { [F in FactName]: number } }) => now.facts[needs] > 0),
              }),
              ...(counts !== undefined && { count: (now: { facts: { [F in FactName]: number } }) => now.facts[counts] }),
            },
          ]),
        )
        const handlers = Object.fromEntries(modes.map(({ name }) => [name, (input: object) => ({ reached: name, input })]))
        const toolbox = defineToolbox({ name: 'box', version: '1.0.0', facts }).composite(
          'observe',
          { by, policy, inputSchema: objectOf(shares), modes: declared },
          handlers,
        )
        await using client = await testContext(toolbox, { era })
        const runtime = runtimeOf(toolbox)
        const scope = await runtime.scopes.open({ key: 'watcher', era, principal: undefined })
        for (const moment of moments) {
          facts.set(moment)
          const isThere = ({ needs, counts }: (typeof modes)[number]): boolean => {
            const decisive = needs ?? counts ?? true
            return decisive === true || moment[decisive] > 0
          }
          const available = modes.filter(isThere)
          const listed = policy === 'static' ? modes : available
          const [tool, ...others] = client.tools()
          expect(others).toEqual([])

          // Only tools without any available mode are omitted.
          expect(tool === undefined).toBe(listed.length === 0)
          const counted = listed.flatMap(({ name, counts }) => (counts === undefined ? [] : [[name, moment[counts]] as const]))
          const hasMeta = modes.some(
            ({ counts, needs = true }) => counts !== undefined || (policy === 'static' && needs !== true),
          )
          for (const { inputSchema, _meta } of tool === undefined ? [] : [tool]) {
            expect(inputSchema.type).toBe('object')
            for (const combiner of combiners) expect(inputSchema).not.toHaveProperty([combiner])
            const properties = inputSchema.properties as { [name: string]: { enum?: unknown } }
            expect(properties[by]?.enum).toEqual(listed.map(({ name }) => name))
            expect(canonicalJson(JSON.parse(JSON.stringify(inputSchema)))).toBe(canonicalJson(inputSchema))
            expect(_meta?.available_modes).toEqual(hasMeta ? available.map(({ name }) => name) : undefined)
            expect(_meta?.data_counts).toEqual(counted.length === 0 ? undefined : Object.fromEntries(counted))
            const check = compileJsonSchema('observe', inputSchema)
            for (const { name, takes } of available) {
              const given = { ...generate(argumentsFor, shares), ...generate(argumentsFor, takes) }
              const args = { ...given, [by]: name }
              expect(check(args)).toEqual({ value: args })
              const { structuredContent, isError } = await client.call('observe', args)
              expect(isError).not.toBe(true)
              expect(structuredContent).toEqual({ reached: name, input: args })
            }
          }

          for (const { name } of modes.filter((each) => !isThere(each))) {
            const { isError, _meta } = await client.call('observe', { [by]: name })
            expect([isError, _meta?.['io.github.unfold-mcp/reason']]).toEqual([true, 'mode_unavailable'])
          }

          // More data of an available kind changes counts, and causes no notification.
          const before = runtime.views.rendered(scope).fingerprint
          const more = Object.entries(moment).map(([name, amount]) => [name, amount === 0 ? 0 : amount + 1])
          facts.set(Object.fromEntries(more) as typeof moment)
          expect(runtime.views.rendered(scope).fingerprint).toBe(before)
        }
        await toolbox.close()
      },
    ),
    propertyRuns({ long: 200, sample: 40 }),
  )
}, 300_000)
