import { canonicalJson } from '../base/canonical.ts'
import { Failure } from '../base/failure.ts'
import type { Predicate, Snapshot } from './entry.ts'
import { type Evaluate, evaluateDirectly } from './facts.ts'
import type { JsonSchema, Tool } from './tool.ts'

/**
 * Listed modes of a composite tool. `filtered`: only those with data now, and no tool if none has any. `static`: always all; `_meta`
 * says which have data.
 */
export type ModePolicy = 'filtered' | 'static'

/** One value of the mode parameter of a composite tool. */
export interface Mode {
  readonly name: string
  readonly description: string
  /** Tests for data; without it, the mode is always available. */
  readonly available?: Predicate
  /** Number of items, from data that is already counted. */
  readonly count?: (snapshot: Snapshot) => number
  /** Advice for a call without data. */
  readonly whenEmpty?: string
  /** Parameters of this mode only. */
  readonly inputSchema?: JsonSchema
}

/** Declaration of a mode. */
export interface ModeDeclaration extends Omit<Mode, 'available'> {
  /** Tests for data. Default: `count` is above zero, or always without `count`. */
  readonly available?: Predicate | true
}

/** Composite tool: the mode parameter and its modes. */
export interface Modes {
  readonly by: string
  readonly policy: ModePolicy
  readonly all: readonly Mode[]
  /** Variant that lists all modes, for clients that do not list again. */
  readonly asStatic: Modes
  /** Returns the tool for these available modes; the same object for the same input. */
  toolWith(tool: Tool, available: ModeSet): Tool
  /** Input schema of one mode. */
  inputOf(mode: Mode): Tool['inputSchema']
}

/** Available modes as one character each, in declaration order: `1` if available. */
export type ModeSet = string

export interface ModesDeclaration {
  /** The tool with the shared parameters. */
  readonly tool: Tool
  readonly by: string
  readonly policy: ModePolicy
  readonly modes: readonly ModeDeclaration[]
}

/** Creates a composite tool; throws if the parameters of its modes conflict. */
export function declareModes({ tool, by, policy: declared, modes }: ModesDeclaration): Modes {
  const all = modes.map(withAvailability)
  if (all.length === 0) throw invalidSchema(tool.name, 'it has no modes. Declare at least one, or make it a plain tool')
  const twice = all.find(({ name }, index) => all.findIndex((mode) => mode.name === name) !== index)
  if (twice !== undefined) throw invalidSchema(tool.name, `it has two modes "${twice.name}". Rename one`)
  const common = tool.inputSchema
  for (const [where, schema] of [
    ['its input', common] as const,
    ...all.map((mode) => [`mode "${mode.name}"`, mode.inputSchema ?? {}] as const),
  ])
    checkShape(tool.name, by, where, schema)
  checkConsistency(tool, all)
  const schemas = new Map<ModeSet, Tool['inputSchema']>()
  const schemaWith = (listed: ModeSet): Tool['inputSchema'] => {
    const found = schemas.get(listed)
    if (found !== undefined) return found
    const made = schemaOf(
      common,
      by,
      all.filter((_, index) => listed[index] === '1'),
    )
    schemas.set(listed, made)
    return made
  }
  const tools = new WeakMap<Tool, WeakMap<Tool['inputSchema'], Tool>>()
  const modesWith = (policy: ModePolicy): Modes => ({
    by,
    policy,
    all,
    get asStatic() {
      return everyMode
    },
    toolWith(given, available) {
      const schema = schemaWith(policy === 'static' ? '1'.repeat(all.length) : available)
      if (given.inputSchema === schema) return given
      const known = tools.get(given) ?? new WeakMap<Tool['inputSchema'], Tool>()
      tools.set(given, known)
      const found = known.get(schema)
      if (found !== undefined) return found
      const shown = { ...given, inputSchema: schema }
      known.set(schema, shown)
      return shown
    },
    inputOf(mode) {
      const schema = schemaOf(common, by, [mode])
      return { ...schema, required: [by, ...requiredOf(common), ...requiredOf(mode.inputSchema ?? {})] }
    },
  })
  const everyMode = modesWith('static')
  return declared === 'static' ? everyMode : modesWith('filtered')
}

/** Adds the predicate implied by `count`. */
function withAvailability(declared: ModeDeclaration): Mode {
  const { available, ...mode } = declared
  if (available === true) return mode
  const { count } = mode
  if (available !== undefined || count === undefined) return declared as Mode
  return { ...mode, available: (snapshot) => count(snapshot) > 0 }
}

/** Throws for a schema that cannot be merged into that of the tool. */
function checkShape(tool: string, by: string, where: string, schema: JsonSchema): void {
  const combiner = combiners.find((keyword) => Object.hasOwn(schema, keyword))
  if (combiner !== undefined)
    throw invalidSchema(tool, `${where} uses ${combiner} at the top, which many clients refuse. Write one plain object`)
  const keyword = objectKeywords.find((each) => Object.hasOwn(schema, each))
  if (keyword !== undefined)
    throw invalidSchema(
      tool,
      `${where} uses ${keyword}, which applies to all parameters and cannot be merged across modes. Remove it`,
    )
  if (/"\$ref":"#(?!\/\$defs\/|\/definitions\/)/u.test(textOf(tool, where, schema)))
    throw invalidSchema(
      tool,
      `${where} has a $ref to its own root, which differs in the merged schema. Move that part into $defs`,
    )
  if (Object.hasOwn(propertiesOf(schema), by))
    throw invalidSchema(tool, `${where} declares "${by}", the parameter that chooses the mode. Rename one of them`)
}

/** Returns the modes with data; a predicate that throws counts as false and is reported. */
export function availableModes(
  { all }: Modes,
  snapshot: Snapshot,
  report: (mode: Mode, error: unknown) => void,
  evaluate: Evaluate = evaluateDirectly,
): ModeSet {
  let found = ''
  for (const mode of all) found += isModeAvailable(mode, snapshot, report, evaluate) ? '1' : '0'
  return found
}

export function isModeAvailable(
  mode: Mode,
  snapshot: Snapshot,
  report: (mode: Mode, error: unknown) => void,
  evaluate: Evaluate = evaluateDirectly,
): boolean {
  if (mode.available === undefined) return true
  try {
    return evaluate(mode.available, snapshot)
  } catch (error) {
    report(mode, error)
    return false
  }
}

/** True if the tool is listed with these available modes. */
export function isWorthListing({ policy }: Modes, available: ModeSet): boolean {
  return policy === 'static' || available.includes('1')
}

/** Returns mode names in declaration order. */
export function modeNames({ all }: Modes, available: ModeSet): string[] {
  return all.flatMap(({ name }, index) => (available[index] === '1' ? [name] : []))
}

/** `_meta` of a composite tool. */
export interface ModeMeta {
  readonly available_modes: readonly string[]
  /** Counts of the listed modes that have a `count`. */
  readonly data_counts?: { readonly [mode: string]: number }
  /** Advice for listed modes without data. */
  readonly hint?: string
}

/** True if a mode has a `count`, or may be listed without data. */
export function hasModeMeta({ all, policy }: Modes): boolean {
  return all.some(({ count, available }) => count !== undefined || (policy === 'static' && available !== undefined))
}

/** Returns the `_meta` of a composite tool; `undefined` if there is nothing to report. */
export function modeMeta(modes: Modes, available: ModeSet, snapshot: Snapshot): ModeMeta | undefined {
  if (!hasModeMeta(modes)) return undefined
  const counts = modes.all.flatMap(({ name, count }, index) => {
    if (count === undefined || (modes.policy === 'filtered' && available[index] !== '1')) return []
    const number = counted(count, snapshot)
    return number === undefined ? [] : [[name, number] as const]
  })
  const hint = modes.policy === 'static' ? emptyHint(modes, available) : undefined
  return {
    available_modes: modeNames(modes, available),
    ...(counts.length > 0 && { data_counts: Object.fromEntries(counts) }),
    ...(hint !== undefined && { hint }),
  }
}

/** Returns the advice for a mode without data. */
export function whenEmpty({ name, whenEmpty: advice }: Mode): string {
  return advice ?? `No data for "${name}" yet.`
}

function emptyHint({ all }: Modes, available: ModeSet): string | undefined {
  const empty = all.filter((_, index) => available[index] !== '1')
  if (empty.length === 0) return undefined
  const advice = [...new Set(empty.flatMap((mode) => (mode.whenEmpty === undefined ? [] : [mode.whenEmpty])))]
  return [`No data yet: ${empty.map(({ name }) => name).join(', ')}.`, ...advice].join(' ')
}

// A failing count is omitted: it is informational and must not fail the list.
function counted(count: NonNullable<Mode['count']>, snapshot: Snapshot): number | undefined {
  try {
    const number = count(snapshot)
    return Number.isFinite(number) ? number : undefined
  } catch {
    return undefined
  }
}

const combiners = ['anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref'] as const

const objectKeywords = [
  'patternProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'dependentSchemas',
  'unevaluatedProperties',
] as const
const definitionKeywords = ['$defs', 'definitions'] as const

const propertiesOf = (schema: JsonSchema): { readonly [name: string]: JsonSchema } =>
  (schema.properties ?? {}) as { readonly [name: string]: JsonSchema }

const requiredOf = (schema: JsonSchema): readonly string[] => (Array.isArray(schema.required) ? schema.required : [])

function textOf(tool: string, where: string, schema: JsonSchema): string {
  try {
    return canonicalJson(schema)
  } catch (error) {
    throw invalidSchema(tool, `${where} is not valid JSON (${error instanceof Error ? error.message : String(error)})`)
  }
}

/** A parameter shared by two modes appears once in the schema, so both declarations must be equal. */
function checkConsistency(tool: Tool, all: readonly Mode[]): void {
  const declared = new Map<string, { readonly where: string; readonly text: string }>()
  const shared = propertiesOf(tool.inputSchema)
  const definitions = new Map<string, string>()
  for (const [where, schema] of [
    ['the tool', tool.inputSchema] as const,
    ...all.map((mode) => [`mode "${mode.name}"`, mode.inputSchema ?? {}] as const),
  ]) {
    for (const [name, property] of Object.entries(propertiesOf(schema))) {
      if (where !== 'the tool' && Object.hasOwn(shared, name))
        throw invalidSchema(tool.name, `the parameter "${name}" is declared for all modes and again in ${where}. Remove one`)
      const text = canonicalJson(property)
      const other = declared.get(name)
      if (other !== undefined && other.text !== text)
        throw invalidSchema(
          tool.name,
          `the parameter "${name}" differs between ${other.where} and ${where}. Rename one, or declare both alike`,
        )
      declared.set(name, { where, text })
    }
    for (const keyword of definitionKeywords) {
      for (const [name, definition] of Object.entries((schema[keyword] ?? {}) as JsonSchema)) {
        const text = canonicalJson(definition)
        const key = `${keyword}/${name}`
        if ((definitions.get(key) ?? text) !== text)
          throw invalidSchema(tool.name, `two of its schemas define "${name}" differently. Rename one`)
        definitions.set(key, text)
      }
    }
  }
}

/** Merges the mode parameter, the shared parameters and those of each mode into one object schema. */
function schemaOf(common: Tool['inputSchema'], by: string, listed: readonly Mode[]): Tool['inputSchema'] {
  const { properties: _p, required: _r, $defs: _d, definitions: _o, ...rest } = common
  return {
    ...rest,
    type: 'object',
    properties: {
      [by]: {
        type: 'string',
        enum: listed.map(({ name }) => name),
        description: listed.map(({ name, description }) => `${name}: ${description}`).join('\n'),
      },
      ...propertiesOf(common),
      ...Object.fromEntries([...modeParameters(listed)]),
    },
    required: [by, ...requiredOf(common)],
    ...definitionsOf([common, ...listed.map(({ inputSchema = {} }) => inputSchema)]),
    additionalProperties: false,
  }
}

function definitionsOf(schemas: readonly JsonSchema[]): JsonSchema {
  return Object.fromEntries(
    definitionKeywords.flatMap((keyword) => {
      const found = schemas.flatMap((schema) => Object.entries((schema[keyword] ?? {}) as JsonSchema))
      return found.length === 0 ? [] : [[keyword, Object.fromEntries(found)] as const]
    }),
  )
}

/** Returns the parameters of the modes; a parameter that not all modes accept names its modes. */
function modeParameters(listed: readonly Mode[]): Map<string, JsonSchema> {
  const parameterModes = new Map<string, { property: JsonSchema; modes: string[]; required: string[] }>()
  for (const { name: mode, inputSchema = {} } of listed) {
    for (const [name, property] of Object.entries(propertiesOf(inputSchema))) {
      const found = parameterModes.get(name) ?? { property, modes: [], required: [] }
      found.modes.push(mode)
      if (requiredOf(inputSchema).includes(name)) found.required.push(mode)
      parameterModes.set(name, found)
    }
  }
  return new Map([...parameterModes].map(([name, taker]) => [name, withModeNote(taker, listed.length)]))
}

function withModeNote(
  {
    property,
    modes,
    required,
  }: { readonly property: JsonSchema; readonly modes: readonly string[]; readonly required: readonly string[] },
  total: number,
): JsonSchema {
  const takes = modes.length === total ? [] : [modes.join(', ')]
  const needs =
    required.length === 0 ? [] : required.length === modes.length ? ['required'] : [`required for ${required.join(', ')}`]
  const note = [...takes, ...needs].join('; ')
  // A boolean schema cannot carry a description.
  if (note === '' || typeof property === 'boolean') return property
  const { description } = property
  return { ...property, description: typeof description === 'string' ? `(${note}) ${description}` : `(${note})` }
}

function invalidSchema(tool: string, problem: string): Failure {
  return new Failure('invalid_schema', `Tool "${tool}": ${problem}.`, { tool, problem })
}
