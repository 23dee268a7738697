import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import type { ToolContext } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import type { Trace } from './trace.ts'

/** A call on its way to an upstream. */
export interface PassingCall {
  readonly upstream: string
  /** The upstream's own name for the tool. */
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly client: Client | undefined
  readonly ctx: ToolContext
  /** The trace that it belongs to. */
  readonly trace?: Trace
}

export type PassingResult = CallToolResult | InputRequiredResult

export type Pass = (call: PassingCall) => Promise<PassingResult>

/** Something that happens to every call: it may look, refuse, or change what comes back. */
export type Middleware = (call: PassingCall, next: Pass) => Promise<PassingResult>

/** The way of a call through all of these, the first outermost, to `end`. */
export function chained(middleware: readonly Middleware[], end: Pass): Pass {
  return middleware.reduceRight<Pass>((next, each) => (call) => each(call, next), end)
}
