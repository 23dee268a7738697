import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../base/canonical.ts'
import { type Failure, isFailure } from '../base/failure.ts'
import type { Snapshot } from './entry.ts'
import { toolFingerprint } from './fingerprint.ts'
import {
  availableModes,
  declareModes,
  hasModeMeta,
  isModeAvailable,
  isWorthListing,
  type Mode,
  type ModeDeclaration,
  type ModePolicy,
  modeMeta,
  modeNames,
  whenEmpty,
} from './modes.ts'
import type { JsonSchema, Tool } from './tool.ts'

const never = (): void => {
  throw new Error('nothing should be reported')
}

const at = (facts: Snapshot['facts'] = {}): Snapshot => ({ facts, isActive: () => false })

const object = (properties: JsonSchema = {}, rest: JsonSchema = {}): Tool['inputSchema'] => ({
  type: 'object',
  properties,
  ...rest,
})

const toolOf = (inputSchema: Tool['inputSchema'] = object()): Tool => ({ name: 'observe', description: 'Look', inputSchema })

interface Given {
  readonly tool?: Tool
  readonly by?: string
  readonly policy?: ModePolicy
}

const declared = (modes: readonly ModeDeclaration[], { tool = toolOf(), by = 'what', policy = 'filtered' }: Given = {}) =>
  declareModes({ tool, by, policy, modes })

function refusalOf(modes: readonly Mode[], given: Given = {}): Failure<'invalid_schema'> {
  try {
    declared(modes, given)
  } catch (error) {
    if (isFailure(error, 'invalid_schema')) return error
    throw error
  }
  throw new Error('the modes were accepted')
}

const mode = (name: string, rest: Partial<Mode> = {}): Mode => ({ name, description: `About ${name}`, ...rest })

const schemaOf = (modes: readonly Mode[], available: string, given: Given = {}) => {
  const { tool = toolOf() } = given
  return declared(modes, given).toolWith(tool, available).inputSchema
}

describe('the schema of a composite tool', () => {
  test('is one plain object whose parameter selects the mode, with the purpose of each', () => {
    expect(schemaOf([mode('logs'), mode('errors')], '11')).toEqual({
      type: 'object',
      properties: { what: { type: 'string', enum: ['logs', 'errors'], description: 'logs: About logs\nerrors: About errors' } },
      required: ['what'],
      additionalProperties: false,
    })
  })

  test('lists available modes if filtered, and all if static', () => {
    const modes = [mode('a'), mode('b'), mode('c')]
    expect(schemaOf(modes, '010')).toMatchObject({ properties: { what: { enum: ['b'], description: 'b: About b' } } })
    expect(schemaOf(modes, '010', { policy: 'static' })).toMatchObject({ properties: { what: { enum: ['a', 'b', 'c'] } } })
  })

  test('has the shared parameters, and names the modes of the others', () => {
    const common = object({ limit: { type: 'integer' } }, { required: ['limit'] })
    const modes = [
      mode('network', {
        inputSchema: object({ url: { type: 'string', description: 'Part of the address' }, id: {} }, { required: ['id'] }),
      }),
      mode('actions', {
        inputSchema: object({ url: { type: 'string', description: 'Part of the address' } }, { required: ['url'] }),
      }),
      mode('page'),
    ]
    const tool = toolOf(common)
    expect(schemaOf(modes, '111', { tool })).toMatchObject({
      properties: {
        limit: { type: 'integer' },
        url: { type: 'string', description: '(network, actions; required for actions) Part of the address' },
        id: { description: '(network; required)' },
      },
      required: ['what', 'limit'],
    })
    // If every listed mode takes a parameter, only its requirement is worth mentioning.
    expect(schemaOf(modes, '010', { tool }).properties).toMatchObject({ url: { description: '(required) Part of the address' } })
    expect(schemaOf(modes, '001', { tool }).properties).not.toHaveProperty('url')
  })

  test('leaves a parameter unchanged if all modes take it and none requires it', () => {
    const limit = { type: 'integer' }
    const modes = [mode('a', { inputSchema: object({ limit }) }), mode('b', { inputSchema: object({ limit }) })]
    expect(schemaOf(modes, '11').properties).toMatchObject({ limit: { type: 'integer' } })
    expect(schemaOf(modes, '11').properties).not.toHaveProperty('limit.description')
  })

  test('keeps a parameter schema of true or false', () => {
    const modes = [mode('a', { inputSchema: object({ any: true, none: false }) }), mode('b')]
    expect(schemaOf(modes, '11').properties).toMatchObject({ any: true, none: false })
  })

  test('keeps annotations of the shared schema', () => {
    const tool = toolOf(object({}, { $schema: 'https://json-schema.org/draft/2020-12/schema', description: 'Filters' }))
    expect(schemaOf([mode('a')], '1', { tool })).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      description: 'Filters',
    })
  })

  test('contains the definitions of the listed modes only', () => {
    const point = { type: 'object', properties: { x: { type: 'number' } } }
    const tool = toolOf(object({ from: { $ref: '#/$defs/day' } }, { $defs: { day: { type: 'string' } } }))
    const modes = [
      mode('a', { inputSchema: object({ at: { $ref: '#/$defs/point' } }, { $defs: { point } }) }),
      mode('b', { inputSchema: object({ old: { $ref: '#/definitions/name' } }, { definitions: { name: { type: 'string' } } }) }),
    ]
    expect(schemaOf(modes, '11', { tool })).toMatchObject({
      $defs: { day: { type: 'string' }, point },
      definitions: { name: { type: 'string' } },
    })
    expect(schemaOf(modes, '01', { tool }).$defs).toEqual({ day: { type: 'string' } })
    expect(schemaOf(modes, '10', { tool })).not.toHaveProperty('definitions')
  })

  test('supports names of Object.prototype properties', () => {
    const own = JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"number"}}') as JsonSchema
    const modes = [mode('__proto__', { inputSchema: object(own) }), mode('constructor'), mode('toString')]
    const schema = schemaOf(modes, '111', { by: 'hasOwnProperty' })
    const properties = schema.properties as JsonSchema
    expect(Object.keys(properties)).toEqual(['hasOwnProperty', '__proto__', 'constructor'])
    expect(Object.entries(properties)[0]?.[1]).toMatchObject({ enum: ['__proto__', 'constructor', 'toString'] })
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema)
    expect(Object.getPrototypeOf(properties)).toBe(Object.prototype)
    const definitions = JSON.parse('{"__proto__":{"type":"string"}}') as JsonSchema
    const defined = schemaOf([mode('a', { inputSchema: object({}, { $defs: definitions }) })], '1')
    expect(Object.keys(defined.$defs as object)).toEqual(['__proto__'])
  })

  test('survives JSON serialization, whatever is available', () => {
    const modes = [mode('a', { inputSchema: object({ x: { type: 'number' } }, { required: ['x'] }) }), mode('b'), mode('c')]
    const made = declared(modes)
    for (const available of ['000', '001', '010', '011', '100', '101', '110', '111']) {
      const { inputSchema } = made.toolWith(toolOf(), available)
      expect(JSON.parse(JSON.stringify(inputSchema))).toEqual(inputSchema)
    }
  })

  test('of a single mode requires what that mode requires', () => {
    const tool = toolOf(object({ limit: { type: 'integer' } }, { required: ['limit'] }))
    const needy = mode('a', { inputSchema: object({ url: { type: 'string' } }, { required: ['url'] }) })
    const made = declared([needy, mode('b')], { tool })
    expect(made.inputOf(needy)).toMatchObject({ properties: { what: { enum: ['a'] } }, required: ['what', 'limit', 'url'] })
    expect(made.inputOf(mode('b'))).toMatchObject({ properties: { what: { enum: ['b'] } }, required: ['what', 'limit'] })
  })
})

describe('the tool that a client sees', () => {
  test('is the same object for the same tool and modes, so that it is serialized once', () => {
    const modes = declared([mode('a'), mode('b')])
    const [one, other] = [toolOf(), toolOf()]
    expect(modes.toolWith(one, '10')).toBe(modes.toolWith(one, '10'))
    expect(modes.toolWith(one, '10')).not.toBe(modes.toolWith(one, '01'))
    expect(modes.toolWith(one, '10')).not.toBe(modes.toolWith(other, '10'))
    const shown = modes.toolWith(one, '10')
    expect(modes.toolWith(shown, '10')).toBe(shown)
  })

  test('of a static tool is the same, whatever is available', () => {
    const modes = declared([mode('a'), mode('b')], { policy: 'static' })
    const tool = toolOf()
    expect(modes.toolWith(tool, '00')).toBe(modes.toolWith(tool, '11'))
  })

  test('keeps the other fields of the tool', () => {
    const tool: Tool = { ...toolOf(), title: 'Observe', annotations: { readOnlyHint: true }, _meta: { version: '2' } }
    const { inputSchema: _, ...rest } = declared([mode('a')]).toolWith(tool, '1')
    const { inputSchema: __, ...given } = tool
    expect(rest).toEqual(given)
  })
})

describe('modes for a client that does not re-list', () => {
  const filtered = declared([mode('logs', { count: ({ facts }) => facts.logs as number, whenEmpty: 'Wait.' }), mode('page')])

  test('are all listed, whatever data there is', () => {
    const { asStatic } = filtered
    expect(asStatic.policy).toBe('static')
    expect(asStatic.all).toBe(filtered.all)
    expect(isWorthListing(asStatic, '00')).toBe(true)
    const tool = toolOf()
    expect(asStatic.toolWith(tool, '00')).toBe(filtered.toolWith(tool, '11'))
    expect(modeMeta(asStatic, '01', at({ logs: 0 }))).toEqual({
      available_modes: ['page'],
      data_counts: { logs: 0 },
      hint: 'No data yet: logs. Wait.',
    })
  })

  test('are the same object if all are listed anyway', () => {
    const all = declared([mode('a')], { policy: 'static' })
    expect(all.asStatic).toBe(all)
    expect(filtered.asStatic.asStatic).toBe(filtered.asStatic)
  })
})

describe('conflicting modes are rejected', () => {
  test('none at all, and two with the same name', () => {
    expect(refusalOf([]).message).toBe('Tool "observe": it has no modes. Declare at least one, or make it a plain tool.')
    expect(refusalOf([mode('a'), mode('a')]).message).toContain('two modes "a"')
  })

  test.each(['anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref'])('a schema with %s at the top level', (keyword) => {
    const schema = object({}, { [keyword]: [] })
    expect(refusalOf([mode('a', { inputSchema: schema })]).message).toContain(`mode "a" uses ${keyword} at the top`)
    expect(refusalOf([mode('a')], { tool: toolOf(schema) }).message).toContain(`its input uses ${keyword} at the top`)
  })

  test('a combiner below the top level is valid', () => {
    expect(() =>
      declared([mode('a', { inputSchema: object({ id: { anyOf: [{ type: 'string' }, { type: 'number' }] } }) })]),
    ).not.toThrow()
  })

  test.each([
    'patternProperties',
    'propertyNames',
    'minProperties',
    'maxProperties',
    'dependentSchemas',
    'unevaluatedProperties',
  ])('a schema with %s, which applies to parameters of other modes', (keyword) => {
    const schema = object({}, { [keyword]: {} })
    expect(refusalOf([mode('a', { inputSchema: schema })]).details.problem).toContain(`uses ${keyword}`)
  })

  test.each(['#', '#/properties/next'])('a schema that refers to %s, which has another meaning here', (ref) => {
    const schema = object({ next: { type: 'object', properties: { next: { $ref: ref } } } })
    expect(refusalOf([mode('a', { inputSchema: schema })]).details.problem).toContain('Move that part into $defs')
  })

  test('text that looks like such a reference is not one', () => {
    const schema = object({ next: { type: 'string', description: 'Such as {"$ref":"#"}' } })
    expect(() => declared([mode('a', { inputSchema: schema })])).not.toThrow()
  })

  test('a schema that is not JSON', () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    expect(refusalOf([mode('a', { inputSchema: object({ circle }) })]).details.problem).toContain('is not valid JSON')
  })

  test('the mode parameter, declared again', () => {
    const what = { type: 'string' }
    expect(refusalOf([mode('a', { inputSchema: object({ what }) })]).message).toContain('mode "a" declares "what"')
    expect(refusalOf([mode('a')], { tool: toolOf(object({ what })) }).message).toContain('its input declares "what"')
    expect(() => declared([mode('a')], { by: 'constructor' })).not.toThrow()
  })

  test('a shared parameter, declared again by a mode', () => {
    const limit = { type: 'integer' }
    const refused = refusalOf([mode('a', { inputSchema: object({ limit }) })], { tool: toolOf(object({ limit })) })
    expect(refused.message).toContain('"limit" is declared for all modes and again in mode "a"')
    expect(refused.details.tool).toBe('observe')
  })

  test('a parameter with different meanings in two modes', () => {
    const modes = [
      mode('a', { inputSchema: object({ id: { type: 'string' } }) }),
      mode('b', { inputSchema: object({ id: { type: 'number' } }) }),
    ]
    expect(refusalOf(modes).message).toContain('"id" differs between mode "a" and mode "b". Rename one, or declare both alike')
  })

  test('but not one with another key order', () => {
    const modes = [
      mode('a', { inputSchema: object({ id: { type: 'string', minLength: 1 } }) }),
      mode('b', { inputSchema: object({ id: { minLength: 1, type: 'string' } }) }),
    ]
    expect(() => declared(modes)).not.toThrow()
  })

  test('different definitions with the same name', () => {
    const defining = (type: string) => object({}, { $defs: { point: { type } } })
    const modes = [mode('a', { inputSchema: defining('string') }), mode('b', { inputSchema: defining('number') })]
    expect(refusalOf(modes).message).toContain('two of its schemas define "point" differently')
    expect(() =>
      declared([mode('a', { inputSchema: defining('string') }), mode('b', { inputSchema: defining('string') })]),
    ).not.toThrow()
  })
})

describe('which modes are available', () => {
  const modes = declared([
    mode('logs'),
    mode('network', { available: ({ facts }) => (facts.network as number) > 0 }),
    mode('vitals', { available: ({ facts }) => facts.vitals === 1 }),
  ])

  test('is one character per mode, in order of declaration', () => {
    expect(availableModes(modes, at({ network: 2 }), never)).toBe('110')
    expect(modeNames(modes, '110')).toEqual(['logs', 'network'])
    expect(modeNames(modes, '000')).toEqual([])
  })

  test('a predicate that throws hides its own mode, leaves the others, and is reported', () => {
    const failing = mode('broken', {
      available: () => {
        throw new TypeError('no data')
      },
    })
    const seen: unknown[] = []
    const found = availableModes(declared([mode('a'), failing, mode('b')]), at(), (which, error) => seen.push(which, error))
    expect(found).toBe('101')
    expect(seen).toEqual([failing, new TypeError('no data')])
    expect(isModeAvailable(failing, at(), () => undefined)).toBe(false)
  })

  test('availability defaults to the count, and an explicit predicate takes precedence', () => {
    const count = ({ facts }: Snapshot): number => facts.network as number
    const counting = declared([
      mode('network', { count }),
      { ...mode('logs', { count }), available: true },
      mode('slow', { count, available: ({ facts }) => facts.network === 2 }),
    ])
    expect(availableModes(counting, at({ network: 0 }), never)).toBe('010')
    expect(availableModes(counting, at({ network: 1 }), never)).toBe('110')
    expect(availableModes(counting, at({ network: 2 }), never)).toBe('111')
  })

  test('a count that is not above zero means no data, and one that throws is reported', () => {
    const counts: unknown[] = [Number.NaN, -1, undefined, null, 'many']
    for (const count of counts)
      expect(availableModes(declared([mode('a', { count: () => count as number })]), at(), never)).toBe('0')
    const failing = mode('broken', {
      count: () => {
        throw new TypeError('no data')
      },
    })
    const seen: unknown[] = []
    expect(availableModes(declared([failing, mode('b')]), at(), ({ name }, error) => seen.push(name, error))).toBe('01')
    expect(seen).toEqual(['broken', new TypeError('no data')])
  })

  test('only true counts', () => {
    const truthy = mode('truthy', { available: () => 1 as unknown as boolean })
    expect(isModeAvailable(truthy, at(), never)).toBe(false)
  })

  test('predicates are evaluated by the function of the caller', () => {
    expect(isModeAvailable(mode('a', { available: () => false }), at(), never, () => true)).toBe(true)
  })

  test('a filtered tool without modes is not listed, a static one always is', () => {
    expect(isWorthListing(modes, '000')).toBe(false)
    expect(isWorthListing(modes, '001')).toBe(true)
    expect(isWorthListing(declared([mode('a')], { policy: 'static' }), '0')).toBe(true)
  })
})

describe('_meta of a composite tool', () => {
  const counting = (policy: ModePolicy) =>
    declared(
      [
        mode('logs', { count: ({ facts }) => facts.logs as number }),
        mode('network', {
          available: ({ facts }) => (facts.network as number) > 0,
          count: ({ facts }) => facts.network as number,
          whenEmpty: 'Load a page.',
        }),
        mode('page'),
      ],
      { policy },
    )

  test('of a filtered tool: modes with data, and their counts', () => {
    expect(modeMeta(counting('filtered'), '111', at({ logs: 47, network: 12 }))).toEqual({
      available_modes: ['logs', 'network', 'page'],
      data_counts: { logs: 47, network: 12 },
    })
    expect(modeMeta(counting('filtered'), '101', at({ logs: 0, network: 0 }))).toEqual({
      available_modes: ['logs', 'page'],
      data_counts: { logs: 0 },
    })
  })

  test('of a static tool: counts of all modes, and what to do for those without data', () => {
    expect(modeMeta(counting('static'), '101', at({ logs: 0, network: 0 }))).toEqual({
      available_modes: ['logs', 'page'],
      data_counts: { logs: 0, network: 0 },
      hint: 'No data yet: network. Load a page.',
    })
    expect(modeMeta(counting('static'), '111', at({ logs: 1, network: 1 }))).not.toHaveProperty('hint')
  })

  test('has no counts if no listed mode has one', () => {
    const modes = declared([mode('network', { count: ({ facts }) => facts.network as number }), mode('page')])
    expect(modeMeta(modes, '01', at({ network: 0 }))).toEqual({ available_modes: ['page'] })
    const broken = declared([mode('broken', { available: () => true, count: () => Number.NaN })])
    expect(modeMeta(broken, '1', at())).toEqual({ available_modes: ['broken'] })
  })

  test('contains the same advice once', () => {
    const empty = { available: () => false, count: () => 0 }
    const modes = declared(
      [
        mode('a', { ...empty, whenEmpty: 'Load a page.' }),
        mode('b', { ...empty, whenEmpty: 'Load a page.' }),
        mode('c', { ...empty, whenEmpty: 'Click.' }),
        mode('d', empty),
      ],
      { policy: 'static' },
    )
    expect(modeMeta(modes, '0000', at())?.hint).toBe('No data yet: a, b, c, d. Load a page. Click.')
  })

  test('is empty for a tool without counts', () => {
    const filtered = declared([mode('a'), mode('b', { available: () => true })])
    expect(hasModeMeta(filtered)).toBe(false)
    expect(modeMeta(filtered, '11', at())).toBeUndefined()
    expect(modeMeta(declared([mode('a')], { policy: 'static' }), '1', at())).toBeUndefined()
  })

  test('lists the available modes of a static tool without counts', () => {
    const modes = declared([mode('a'), mode('b', { available: () => false })], { policy: 'static' })
    expect(hasModeMeta(modes)).toBe(true)
    expect(modeMeta(modes, '10', at())).toEqual({ available_modes: ['a'], hint: 'No data yet: b.' })
  })

  test('omits a count that throws', () => {
    const modes = declared([
      mode('throws', {
        count: () => {
          throw new Error('gone')
        },
      }),
      mode('endless', { count: () => Number.POSITIVE_INFINITY }),
      mode('none', { count: () => Number.NaN }),
      mode('text', { count: () => 'many' as unknown as number }),
      mode('three', { count: () => 3 }),
    ])
    expect(modeMeta(modes, '11111', at())?.data_counts).toEqual({ three: 3 })
  })

  test('supports names of Object.prototype properties', () => {
    const modes = declared([mode('__proto__', { count: () => 1 }), mode('constructor', { count: () => 2 })])
    const meta = modeMeta(modes, '11', at())
    expect(JSON.stringify(meta?.data_counts)).toBe('{"__proto__":1,"constructor":2}')
  })

  test('advice comes from the author, or is a default', () => {
    expect(whenEmpty(mode('a', { whenEmpty: 'Click.' }))).toBe('Click.')
    expect(whenEmpty(mode('a'))).toBe('No data for "a" yet.')
  })
})

test('for any modes, the enum has the available ones in order, and counts do not change the fingerprint', () => {
  const parameter = fc.constantFrom('limit', 'since', 'url', '__proto__', 'constructor')
  const modeArb = fc.record({
    name: fc.string({ minLength: 1, maxLength: 8 }),
    takes: fc.uniqueArray(parameter, { maxLength: 3 }),
    needs: fc.boolean(),
    isThere: fc.boolean(),
    count: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
  })
  fc.assert(
    fc.property(
      fc.uniqueArray(modeArb, { minLength: 1, maxLength: 6, selector: ({ name }) => name }),
      fc.constantFrom<ModePolicy>('filtered', 'static'),
      (given, policy) => {
        const modes = declared(
          given.map(({ name, takes, needs, isThere, count }) => ({
            name,
            description: name,
            available: () => isThere,
            ...(count !== undefined && { count: () => count }),
            inputSchema: object(
              Object.fromEntries(takes.map((each) => [each, { type: 'string' }])),
              needs ? { required: takes } : {},
            ),
          })),
          { policy },
        )
        const available = availableModes(modes, at(), never)
        const tool = modes.toolWith(toolOf(), available)
        const listed = given.filter(({ isThere }) => policy === 'static' || isThere)
        const properties = tool.inputSchema.properties as { readonly what: { readonly enum: readonly string[] } }
        expect(properties.what.enum).toEqual(listed.map(({ name }) => name))
        expect(modeNames(modes, available)).toEqual(given.filter(({ isThere }) => isThere).map(({ name }) => name))
        expect(new Set(Object.keys(properties))).toEqual(new Set(['what', ...listed.flatMap(({ takes }) => takes)]))
        expect(canonicalJson(JSON.parse(JSON.stringify(tool)))).toBe(canonicalJson(tool))
        const meta = modeMeta(modes, available, at())
        expect(toolFingerprint({ ...tool, _meta: { ...meta } })).toBe(toolFingerprint(tool))
        const counted = listed.filter(({ count }) => count !== undefined)
        expect(Object.entries(meta?.data_counts ?? {})).toHaveLength(counted.length)
      },
    ),
  )
})
