import { type Problem, printable } from '@unfold-mcp/core'

/** What a reader of each reason gets. */
export interface ClientErrorDetails {
  /** Nothing answers there, or it stopped answering. `tls`: the code for why no secure connection could be had. */
  unreachable: { target: string; status?: number; lastLines?: readonly string[]; tls?: string }
  /** The server wants to know who asks, or wants somebody else. */
  login_required: { target: string; status?: number; scope?: string }
  /** `isInstalling`: it was started through a launcher such as `npx`, and had not sent a message. */
  timeout: { what: string; timeoutMs: number; isInstalling?: boolean; lastLines?: readonly string[]; firstError?: string }
  unknown_tool: { name: string; nearest: readonly string[] }
  invalid_arguments: { tool: string; problems: readonly Problem[] }
  identity_mismatch: { expected: string; actual: string | undefined }
  /** The server answered with an error, or with something that is no answer. */
  protocol: { problem: string; code?: number; data?: unknown; status?: number }
  cancelled: { what: string }
  /**
   * The server's process is over; `lastLines` are the last it wrote to standard error. Where it ended before it answered,
   * `firstError` is the first line that says what went wrong. `npxFolder` lacks a part of what npx installed: it has to be deleted.
   */
  server_died: {
    target: string
    code: number | null
    signal: string | null
    lastLines: readonly string[]
    firstError?: string
    npxFolder?: string
  }
  too_large: { limit: number; what: string }
}

export type ClientReason = keyof ClientErrorDetails

/** An expected failure of a client: `message` says what happened, where, and what to do next; `details` carries it as data. */
export class ClientError<R extends ClientReason = ClientReason> extends Error {
  override readonly name = 'ClientError'
  readonly reason: R
  readonly details: ClientErrorDetails[R]

  constructor(reason: R, message: string, details: ClientErrorDetails[R], options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
    this.details = details
  }
}

/** Whether `error` is a client's failure, of `reason` when one is named. */
export function isClientError<R extends ClientReason>(error: unknown, reason?: R): error is ClientError<R> {
  return error instanceof ClientError && (reason === undefined || error.reason === reason)
}

const longest = 400

/** What an error says, safe to show. */
export function wordsOf(error: unknown): string {
  return printable(error instanceof Error ? error.message : String(error), longest)
}

export const cancelled = (what: string, cause?: unknown): ClientError<'cancelled'> =>
  new ClientError('cancelled', `${what} was cancelled.`, { what }, { cause })

export const timedOut = (what: string, timeoutMs: number, hint: string): ClientError<'timeout'> =>
  new ClientError('timeout', `${what} took longer than ${timeoutMs} ms. ${hint}`, { what, timeoutMs })

export const tooLarge = (what: string, limit: number): ClientError<'too_large'> =>
  new ClientError('too_large', `${what} is larger than ${limit} bytes. Ask for less, or allow more with maxMessageBytes.`, {
    limit,
    what,
  })
