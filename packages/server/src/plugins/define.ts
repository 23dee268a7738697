import type { ToolAnnotations } from '@unfold-mcp/core'
import type { SchemaSource, ValueOf } from '../schema/schema.ts'
import type { HandlerResult } from '../tool/result.ts'

// This file is what a plugin loads, in a process of its own: it must stay small, and all that it imports are types.
export { ToolError } from '../tool/tool-error.ts'

/** What the handler of a plugin's tool may do beside answering. */
export interface PluginContext {
  /** Aborted when the call was cancelled or its time is over. */
  readonly signal: AbortSignal
  /** Tells the client how far the work is, if it asked to know. */
  progress(progress: number, total?: number, message?: string): void
  /** Sends a log message to the client. */
  log(level: 'debug' | 'info' | 'notice' | 'warning' | 'error', data: unknown): void
}

type InputOf<I> = [I] extends [undefined] ? Record<string, unknown> : ValueOf<I>

/** A tool of a plugin: its definition as clients see it, and its handler. */
export interface PluginTool<I extends SchemaSource | undefined = SchemaSource | undefined> {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema?: I
  readonly outputSchema?: SchemaSource
  readonly annotations?: ToolAnnotations
  readonly tags?: readonly string[]
  /** The group of the toolbox that shows it. */
  readonly group?: string
  /** How long a call may take, when it differs from the folder's own limit. */
  readonly timeoutMs?: number
  handler(input: InputOf<I>, ctx: PluginContext): HandlerResult | Promise<HandlerResult>
}

/** What a module of a plugin folder exports as its default. */
export interface Plugin<I extends readonly (SchemaSource | undefined)[] = readonly (SchemaSource | undefined)[]> {
  readonly name?: string
  /** The group of the toolbox for those of its tools that name none. */
  readonly group?: string
  readonly tools: { readonly [K in keyof I]: PluginTool<I[K]> }
}

/** Checks a plugin and gives it back: each handler gets what its input schema says. */
export function definePlugin<const I extends readonly (SchemaSource | undefined)[]>(plugin: Plugin<I>): Plugin<I> {
  return plugin
}
