import { canonicalJson } from '../base/canonical.ts'
import { Failure } from '../base/failure.ts'
import type { Predicate, Snapshot } from './entry.ts'
import { type Evaluate, evaluateDirectly } from './facts.ts'
import type { JsonSchema, Tool } from './tool.ts'

/**
 * What a client is shown of a composite tool's modes. `filtered`: only those that have something behind them now, and no tool
 * when none has. `static`: all of them, always; `_meta` says which have something.
 */
export type ModePolicy = 'filtered' | 'static'

/** One value of a composite tool's enumerated parameter. */
export interface Mode {
  readonly name: string
  readonly about: string
  /** Whether it has data now; a mode without it always has. */
  readonly available?: Predicate
  /** How much data it has, read from what is counted already. */
  readonly count?: (snapshot: Snapshot) => number
  /** What to do to get some, for whoever asks while there is nothing. */
  readonly whenEmpty?: string
  /** Parameters of this mode alone. */
  readonly input?: JsonSchema
}

/** A mode as its author declares it. */
export interface ModeDeclaration extends Omit<Mode, 'available'> {
  /** Whether it has data now. Default: whether `count` is above zero; always, where there is no `count` either. */
  readonly available?: Predicate | true
}

/** A composite tool: the parameter that chooses, and what it chooses from. */
export interface Modes {
  readonly by: string
  readonly policy: ModePolicy
  readonly all: readonly Mode[]
  /** The same modes, all of them listed: for a client that does not read the list again. */
  readonly asStatic: Modes
  /** The tool as a client sees it while these modes are available; the same object for the same tool and modes. */
  toolWith(tool: Tool, available: ModeSet): Tool
  /** What a call of this one mode takes and needs. */
  inputOf(mode: Mode): Tool['inputSchema']
}

/** Which modes are available, one character each in the order of declaration: `1` for one that is. */
export type ModeSet = string

export interface ModesDeclaration {
  /** The tool, with the parameters that every mode shares. */
  readonly tool: Tool
  readonly by: string
  readonly policy: ModePolicy
  readonly modes: readonly ModeDeclaration[]
}

/** A composite tool from its declaration; refuses modes whose parameters do not go together. */
export function declareModes({ tool, by, policy: declared, modes }: ModesDeclaration): Modes {
  const all = modes.map(withAvailability)
  if (all.length === 0) throw invalidSchema(tool.name, 'it has no modes. Declare at least one, or make it a plain tool')
  const twice = all.find(({ name }, index) => all.findIndex((mode) => mode.name === name) !== index)
  if (twice !== undefined) throw invalidSchema(tool.name, `it has two modes "${twice.name}". Rename one`)
  const common = tool.inputSchema
  for (const [where, schema] of [
    ['its input', common] as const,
    ...all.map((mode) => [`mode "${mode.name}"`, mode.input ?? {}] as const),
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
      return { ...schema, required: [by, ...requiredOf(common), ...requiredOf(mode.input ?? {})] }
    },
  })
  const everyMode = modesWith('static')
  return declared === 'static' ? everyMode : modesWith('filtered')
}

/** The mode with the condition that its declaration implies; the same object where it implies none. */
function withAvailability(declared: ModeDeclaration): Mode {
  const { available, ...mode } = declared
  if (available === true) return mode
  const { count } = mode
  if (available !== undefined || count === undefined) return declared as Mode
  return { ...mode, available: (snapshot) => count(snapshot) > 0 }
}

/** Refuses a schema that cannot be one part of the tool's own. */
function checkShape(tool: string, by: string, where: string, schema: JsonSchema): void {
  const combiner = combiners.find((keyword) => Object.hasOwn(schema, keyword))
  if (combiner !== undefined)
    throw invalidSchema(tool, `${where} uses ${combiner} at the top, which many clients refuse. Write one plain object`)
  const allVersion = objectKeywords.find((keyword) => Object.hasOwn(schema, keyword))
  if (allVersion !== undefined)
    throw invalidSchema(
      tool,
      `${where} uses ${allVersion}, which speaks of all parameters, and here they are of several modes. Leave it out`,
    )
  if (/"\$ref":"#(?!\/\$defs\/|\/definitions\/)/u.test(textOf(tool, where, schema)))
    throw invalidSchema(tool, `${where} refers to itself as a whole, which is another whole here. Put that part into $defs`)
  if (Object.hasOwn(propertiesOf(schema), by))
    throw invalidSchema(tool, `${where} declares "${by}", the parameter that chooses the mode. Rename one of them`)
}

/** The modes that have data now; a predicate that throws counts as false and is handed to `report`. */
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

/** Whether this one has data now. */
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

/** Whether a client sees the tool at all while these modes are available. */
export function isWorthListing({ policy }: Modes, available: ModeSet): boolean {
  return policy === 'static' || available.includes('1')
}

/** The names of these modes, in the order of declaration. */
export function modeNames({ all }: Modes, available: ModeSet): string[] {
  return all.flatMap(({ name }, index) => (available[index] === '1' ? [name] : []))
}

/** What `_meta` says of a composite tool's data. */
export interface ModeMeta {
  readonly available_modes: readonly string[]
  /** How much data each listed mode has that is counted; absent where none is. */
  readonly data_counts?: { readonly [mode: string]: number }
  /** What to do for data, where modes are listed that have none. */
  readonly hint?: string
}

/** Whether `_meta` has something to say: data is counted, or modes are listed that may have none. */
export function hasModeMeta({ all, policy }: Modes): boolean {
  return all.some(({ count, available }) => count !== undefined || (policy === 'static' && available !== undefined))
}

/** Which modes have data and how much there is of each that is listed; nothing for a tool of which there is nothing to say. */
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

/** What to do for the data of a mode that has none. */
export function whenEmpty({ name, whenEmpty: advice }: Mode): string {
  return advice ?? `There is nothing for "${name}" yet.`
}

function emptyHint({ all }: Modes, available: ModeSet): string | undefined {
  const empty = all.filter((_, index) => available[index] !== '1')
  if (empty.length === 0) return undefined
  const advice = [...new Set(empty.flatMap((mode) => (mode.whenEmpty === undefined ? [] : [mode.whenEmpty])))]
  return [`No data yet: ${empty.map(({ name }) => name).join(', ')}.`, ...advice].join(' ')
}

// A count that cannot be had is left out: it is information, and no reason to refuse a list.
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
    throw invalidSchema(
      tool,
      `${where} holds something that JSON cannot (${error instanceof Error ? error.message : String(error)})`,
    )
  }
}

/** A parameter that two modes share is written once in the schema, so it must mean the same in both. */
function checkConsistency(tool: Tool, all: readonly Mode[]): void {
  const declared = new Map<string, { readonly where: string; readonly text: string }>()
  const shared = propertiesOf(tool.inputSchema)
  const definitions = new Map<string, string>()
  for (const [where, schema] of [
    ['the tool', tool.inputSchema] as const,
    ...all.map((mode) => [`mode "${mode.name}"`, mode.input ?? {}] as const),
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

/** One plain object schema for these modes: the parameter that chooses, what they share, and what each adds. */
function schemaOf(common: Tool['inputSchema'], by: string, listed: readonly Mode[]): Tool['inputSchema'] {
  const { properties: _p, required: _r, $defs: _d, definitions: _o, ...rest } = common
  return {
    ...rest,
    type: 'object',
    properties: {
      [by]: {
        type: 'string',
        enum: listed.map(({ name }) => name),
        description: listed.map(({ name, about }) => `${name}: ${about}`).join('\n'),
      },
      ...propertiesOf(common),
      ...Object.fromEntries([...modeParameters(listed)]),
    },
    required: [by, ...requiredOf(common)],
    ...definitionsOf([common, ...listed.map(({ input = {} }) => input)]),
    additionalProperties: false,
  }
}

/** What these schemas refer to, put together. */
function definitionsOf(schemas: readonly JsonSchema[]): JsonSchema {
  return Object.fromEntries(
    definitionKeywords.flatMap((keyword) => {
      const found = schemas.flatMap((schema) => Object.entries((schema[keyword] ?? {}) as JsonSchema))
      return found.length === 0 ? [] : [[keyword, Object.fromEntries(found)] as const]
    }),
  )
}

/** The parameters that modes add, each saying which modes take it where not all of them do. */
function modeParameters(listed: readonly Mode[]): Map<string, JsonSchema> {
  const parameterModes = new Map<string, { property: JsonSchema; modes: string[]; required: string[] }>()
  for (const { name: mode, input = {} } of listed) {
    for (const [name, property] of Object.entries(propertiesOf(input))) {
      const found = parameterModes.get(name) ?? { property, modes: [], required: [] }
      found.modes.push(mode)
      if (requiredOf(input).includes(name)) found.required.push(mode)
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
  // A property may be written as `true`, which has no place for a note.
  if (note === '' || typeof property === 'boolean') return property
  const { description } = property
  return { ...property, description: typeof description === 'string' ? `(${note}) ${description}` : `(${note})` }
}

function invalidSchema(tool: string, problem: string): Failure {
  return new Failure('invalid_schema', `Tool "${tool}": ${problem}.`, { tool, problem })
}
