import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import type { ToolContext } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import type { Trace } from './trace.ts'

/** A call on its way to an upstream. */
export interface ProxiedCall {
  readonly upstream: string
  /** The upstream's own name for the tool. */
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly client: Client | undefined
  readonly ctx: ToolContext
  /** The trace that it belongs to. */
  readonly trace?: Trace
}

export type ProxiedResult = CallToolResult | InputRequiredResult

export type CallHandler = (call: ProxiedCall) => Promise<ProxiedResult>

/** Something that happens to every call: it may look, refuse, or change what comes back. */
export type Middleware = (call: ProxiedCall, next: CallHandler) => Promise<ProxiedResult>

/** The way of a call through all of these, the first outermost, to `end`. */
export function composeMiddleware(middleware: readonly Middleware[], end: CallHandler): CallHandler {
  return middleware.reduceRight<CallHandler>((next, each) => (call) => each(call, next), end)
}
