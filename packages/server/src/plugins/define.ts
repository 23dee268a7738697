import type { ToolAnnotations } from '@unfold-mcp/core'
import type { SchemaSource, ValueOf } from '../schema/schema.ts'
import type { HandlerResult } from '../tool/result.ts'

// Plugins import this file in their own process: it must stay small and import only types.
export { ToolError } from '../tool/tool-error.ts'

/** Passed to the handler of a plugin's tool as its second argument. */
export interface PluginContext {
  /** Aborted when the call is cancelled or times out. */
  readonly signal: AbortSignal
  /** Sends a progress notification, if the client asked for progress. */
  progress(progress: number, total?: number, message?: string): void
  /** Sends a log message to the client. */
  log(level: 'debug' | 'info' | 'notice' | 'warning' | 'error', data: unknown): void
}

type InputOf<I> = [I] extends [undefined] ? Record<string, unknown> : ValueOf<I>

/** A tool of a plugin: its definition, as clients see it, and its handler. */
export interface PluginTool<I extends SchemaSource | undefined = SchemaSource | undefined> {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema?: I
  readonly outputSchema?: SchemaSource
  readonly annotations?: ToolAnnotations
  readonly tags?: readonly string[]
  /** Toolbox group that the tool belongs to. */
  readonly group?: string
  /** Overrides the folder's `callTimeoutMs` for this tool. */
  readonly timeoutMs?: number
  handler(input: InputOf<I>, ctx: PluginContext): HandlerResult | Promise<HandlerResult>
}

/** Default export of a plugin module. */
export interface Plugin<I extends readonly (SchemaSource | undefined)[] = readonly (SchemaSource | undefined)[]> {
  readonly name?: string
  /** Toolbox group for tools that do not set their own. */
  readonly group?: string
  readonly tools: { readonly [K in keyof I]: PluginTool<I[K]> }
}

/** Returns the plugin unchanged; infers the input type of each handler from its input schema. */
export function definePlugin<const I extends readonly (SchemaSource | undefined)[]>(plugin: Plugin<I>): Plugin<I> {
  return plugin
}
