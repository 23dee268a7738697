import { type Problem, printable } from '@unfold-mcp/core'

/** Details of each reason. */
export interface ClientErrorDetails {
  /**
   * No response. `tls`: code of the TLS failure. `retryAfterMs`: pause that the server requested. `sandbox`: preset that cannot be
   * enforced, so the server was not started.
   */
  unreachable: {
    target: string
    status?: number
    lastLines?: readonly string[]
    tls?: string
    retryAfterMs?: number
    sandbox?: string
  }
  /** Authentication or more permissions are required. */
  login_required: { target: string; status?: number; scope?: string }
  /** `isInstalling`: started through a launcher such as `npx`, and no message was received. */
  timeout: {
    what: string
    timeoutMs: number
    isInstalling?: boolean
    lastLines?: readonly string[]
    firstError?: string
    unexpectedLine?: string
  }
  unknown_tool: { name: string; nearest: readonly string[] }
  invalid_arguments: { tool: string; problems: readonly Problem[] }
  identity_mismatch: { expected: string; actual: string | undefined }
  /** The server responded with an error or an invalid message. `retryAfterMs`: pause that it requested. */
  protocol: {
    problem: string
    code?: number
    data?: unknown
    status?: number
    unsupportedRevision?: string
    retryAfterMs?: number
  }
  cancelled: { what: string }
  /**
   * The server process exited; `lastLines` is its last stderr output. If it exited before its first message, `firstError` is the
   * first line that reports an error, and `unexpectedLine` the first line on stdout. `npxFolder` is a damaged package folder of npx,
   * which must be deleted.
   */
  server_died: {
    target: string
    code: number | null
    signal: string | null
    lastLines: readonly string[]
    firstError?: string
    npxFolder?: string
    unexpectedLine?: string
  }
  too_large: { limit: number; what: string }
}

export type ClientReason = keyof ClientErrorDetails

/** Expected failure of a client: `message` says what happened, where, and what to do next; `details` has the data. */
export class ClientError<R extends ClientReason = ClientReason> extends Error {
  override readonly name = 'ClientError'
  readonly reason: R
  readonly details: ClientErrorDetails[R]

  constructor(reason: R, message: string, details: ClientErrorDetails[R], options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
    this.details = details
  }

  /** Pause that the server requested with `Retry-After` when it refused the request. */
  get retryAfterMs(): number | undefined {
    const details: object = this.details
    return 'retryAfterMs' in details && typeof details.retryAfterMs === 'number' ? details.retryAfterMs : undefined
  }
}

/** Tests for a `ClientError`, optionally with a given reason. */
export function isClientError<R extends ClientReason>(error: unknown, reason?: R): error is ClientError<R> {
  return error instanceof ClientError && (reason === undefined || error.reason === reason)
}

const maxMessageLength = 400

/** Returns the message of an error, safe to print. */
export function errorMessage(error: unknown): string {
  return printable(error instanceof Error ? error.message : String(error), maxMessageLength)
}

export const cancelled = (what: string, cause?: unknown): ClientError<'cancelled'> =>
  new ClientError('cancelled', `${what} was cancelled.`, { what }, { cause })

export const timedOut = (what: string, timeoutMs: number, hint: string): ClientError<'timeout'> =>
  new ClientError('timeout', `${what} took longer than ${timeoutMs} ms. ${hint}`, { what, timeoutMs })

/** `; retry after 2 s`, or nothing. */
export const pauseHint = (ms: number | undefined): string => (ms === undefined ? '' : `; retry after ${Math.ceil(ms / 1_000)} s`)

export const pauseRequested = (
  target: string,
  status: number,
  retryAfterMs: number,
  cause?: unknown,
): ClientError<'unreachable'> =>
  new ClientError(
    'unreachable',
    `${target} failed (HTTP ${status})${pauseHint(retryAfterMs)}.`,
    { target, status, retryAfterMs },
    { cause },
  )

export const connectionClosed = (target: string, cause?: unknown): ClientError<'unreachable'> =>
  new ClientError('unreachable', `The connection to ${target} is closed. Connect again.`, { target }, { cause })

export const tooLarge = (what: string, limit: number): ClientError<'too_large'> =>
  new ClientError('too_large', `${what} is larger than ${limit} bytes. Request less, or raise maxMessageBytes.`, {
    limit,
    what,
  })
