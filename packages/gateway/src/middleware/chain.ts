import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import type { ToolContext } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import type { Trace } from './trace.ts'

/** A tool call that is forwarded to an upstream. */
export interface ProxiedCall {
  readonly upstream: string
  /** Name of the tool on the upstream. */
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly client: Client | undefined
  readonly ctx: ToolContext
  readonly trace?: Trace
  /** Records a step of the call, for people who want to know what it waited for. */
  readonly note?: (step: CallStep) => void
}

/** What happened during a call, besides its start and its end. */
export type CallStep =
  | 'approval_asked'
  | 'approval_granted'
  | 'approval_refused'
  | 'sent'
  | 'question_asked'
  | 'question_answered'
  | 'question_refused'

export type ProxiedResult = CallToolResult | InputRequiredResult

export type CallHandler = (call: ProxiedCall) => Promise<ProxiedResult>

/** Wraps every call: it may observe or reject the call, or change its result. */
export type Middleware = (call: ProxiedCall, next: CallHandler) => Promise<ProxiedResult>

/** Composes middleware around `handler`; the first one is outermost. */
export function composeMiddleware(middleware: readonly Middleware[], handler: CallHandler): CallHandler {
  return middleware.reduceRight<CallHandler>((next, each) => (call) => each(call, next), handler)
}
