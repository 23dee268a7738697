import {
  declareModes,
  type Facts,
  Failure,
  isModeAvailable,
  type Mode,
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
import type { ToolContext } from './context.ts'
import type { ToolHandler } from './entry.ts'
import type { HandlerResult } from './result.ts'
import { invalidArguments } from './runtime/calls.ts'
import { type InputSchema, inputSchema, type SchemaSource, type ValueOf } from './schema.ts'

/** One mode of a composite tool as its author declares it. */
export interface ModeConfig<I extends SchemaSource | undefined = SchemaSource | undefined, F extends Facts = Facts> {
  readonly about: string
  /** Whether there is something behind it now; always, without one. */
  readonly available?: Predicate<F>
  /** How much there is, read from what is counted already. */
  readonly count?: (snapshot: Snapshot<F>) => number
  /** What to do to get some, for whoever asks while there is nothing. */
  readonly whenEmpty?: string
  /** Parameters of this mode alone. */
  readonly input?: I
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

/** What the handler of a mode gets: the mode, what all modes share, and what this one adds. */
export type ModeInput<By extends string, Name, Common, M> = Flat<
  { [K in By]: Name } & Given<Common> & (M extends { readonly input: infer I } ? Given<I> : unknown)
>

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

/** Schema, documentation and dispatch of a composite tool, from its one declaration. */
export function compositeOf(tool: Tool, { by, policy, common, modes: configs, handlers }: CompositeParts): Composite {
  const shared = inputSchema(tool.name, common)
  const inputs = new Map<string, InputSchema>()
  const all = Object.entries(configs).map(([name, { input, ...rest }]): Mode => {
    if (typeof handlers[name] !== 'function') throw unhandled(tool.name, name)
    if (input === undefined) return { name, ...(rest as Omit<Mode, 'name'>) }
    const schema = inputSchema(`${tool.name} (${name})`, input)
    inputs.set(name, schema)
    return { name, ...(rest as Omit<Mode, 'name'>), input: schema.json }
  })
  const modes = declareModes({ tool: { ...tool, inputSchema: shared.json }, by, policy, modes: all })
  const dispatch = async (given: Record<string, unknown>, ctx: ToolContext): Promise<HandlerResult> => {
    const chosen = modeOf(tool.name, modes, given[by], ctx)
    if ('problem' in chosen) return invalidArguments(tool.name, [chosen.problem])
    const { mode } = chosen
    const own = inputs.get(mode.name)
    const { [by]: _, ...rest } = given
    const checked = await checkedParts(modes, mode, rest, own === undefined ? [shared] : [shared, own])
    if ('problems' in checked) return invalidArguments(tool.name, checked.problems)
    return handlers[mode.name]?.({ [by]: mode.name, ...checked.value } as never, ctx)
  }
  const json = modes.toolWith('1'.repeat(all.length)).inputSchema
  // What is wrong depends on the mode, and whether the mode can be had on the moment: the handler says it.
  return { modes, input: { json, check: (value) => ({ value }) }, handler: dispatch as ToolHandler }
}

/** The mode that was asked for, if there is something behind it now: also what came after the client read its list. */
function modeOf(
  tool: string,
  modes: Modes,
  asked: unknown,
  { facts, isActive }: ToolContext,
): { readonly mode: Mode } | { readonly problem: Problem } {
  const isAvailable = (mode: Mode): boolean => isModeAvailable(mode, { facts, isActive }, () => undefined)
  const mode = modes.all.find(({ name }) => name === asked)
  if (mode !== undefined && isAvailable(mode)) return { mode }
  const available = modes.all.filter(isAvailable).map(({ name }) => name)
  const choice = available.length === 0 ? 'Nothing can be chosen now.' : `Choose one of: ${available.join(', ')}.`
  if (mode !== undefined) {
    const message = `${tool} has nothing for ${modes.by} "${mode.name}" now. ${whenEmpty(mode)} ${choice}`
    throw new Failure('mode_unavailable', message, { tool, mode: mode.name, available })
  }
  if (asked === undefined) return { problem: { path: modes.by, message: `is missing. ${choice}` } }
  const hint = typeof asked === 'string' ? nearestHint(nearest(asked, available)) : ''
  const said = printable(typeof asked === 'string' ? asked : JSON.stringify(asked))
  return { problem: { path: modes.by, message: `is "${said}", which there is not.${hint} ${choice}` } }
}

/** The arguments as the schemas of the tool and of the mode give them, each asked only for its own. */
async function checkedParts(
  modes: Modes,
  mode: Mode,
  given: Record<string, unknown>,
  schemas: readonly InputSchema[],
): Promise<{ readonly value: Record<string, unknown> } | { readonly problems: readonly Problem[] }> {
  const known = schemas.map(({ json }) => Object.keys((json.properties ?? {}) as object))
  const problems: Problem[] = Object.keys(given)
    .filter((name) => !known.some((names) => names.includes(name)))
    .map((name) => ({ path: printable(name), message: strangerText(modes, mode, name, known.flat()) }))
  const value: Record<string, unknown> = {}
  for (const [index, { check }] of schemas.entries()) {
    const names = (known[index] ?? []).filter((name) => Object.hasOwn(given, name))
    const checked = await check(Object.fromEntries(names.map((name) => [name, given[name]])))
    if ('problems' in checked) problems.push(...checked.problems)
    else Object.assign(value, checked.value)
  }
  return problems.length === 0 ? { value } : { problems }
}

function strangerText({ all, by }: Modes, mode: Mode, name: string, known: readonly string[]): string {
  const takers = all.filter(({ input }) => Object.hasOwn((input?.properties ?? {}) as object, name)).map((each) => each.name)
  if (takers.length > 0) return `is no parameter of ${by} "${mode.name}"; it belongs to ${takers.join(', ')}.`
  return `is no parameter of ${by} "${mode.name}".${nearestHint(nearest(name, known))}`
}

function unhandled(tool: string, mode: string): Failure {
  return new Failure(
    'invalid_declaration',
    `Tool "${tool}" has no handler for its mode "${mode}". Add one, or remove the mode.`,
    {
      what: `${tool}.${mode}`,
    },
  )
}
