import { canonicalJson } from './canonical.ts'
import type { Predicate, Snapshot } from './entry.ts'
import { type Evaluate, evaluated } from './facts.ts'
import { Failure } from './failure.ts'
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
  /** Whether there is something behind it now; always, without one. */
  readonly available?: Predicate
  /** How much there is, read from what is counted already. */
  readonly count?: (snapshot: Snapshot) => number
  /** What to do to get some, for whoever asks while there is nothing. */
  readonly whenEmpty?: string
  /** Parameters of this mode alone. */
  readonly input?: JsonSchema
}

/** A composite tool: the parameter that chooses, and what it chooses from. */
export interface Modes {
  readonly by: string
  readonly policy: ModePolicy
  readonly all: readonly Mode[]
  /** The definition that a client sees while these modes are available; the same object for the same modes. */
  toolWith(available: ModeSet): Tool
}

/** Which modes are available, one character each in the order of declaration: `1` for one that is. */
export type ModeSet = string

export interface ModesDeclaration {
  /** The tool, with the parameters that every mode shares. */
  readonly tool: Tool
  readonly by: string
  readonly policy: ModePolicy
  readonly modes: readonly Mode[]
}

/** A composite tool from its declaration; refuses modes whose parameters do not go together. */
export function declareModes({ tool, by, policy, modes: all }: ModesDeclaration): Modes {
  if (all.length === 0) throw unfit(tool.name, `it has no modes. Declare at least one, or make it a plain tool`)
  for (const [where, schema] of [
    ['its input', tool.inputSchema] as const,
    ...all.map((mode) => [`mode "${mode.name}"`, mode.input] as const),
  ]) {
    const combiner = combiners.find((keyword) => schema !== undefined && keyword in schema)
    if (combiner !== undefined)
      throw unfit(tool.name, `${where} uses ${combiner} at the top, which many clients refuse. Write one plain object`)
    if (schema !== undefined && by in propertiesOf(schema))
      throw unfit(tool.name, `${where} declares "${by}", the parameter that chooses the mode. Rename one of them`)
  }
  checkAgreement(tool, all)
  const made = new Map<ModeSet, Tool>()
  return {
    by,
    policy,
    all,
    toolWith(available) {
      const key = policy === 'static' ? '1'.repeat(all.length) : available
      const found = made.get(key)
      if (found !== undefined) return found
      const listed = all.filter((_, index) => key[index] === '1')
      const shown = { ...tool, inputSchema: schemaOf(tool.inputSchema, by, listed) }
      made.set(key, shown)
      return shown
    },
  }
}

/** The modes that have something behind them now; a predicate that throws counts as false and is handed to `report`. */
export function availableModes(
  { all }: Modes,
  snapshot: Snapshot,
  report: (mode: Mode, error: unknown) => void,
  evaluate: Evaluate = evaluated,
): ModeSet {
  let found = ''
  for (const mode of all) found += isModeAvailable(mode, snapshot, report, evaluate) ? '1' : '0'
  return found
}

/** Whether this one has something behind it now. */
export function isModeAvailable(
  mode: Mode,
  snapshot: Snapshot,
  report: (mode: Mode, error: unknown) => void,
  evaluate: Evaluate = evaluated,
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
  readonly data_counts: { readonly [mode: string]: number }
  /** What to do for data, where modes are listed that have none. */
  readonly hint?: string
}

/** Which modes have data and how much there is of each that is listed; nothing for a tool that counts nothing. */
export function modeMeta(modes: Modes, available: ModeSet, snapshot: Snapshot): ModeMeta | undefined {
  if (modes.all.every(({ count }) => count === undefined)) return undefined
  const counts = modes.all.flatMap(({ name, count }, index) => {
    if (count === undefined || (modes.policy === 'filtered' && available[index] !== '1')) return []
    const number = counted(count, snapshot)
    return number === undefined ? [] : [[name, number] as const]
  })
  const hint = modes.policy === 'static' ? emptyHint(modes, available) : undefined
  return {
    available_modes: modeNames(modes, available),
    data_counts: Object.fromEntries(counts),
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

const propertiesOf = (schema: JsonSchema): { readonly [name: string]: JsonSchema } =>
  (schema.properties ?? {}) as { readonly [name: string]: JsonSchema }

const requiredOf = (schema: JsonSchema): readonly string[] => (Array.isArray(schema.required) ? schema.required : [])

/** A parameter that two modes share is written once in the schema, so it must mean the same in both. */
function checkAgreement(tool: Tool, all: readonly Mode[]): void {
  const declared = new Map<string, { readonly where: string; readonly text: string }>()
  const shared = propertiesOf(tool.inputSchema)
  const definitions = new Map<string, string>()
  for (const [where, schema] of [
    ['the tool', tool.inputSchema] as const,
    ...all.map((mode) => [`mode "${mode.name}"`, mode.input ?? {}] as const),
  ]) {
    for (const [name, property] of Object.entries(propertiesOf(schema))) {
      if (where !== 'the tool' && Object.hasOwn(shared, name))
        throw unfit(tool.name, `the parameter "${name}" is declared for all modes and again in ${where}. Remove one`)
      const text = canonicalJson(property)
      const other = declared.get(name)
      if (other !== undefined && other.text !== text)
        throw unfit(
          tool.name,
          `the parameter "${name}" differs between ${other.where} and ${where}. Rename one, or declare both alike`,
        )
      declared.set(name, { where, text })
    }
    for (const [name, definition] of Object.entries((schema.$defs ?? {}) as JsonSchema)) {
      const text = canonicalJson(definition)
      if ((definitions.get(name) ?? text) !== text)
        throw unfit(tool.name, `two of its schemas define "${name}" differently. Rename one`)
      definitions.set(name, text)
    }
  }
}

/** One plain object schema for these modes: the parameter that chooses, what they share, and what each adds. */
function schemaOf(common: Tool['inputSchema'], by: string, listed: readonly Mode[]): Tool['inputSchema'] {
  const { properties: _, required: __, ...rest } = common
  const definitions = Object.assign({}, common.$defs, ...listed.map((mode) => mode.input?.$defs)) as JsonSchema
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
      ...Object.fromEntries([...ownParameters(listed)]),
    },
    required: [by, ...requiredOf(common)],
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
    additionalProperties: false,
  }
}

/** The parameters that modes add, each saying which modes take it where not all of them do. */
function ownParameters(listed: readonly Mode[]): Map<string, JsonSchema> {
  const takers = new Map<string, { property: JsonSchema; modes: string[]; required: string[] }>()
  for (const { name: mode, input = {} } of listed) {
    for (const [name, property] of Object.entries(propertiesOf(input))) {
      const found = takers.get(name) ?? { property, modes: [], required: [] }
      found.modes.push(mode)
      if (requiredOf(input).includes(name)) found.required.push(mode)
      takers.set(name, found)
    }
  }
  return new Map([...takers].map(([name, taker]) => [name, withTakers(taker, listed.length)]))
}

function withTakers(
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
  if (note === '') return property
  return {
    ...property,
    description: property.description === undefined ? `(${note})` : `(${note}) ${String(property.description)}`,
  }
}

function unfit(tool: string, problem: string): Failure {
  return new Failure('invalid_schema', `Tool "${tool}": ${problem}.`, { tool, problem })
}
