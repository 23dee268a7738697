import { type ClientReason, isClientError } from '@unfold-mcp/client'
import { printable, printableText } from '@unfold-mcp/core'
import { ToolError } from '@unfold-mcp/server'

/** Why a call of an upstream's tool has no answer of the tool's own. */
export type UpstreamReason =
  | 'unavailable'
  | 'busy'
  | 'died'
  | 'needs_login'
  | 'disabled'
  | 'timeout'
  | 'cancelled'
  /** The server answered with an error, or with what is no answer. */
  | 'failed'
  /** The gateway did not make the call, or does not pass on what the server asks. */
  | 'refused'
  | 'unknown_tool'

/** A call that an upstream did not answer, in words for the model: what happened, where, and what to do next. */
export class UpstreamError extends ToolError {
  readonly upstream: string
  readonly reason: UpstreamReason
  /** The message without the name of the upstream, which stands before it. */
  readonly detail: string
  readonly retryAfterMs: number | undefined

  constructor(upstream: string, reason: UpstreamReason, detail: string, options: ErrorOptions & { retryAfterMs?: number } = {}) {
    super(`The server "${printable(upstream)}" ${detail}`, options)
    this.upstream = upstream
    this.reason = reason
    this.detail = detail
    this.retryAfterMs = options.retryAfterMs
  }
}

const unsure = 'Whether the call had any effect is not known: check before you call it again.'

/** Any failure of a call, as one of an upstream. What a process wrote before it ended is not in it: it may hold secrets. */
export function asUpstreamError(upstream: string, tool: string, error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error
  const make = (reason: UpstreamReason, message: string): UpstreamError =>
    new UpstreamError(upstream, reason, message, { cause: error })
  const name = printable(tool)
  if (isClientError(error, 'server_died')) {
    const { code, signal } = error.details
    const how = signal === null ? `with code ${code ?? 'unknown'}` : `by ${signal}`
    return make('died', `ended (${how}) during this call of "${name}", and is being restarted. ${unsure}`)
  }
  if (isClientError(error, 'unreachable')) return make('died', `was lost during this call of "${name}". ${unsure}`)
  if (isClientError(error, 'login_required')) return make('needs_login', 'wants a login. Ask the person who runs it to sign in.')
  if (isClientError(error, 'timeout')) {
    const { timeoutMs } = error.details
    return make('timeout', `did not answer this call of "${name}" within ${timeoutMs / 1000} s. ${unsure}`)
  }
  if (isClientError(error, 'cancelled')) return make('cancelled', `was told that this call of "${name}" is cancelled.`)
  if (isClientError(error, 'unknown_tool')) return make('unknown_tool', `has no tool "${name}" any more. List the tools again.`)
  if (isClientError(error, 'protocol')) return make('failed', `failed on "${name}": ${printableText(error.details.problem)}`)
  return make('failed', `failed on "${name}": ${printableText(error instanceof Error ? error.message : String(error))}`)
}

const publicMessage: { readonly [R in ClientReason]?: string } = {
  server_died: 'Its process ended.',
  timeout: 'It did not answer in time.',
  unreachable: 'It cannot be reached.',
  login_required: 'It wants a login.',
}

/** What an error says to those who may not see what a server wrote or where it is. */
export function publicErrorMessage(error: unknown): string {
  return (isClientError(error) ? publicMessage[error.reason] : undefined) ?? 'It could not be connected to.'
}

const answers: ReadonlySet<string> = new Set<ClientReason>(['protocol', 'unknown_tool', 'too_large'])

/** Whether the upstream answered, if only with a refusal. */
export const isAnswer = (error: unknown): boolean => isClientError(error) && answers.has(error.reason)
