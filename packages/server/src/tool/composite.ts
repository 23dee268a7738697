import {
  declareModes,
  type Facts,
  Failure,
  isModeAvailable,
  isRecord,
  type Mode,
  type ModeDeclaration,
  type ModePolicy,
  type Modes,
  nearest,
  nearestHint,
  type Predicate,
  type Problem,
  printable,
  type Snapshot,
  type Tool,
  whenEmpty,
} from '@unfold-mcp/core'
import { type InputSchema, inputSchema, type SchemaSource, type ValidationResult, type ValueOf } from '../schema/schema.ts'
import type { ToolContext } from './context.ts'
import { declared, type Keys } from './declared.ts'
import type { ToolHandler } from './entry.ts'
import type { HandlerResult } from './result.ts'

/** One mode of a composite tool as its author declares it. */
export type ModeConfig<I extends SchemaSource | undefined = SchemaSource | undefined, F extends Facts = Facts> = ModeSettings<
  I,
  F
> &
  (
    | {
        /** What the mode gives, for the model. */
        readonly description: string
        /** Former name of `description`. */
        readonly about?: string
      }
    | { readonly description?: string; readonly about: string }
  )

/** Settings of a mode except its description. */
export interface ModeSettings<I extends SchemaSource | undefined, F extends Facts> {
  /**
   * Returns whether the mode has data now. Default: `count` is above zero, or always if there is no `count`. Use `true` for a mode
   * that is worth calling even at zero.
   */
  readonly available?: Predicate<F> | true
  /** Returns the amount of data. It is called often, so read a counter instead of counting. */
  readonly count?: (snapshot: Snapshot<F>) => number
  /** Tells the model how to get data when there is none. */
  readonly whenEmpty?: string
  /** Parameters of this mode only. */
  readonly inputSchema?: I
  /** Former name of `inputSchema`. */
  readonly input?: I
}

const modeKeys: Keys<ModeConfig> = {
  description: true,
  about: true,
  available: true,
  count: true,
  whenEmpty: true,
  inputSchema: true,
  input: true,
}

/** Modes by name. */
export type ModeConfigs<F extends Facts> = { readonly [mode: string]: ModeConfig<SchemaSource | undefined, F> }

/** The modes of a composite tool, and the parameter that chooses between them. */
export interface CompositeConfig<By extends string, M> {
  /** The parameter that chooses the mode, such as `what`, `target` or `format`. */
  readonly by: By
  /** `filtered` (default) lists only modes that have data; `static` lists all. */
  readonly policy?: ModePolicy
  readonly modes: M
}

type Given<I> = [I] extends [undefined] ? unknown : ValueOf<I>
type Flat<T> = { [K in keyof T]: T[K] }

type InputOfMode<M> = M extends { readonly inputSchema: infer I } ? I : M extends { readonly input: infer I } ? I : undefined

/** Input of a mode's handler: the mode, the shared parameters, and the parameters of this mode. */
export type ModeInput<By extends string, Name, Common, M> = Flat<{ [K in By]: Name } & Given<Common> & Given<InputOfMode<M>>>

/** One handler per mode; the compiler rejects a missing or an undeclared one. */
export type ModeHandlers<By extends string, Common, M, Context> = {
  readonly [K in keyof M & string]: (
    input: ModeInput<By, K, Common, M[K]>,
    ctx: Context,
  ) => HandlerResult | Promise<HandlerResult>
}

interface Composite {
  readonly modes: Modes
  readonly input: InputSchema
  readonly handler: ToolHandler
}

interface CompositeParts {
  readonly by: string
  readonly policy: ModePolicy
  readonly common: SchemaSource | undefined
  readonly modes: ModeConfigs<never>
  readonly handlers: { readonly [mode: string]: ToolHandler }
}

/** Checked arguments for the handler of a mode, or the mode without data that was requested. */
type Chosen = { readonly mode: Mode; readonly input: Record<string, unknown> } | { readonly unavailable: Failure }

/** Builds schema, documentation and dispatch of a composite tool from one declaration. */
export function compositeOf(tool: Tool, { by, policy, common, modes: configs, handlers }: CompositeParts): Composite {
  const shared = inputSchema(tool.name, common)
  const inputs = new Map<string, InputSchema>()
  const declarations = Object.entries(configs).map(([name, config]): ModeDeclaration => {
    const { inputSchema: source, ...rest } = declared(`mode "${name}" of tool "${tool.name}"`, config as ModeConfig, modeKeys)
    if (rest.description === undefined) throw undescribed(tool.name, name)
    // A mode may be called `constructor`, which every object inherits.
    if (!Object.hasOwn(handlers, name) || typeof handlers[name] !== 'function') throw unhandled(tool.name, name)
    const plain = { name, ...(rest as Omit<ModeDeclaration, 'name'>) }
    if (source === undefined) return plain
    const schema = inputSchema(`${tool.name} (${name})`, source)
    inputs.set(name, schema)
    return { ...plain, inputSchema: schema.json }
  })
  const modes = declareModes({ tool: { ...tool, inputSchema: shared.json }, by, policy, modes: declarations })
  for (const name of Object.keys(handlers))
    if (!Object.hasOwn(configs, name)) throw undeclared(tool.name, name, Object.keys(configs))
  const { all } = modes
  const check = async (value: unknown, snapshot?: Snapshot): Promise<ValidationResult> => {
    const given = isRecord(value) ? value : {}
    const isAvailable = (mode: Mode): boolean => snapshot === undefined || isModeAvailable(mode, snapshot, () => undefined)
    const asked = Object.hasOwn(given, by) ? given[by] : undefined
    const mode = all.find(({ name }) => name === asked)
    if (mode === undefined) return { problems: [noSuchMode(by, asked, all.filter(isAvailable))] }
    // Problems with other arguments do not matter for a mode without data.
    if (!isAvailable(mode)) return chosen({ unavailable: unavailable(tool.name, modes, mode, all.filter(isAvailable)) })
    const own = inputs.get(mode.name)
    const { [by]: _, ...rest } = given
    const checked = await checkedParts(modes, mode, rest, own === undefined ? [shared] : [shared, own])
    return 'problems' in checked ? checked : chosen({ mode, input: checked.value })
  }
  const dispatch = (made: Chosen, ctx: ToolContext): HandlerResult | Promise<HandlerResult> => {
    if ('unavailable' in made) throw made.unavailable
    const { mode, input } = made
    return handlers[mode.name]?.({ ...input, [by]: mode.name } as never, ctx)
  }
  const { inputSchema: json } = modes.toolWith(tool, '1'.repeat(all.length))
  return { modes, input: { json, check }, handler: dispatch }
}

const chosen = (value: Chosen): ValidationResult => ({ value })

function choice(available: readonly Mode[]): string {
  return available.length === 0 ? 'No mode has data now.' : `Choose one of: ${available.map(({ name }) => name).join(', ')}.`
}

function unavailable(tool: string, { by }: Modes, mode: Mode, available: readonly Mode[]): Failure {
  const message = `${tool}(${by}: "${mode.name}") has no data now. ${whenEmpty(mode)} ${choice(available)}`
  return new Failure('mode_unavailable', message, { tool, mode: mode.name, available: available.map(({ name }) => name) })
}

function noSuchMode(by: string, asked: unknown, available: readonly Mode[]): Problem {
  if (asked === undefined) return { path: by, message: `is missing. ${choice(available)}` }
  const names = available.map(({ name }) => name)
  const hint = typeof asked === 'string' ? nearestHint(nearest(asked, names)) : ''
  const given = printable(typeof asked === 'string' ? asked : JSON.stringify(asked))
  return { path: by, message: `is "${given}", which is not a valid value.${hint} ${choice(available)}` }
}

/** Checks the arguments with the schema of the tool and that of the mode, each for its own parameters. */
async function checkedParts(
  modes: Modes,
  mode: Mode,
  given: Record<string, unknown>,
  schemas: readonly InputSchema[],
): Promise<{ readonly value: Record<string, unknown> } | { readonly problems: readonly Problem[] }> {
  const known = schemas.map(({ json }) => Object.keys(json.properties ?? {}))
  const problems: Problem[] = Object.keys(given)
    .filter((name) => !known.some((names) => names.includes(name)))
    .map((name) => ({ path: printable(name), message: strangerText(modes, mode, name, known.flat()) }))
  let value: Record<string, unknown> = {}
  for (const [index, { check }] of schemas.entries()) {
    const names = (known[index] ?? []).filter((name) => Object.hasOwn(given, name))
    const checked = await check(Object.fromEntries(names.map((name) => [name, given[name]])))
    if ('problems' in checked) problems.push(...checked.problems)
    else value = { ...value, ...(checked.value as object) }
  }
  return problems.length === 0 ? { value } : { problems }
}

function strangerText({ all, by }: Modes, mode: Mode, name: string, known: readonly string[]): string {
  const takers = all.filter(({ inputSchema: own }) => Object.hasOwn(own?.properties ?? {}, name)).map((each) => each.name)
  if (takers.length > 0) return `does not go with ${by}: "${mode.name}"; it belongs to ${takers.join(', ')}.`
  return `does not go with ${by}: "${mode.name}".${nearestHint(nearest(name, known))}`
}

function unhandled(tool: string, mode: string): Failure {
  const message = `Tool "${tool}" has no handler for its mode "${mode}". Add one, or remove the mode.`
  return new Failure('invalid_declaration', message, { what: `${tool}.${mode}` })
}

function undeclared(tool: string, mode: string, modes: readonly string[]): Failure {
  const message = `Tool "${tool}" has a handler for the mode "${printable(mode)}", which is not declared.${nearestHint(nearest(mode, modes))}`
  return new Failure('invalid_declaration', message, { what: `${tool}.${mode}` })
}

function undescribed(tool: string, mode: string): Failure {
  const message = `Mode "${mode}" of tool "${tool}" has no description. Add "description".`
  return new Failure('invalid_declaration', message, { what: `${tool}.${mode}.description` })
}
