import { type ClientError, type ClientReason, isClientError } from '@unfold-mcp/client'
import { printable, printableText, type ToolReason } from '@unfold-mcp/core'
import { ToolError } from '@unfold-mcp/server'

/** Why a call has no result from the tool itself. */
export type UpstreamErrorKind =
  | 'unavailable'
  | 'busy'
  | 'died'
  | 'needs_login'
  | 'disabled'
  | 'timeout'
  | 'cancelled'
  /** The server returned an error or an invalid response. */
  | 'failed'
  /** The gateway rejected the call, or a request of the server. */
  | 'refused'
  | 'unknown_tool'

const toolReasons: { readonly [K in UpstreamErrorKind]?: ToolReason } = {
  busy: 'busy',
  died: 'effect_unknown',
  timeout: 'tool_timeout',
  cancelled: 'call_cancelled',
}

export interface UpstreamErrorOptions extends ErrorOptions {
  readonly retryAfterMs?: number
}

/** A failed call, with a message for the model: what happened, where, and what to do next. */
export class UpstreamError extends ToolError {
  readonly upstream: string
  readonly kind: UpstreamErrorKind
  /** The message without the leading name of the upstream. */
  readonly detail: string
  readonly retryAfterMs: number | undefined

  constructor(upstream: string, kind: UpstreamErrorKind, detail: string, options: UpstreamErrorOptions = {}) {
    super(`The server "${printable(upstream)}" ${detail}`, { cause: options.cause, reason: toolReasons[kind] ?? 'tool_failed' })
    this.upstream = upstream
    this.kind = kind
    this.detail = detail
    this.retryAfterMs = options.retryAfterMs
  }
}

export const loginRequired = (upstream: string, cause?: unknown): UpstreamError =>
  new UpstreamError(upstream, 'needs_login', 'requires authentication. The operator can sign in with "unfold login".', { cause })

const effectUnknown = 'The call may have had an effect: check before calling it again.'

/** Converts any failure of a call. It does not include process output, which may contain secrets. */
export function asUpstreamError(upstream: string, tool: string, error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error
  const failure = (kind: UpstreamErrorKind, message: string): UpstreamError =>
    new UpstreamError(upstream, kind, message, { cause: error })
  const name = printable(tool)
  if (isClientError(error) && error.retryAfterMs !== undefined) {
    const { retryAfterMs, details } = error
    const status = 'status' in details && details.status !== undefined ? ` (HTTP ${details.status})` : ''
    const message = `refused "${name}"${status}. The tool was not called; retry after ${Math.ceil(retryAfterMs / 1_000)} s.`
    return new UpstreamError(upstream, 'busy', message, { cause: error, retryAfterMs })
  }
  if (isClientError(error, 'server_died')) {
    const { code, signal } = error.details
    const how = signal === null ? `with code ${code ?? 'unknown'}` : `by ${signal}`
    return failure('died', `ended (${how}) while "${name}" was running, and is being restarted. ${effectUnknown}`)
  }
  if (isClientError(error, 'unreachable')) return failure('died', `disconnected while "${name}" was running. ${effectUnknown}`)
  if (isClientError(error, 'login_required')) return loginRequired(upstream, error)
  if (isClientError(error, 'timeout')) {
    const { timeoutMs } = error.details
    return failure('timeout', `did not respond to "${name}" within ${timeoutMs / 1000} s. ${effectUnknown}`)
  }
  if (isClientError(error, 'cancelled')) return failure('cancelled', `was notified that "${name}" is cancelled.`)
  if (isClientError(error, 'unknown_tool'))
    return failure('unknown_tool', `no longer has the tool "${name}". List the tools again.`)
  if (isClientError(error, 'protocol'))
    return failure('failed', `failed to run "${name}": ${printableText(error.details.problem)}`)
  return failure('failed', `failed to run "${name}": ${printableText(error instanceof Error ? error.message : String(error))}`)
}

const publicMessages: { readonly [R in ClientReason]?: string } = {
  server_died: 'The process ended.',
  timeout: 'It did not respond in time.',
  unreachable: 'It is unreachable.',
  login_required: 'It requires authentication.',
}

/** Error message without process output and addresses. */
export function publicErrorMessage(error: unknown): string {
  if (isClientError(error) && error.retryAfterMs !== undefined) return 'It refuses requests for now.'
  return (isClientError(error) ? publicMessages[error.reason] : undefined) ?? 'The connection failed.'
}

const responseReasons: ReadonlySet<string> = new Set<ClientReason>(['protocol', 'unknown_tool', 'too_large'])

/** True if the upstream responded, even with an error; but not if it refused the request itself, which may have an outdated revision. */
export const isServerResponse = (error: unknown): boolean =>
  isClientError(error) && responseReasons.has(error.reason) && !isRefusedRequest(error)

function isRefusedRequest(error: ClientError): boolean {
  if (!isClientError(error, 'protocol')) return false
  const { status } = error.details
  return status !== undefined && status !== 429
}
