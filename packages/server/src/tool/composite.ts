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
import { type Checked, type InputSchema, inputSchema, type SchemaSource, type ValueOf } from '../schema/schema.ts'
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
    | { /** What the mode gives, for the model. */ readonly description: string /** The same. */; readonly about?: string }
    | { readonly description?: string; readonly about: string }
  )

interface ModeSettings<I extends SchemaSource | undefined, F extends Facts> {
  /**
   * Whether it has data now. Default: whether `count` is above zero; always, where there is no `count` either. `true` is for a
   * mode that is worth calling even at zero.
   */
  readonly available?: Predicate<F> | true
  /** How much data it has, read from what is counted already. */
  readonly count?: (snapshot: Snapshot<F>) => number
  /** What to do to get some, for whoever asks while there is nothing. */
  readonly whenEmpty?: string
  /** Parameters of this mode alone. */
  readonly inputSchema?: I
  /** The same as `inputSchema`. */
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

/** What chooses between the modes, and what is shown of them. */
export interface CompositeConfig<By extends string, M> {
  /** The parameter that chooses, such as `what`, `target` or `format`. */
  readonly by: By
  /** `filtered`, the default, lists only modes that have something behind them; `static` lists all. */
  readonly policy?: ModePolicy
  readonly modes: M
}

type Given<I> = [I] extends [undefined] ? unknown : ValueOf<I>
type Flat<T> = { [K in keyof T]: T[K] }

type InputOfMode<M> = M extends { readonly inputSchema: infer I } ? I : M extends { readonly input: infer I } ? I : undefined

/** What the handler of a mode gets: the mode, what all modes share, and what this one adds. */
export type ModeInput<By extends string, Name, Common, M> = Flat<{ [K in By]: Name } & Given<Common> & Given<InputOfMode<M>>>

/** A handler for each mode: none can be forgotten, and none can be for a mode that is not declared. */
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

/** Arguments that were checked: for the handler of a mode, or in vain because there is nothing behind it. */
type Chosen = { readonly mode: Mode; readonly input: Record<string, unknown> } | { readonly unavailable: Failure }

/** Schema, documentation and dispatch of a composite tool, from its one declaration. */
export function compositeOf(tool: Tool, { by, policy, common, modes: configs, handlers }: CompositeParts): Composite {
  const shared = inputSchema(tool.name, common)
  const inputs = new Map<string, InputSchema>()
  const declarations = Object.entries(configs).map(([name, config]): ModeDeclaration => {
    const { input, ...rest } = declared(`mode "${name}" of tool "${tool.name}"`, config as ModeConfig, modeKeys)
    if (rest.about === undefined) throw undescribed(tool.name, name)
    // A mode may be called `constructor`, which every object seems to have.
    if (!Object.hasOwn(handlers, name) || typeof handlers[name] !== 'function') throw unhandled(tool.name, name)
    const plain = { name, ...(rest as Omit<ModeDeclaration, 'name'>) }
    if (input === undefined) return plain
    const schema = inputSchema(`${tool.name} (${name})`, input)
    inputs.set(name, schema)
    return { ...plain, input: schema.json }
  })
  const modes = declareModes({ tool: { ...tool, inputSchema: shared.json }, by, policy, modes: declarations })
  for (const name of Object.keys(handlers))
    if (!Object.hasOwn(configs, name)) throw undeclared(tool.name, name, Object.keys(configs))
  const { all } = modes
  const check = async (value: unknown, snapshot?: Snapshot): Promise<Checked> => {
    const given = isRecord(value) ? value : {}
    const isAvailable = (mode: Mode): boolean => snapshot === undefined || isModeAvailable(mode, snapshot, () => undefined)
    const asked = Object.hasOwn(given, by) ? given[by] : undefined
    const mode = all.find(({ name }) => name === asked)
    if (mode === undefined) return { problems: [noSuchMode(by, asked, all.filter(isAvailable))] }
    // Whatever else is wrong can wait until there is something to ask for.
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

const chosen = (value: Chosen): Checked => ({ value })

function choice(available: readonly Mode[]): string {
  return available.length === 0 ? 'Nothing can be chosen now.' : `Choose one of: ${available.map(({ name }) => name).join(', ')}.`
}

/** Nothing is behind the mode that was asked for: what to do about that, and what can be had instead. */
function unavailable(tool: string, { by }: Modes, mode: Mode, available: readonly Mode[]): Failure {
  const message = `${tool}(${by}: "${mode.name}") has nothing now. ${whenEmpty(mode)} ${choice(available)}`
  return new Failure('mode_unavailable', message, { tool, mode: mode.name, available: available.map(({ name }) => name) })
}

function noSuchMode(by: string, asked: unknown, available: readonly Mode[]): Problem {
  if (asked === undefined) return { path: by, message: `is missing. ${choice(available)}` }
  const names = available.map(({ name }) => name)
  const hint = typeof asked === 'string' ? nearestHint(nearest(asked, names)) : ''
  const said = printable(typeof asked === 'string' ? asked : JSON.stringify(asked))
  return { path: by, message: `is "${said}", which there is not.${hint} ${choice(available)}` }
}

/** The arguments as the schemas of the tool and of the mode give them, each asked only for its own. */
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
  const takers = all.filter(({ input }) => Object.hasOwn(input?.properties ?? {}, name)).map((each) => each.name)
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
