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
  /** Former name of `description`. */
  readonly about?: string
  readonly title?: string
  /** Schema of the arguments: zod, another Standard Schema library, or JSON Schema. */
  readonly inputSchema?: I
  /** Former name of `inputSchema`. */
  readonly input?: I
  /** Schema of the structured content. */
  readonly outputSchema?: O
  /** Former name of `outputSchema`. */
  readonly output?: O
  /** The group that lists it. Default: none, so the tool is always listed, or behind the gate. */
  readonly group?: Name
  /** Listed from the start, before a gate is opened and in every exposure. */
  readonly always?: boolean
  /** Returns whether the tool is available now. */
  readonly when?: Predicate<F>
  /** The tool that must succeed once in a session before this one is listed; `false` for none. */
  readonly after?: string | false
  /**
   * Makes the tool an activator: of the named group, or with `true` of the gate or of whatever its handler activates. It is listed
   * with the other activators.
   */
  readonly activator?: Name | true
  readonly tags?: readonly string[]
  readonly version?: string
  /** Former names; calls by them still work. */
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
 * Returns a tool with current keys, and throws for unknown keys. A definition from another source may repeat the name of the
 * tool.
 */
export function declaredTool<T extends AnyConfig>(name: string, config: T, keys: NoInfer<Keys<T>>): Declared<T> {
  const { name: own, ...rest } = config as T & { readonly name?: string }
  return declared(`tool "${name}"`, own === name ? (rest as unknown as T) : config, keys)
}

/** Input of a handler with this input schema. */
export type InputOf<I> = [I] extends [undefined] ? Record<string, unknown> : ValueOf<I>

/** Return type of a handler with this output schema: the value itself, or a complete result. */
export type ResultOf<O> = [O] extends [undefined] ? HandlerResult : Immutable<ValueOf<O>> | CallToolResult | InputRequiredResult

type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T

interface EntryParts {
  readonly handler: ToolHandler
  readonly origin?: Exclude<Origin, 'surface'>
  /** Whether the toolbox has a gate. */
  readonly gated?: boolean
  readonly composite?: { readonly modes: Modes; readonly input: InputSchema }
}

export function entryOf(
  source: string,
  name: string,
  config: DeclaredTool,
  { handler, origin = 'static', gated = false, composite }: EntryParts,
): ToolEntry {
  const input = composite?.input ?? inputSchema(name, config.inputSchema)
  const output = config.outputSchema === undefined ? undefined : outputSchema(name, config.outputSchema)
  const isActivator = config.activator !== undefined
  if (typeof config.after === 'string' && (config.always === true || isActivator))
    throw new Failure(
      'invalid_declaration',
      `Tool "${name}" has after: "${config.after}", but activators and tools with always: true are listed from the start.`,
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
    ...(isActivator && { isHandwritten: true }),
    ...(isActivator && gated && !opensGate && { within: gateName }),
    ...(config.always === true && { pinned: true }),
    ...(config.after !== undefined && { after: config.after }),
    ...(composite !== undefined && { modes: composite.modes }),
    ...(output !== undefined && { output }),
    ...(config.timeoutMs !== undefined && { timeoutMs: config.timeoutMs }),
  }
}

// Keys are in the order in which the SDK writes them, so that a plain toolbox lists the same bytes.
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
    ...(config.description !== undefined && { description: config.description }),
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
