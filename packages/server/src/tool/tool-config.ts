import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import {
  type Facts,
  Failure,
  gateName,
  type Modes,
  type Origin,
  type Predicate,
  type Tool,
  type ToolAnnotations,
} from '@unfold-mcp/core'
import { type InputSchema, inputSchema, outputSchema, type SchemaSource, type ValueOf } from '../schema/schema.ts'
import { type Declared, declared, type Keys } from './declared.ts'
import { type ToolEntry, type ToolHandler, withVersion } from './entry.ts'
import { alwaysLoad } from './host-hints.ts'
import type { HandlerResult } from './result.ts'

/** A tool as its author declares it. */
export interface ToolConfig<Name extends string, I, O, F extends Facts> {
  /** What the tool does, for the model. */
  readonly description?: string
  /** The same as `description`. */
  readonly about?: string
  readonly title?: string
  /** What the handler takes: a schema of zod or another library, or JSON Schema. */
  readonly inputSchema?: I
  /** The same as `inputSchema`. */
  readonly input?: I
  /** What the handler returns. */
  readonly outputSchema?: O
  /** The same as `outputSchema`. */
  readonly output?: O
  /** The group that shows it. Without one it is always shown, or behind the gate of a toolbox that has one. */
  readonly group?: Name
  /** Listed from the start, before a gate is opened and however the rest is shown. */
  readonly always?: boolean
  /** Whether it can be used at all now. */
  readonly when?: Predicate<F>
  /** The tool that must have succeeded once in a session before this one is listed; `false` for none, whatever the rest does. */
  readonly after?: string | false
  /**
   * This tool opens the named group, or (`true`) the gate where there is one, and otherwise changes what is open in a way of its
   * own; it is listed with the activators.
   */
  readonly activator?: Name | true
  readonly tags?: readonly string[]
  readonly version?: string
  /** Names it had before; calls by them still arrive. */
  readonly aliases?: readonly string[]
  readonly readOnly?: boolean
  readonly destructive?: boolean
  readonly idempotent?: boolean
  readonly openWorld?: boolean
  readonly annotations?: ToolAnnotations
  readonly icons?: Tool['icons']
  readonly timeoutMs?: number
  readonly _meta?: Tool['_meta']
}

export type AnyConfig = ToolConfig<string, SchemaSource | undefined, SchemaSource | undefined, Facts>

/** A tool under the library's own names. */
export type DeclaredTool = Declared<AnyConfig>

export const toolKeys: Keys<AnyConfig> = {
  description: true,
  about: true,
  title: true,
  inputSchema: true,
  input: true,
  outputSchema: true,
  output: true,
  group: true,
  always: true,
  when: true,
  after: true,
  activator: true,
  tags: true,
  version: true,
  aliases: true,
  readOnly: true,
  destructive: true,
  idempotent: true,
  openWorld: true,
  annotations: true,
  icons: true,
  timeoutMs: true,
  _meta: true,
}

/**
 * A tool under the library's own names; throws for a key that nothing reads. A definition that comes from elsewhere may repeat the name of
 * the tool.
 */
export function declaredTool<T extends AnyConfig>(name: string, config: T, keys: NoInfer<Keys<T>>): Declared<T> {
  const { name: own, ...rest } = config as T & { readonly name?: string }
  return declared(`tool "${name}"`, own === name ? (rest as unknown as T) : config, keys)
}

/** What a handler with this input schema gets. */
export type InputOf<I> = [I] extends [undefined] ? Record<string, unknown> : ValueOf<I>

/** What a handler with this output schema gives back: the value itself, or a whole result. */
export type ResultOf<O> = [O] extends [undefined] ? HandlerResult : Immutable<ValueOf<O>> | CallToolResult | InputRequiredResult

type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T

interface EntryParts {
  readonly handler: ToolHandler
  readonly origin?: Exclude<Origin, 'surface'>
  /** Whether the toolbox that declares the tool has a gate. */
  readonly gated?: boolean
  readonly composite?: { readonly modes: Modes; readonly input: InputSchema }
}

/** The entry for a declared tool. */
export function entryOf(
  source: string,
  name: string,
  config: DeclaredTool,
  { handler, origin = 'static', gated = false, composite }: EntryParts,
): ToolEntry {
  const input = composite?.input ?? inputSchema(name, config.input)
  const output = config.output === undefined ? undefined : outputSchema(name, config.output)
  const isActivator = config.activator !== undefined
  if (typeof config.after === 'string' && (config.always === true || isActivator))
    throw new Failure(
      'invalid_declaration',
      `Tool "${name}" cannot both wait for "${config.after}" and be listed from the start.`,
      {
        what: `${name}.after`,
      },
    )
  const group = config.group ?? (gated && !isActivator && config.always !== true ? gateName : undefined)
  const opensGate = config.activator === true && gated && name !== 'deactivate'
  const activates = typeof config.activator === 'string' ? config.activator : opensGate ? gateName : undefined
  return {
    tool: withVersion(
      definitionOf(
        name,
        isActivator ? { ...config, _meta: { ...alwaysLoad, ...config._meta } } : config,
        input.json,
        output?.json,
      ),
      config.version,
    ),
    origin: isActivator ? 'surface' : origin,
    source,
    visibility: { ...(group !== undefined && { group }), ...(config.when !== undefined && { when: config.when }) },
    tags: config.tags ?? [],
    aliases: config.aliases ?? [],
    handler,
    input,
    ...(config.version !== undefined && { version: config.version }),
    ...(activates !== undefined && { activates }),
    ...(isActivator && { isWritten: true }),
    ...(isActivator && gated && !opensGate && { within: gateName }),
    ...(config.always === true && { pinned: true }),
    ...(config.after !== undefined && { after: config.after }),
    ...(composite !== undefined && { modes: composite.modes }),
    ...(output !== undefined && { output }),
    ...(config.timeoutMs !== undefined && { timeoutMs: config.timeoutMs }),
  }
}

// Members stand in the order in which the SDK writes them, so that a plain toolbox lists the same bytes.
export function definitionOf(
  name: string,
  config: DeclaredTool,
  input: Tool['inputSchema'],
  output: Tool['outputSchema'] | undefined,
): Tool {
  const annotations = annotationsOf(config)
  return {
    name,
    ...(config.title !== undefined && { title: config.title }),
    ...(config.about !== undefined && { description: config.about }),
    inputSchema: input,
    ...(annotations !== undefined && { annotations }),
    ...(config.icons !== undefined && { icons: config.icons }),
    ...(config._meta !== undefined && { _meta: config._meta }),
    ...(output !== undefined && { outputSchema: output }),
  }
}

function annotationsOf({ annotations, readOnly, destructive, idempotent, openWorld }: DeclaredTool): ToolAnnotations | undefined {
  const made = {
    ...annotations,
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    ...(openWorld !== undefined && { openWorldHint: openWorld }),
  }
  return Object.keys(made).length === 0 ? undefined : made
}
