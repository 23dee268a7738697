import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { isRecord, printable, printableText } from '@unfold-mcp/core'
import {
  ClientError,
  cancelled,
  connectionClosed,
  errorMessage,
  isClientError,
  pauseHint,
  pauseRequested,
  timedOut,
} from './errors.ts'

export interface ErrorContext {
  /** Name of the server in messages. */
  readonly target: string
  /** Operation that failed, as the beginning of a sentence. */
  readonly what: string
  /** Pause that the server requested. */
  readonly retryAfterMs?: number
}

/** Converts an error of the SDK, of `fetch` or of a server. */
export function toClientError(error: unknown, context: ErrorContext): ClientError {
  const known = nestedClientError(error)
  if (known !== undefined) return known
  if (isAuthError(error)) return loginRequired(error, context)
  if (error instanceof SdkHttpError) return httpFailure(error, context)
  if (error instanceof SseError) return streamFailure(error, context)
  if (error instanceof ProtocolError) return rpcFailure(error.code, error.message, error.data, { error, context })
  if (error instanceof SdkError) return sdkFailure(error, context)
  if (error instanceof Error && error.name === 'AbortError') return cancelled(context.what, error)
  // The message of a ZodError lists every accepted shape.
  if (error instanceof Error && error.name.includes('ZodError'))
    return protocol('the server sent an invalid message.', context, error)
  return protocol(errorMessage(error), context, error)
}

/** The server responded with "method not found". */
export function isUnknownMethod(error: unknown): boolean {
  return isClientError(error, 'protocol') && error.details.code === -32_601
}

const maxNesting = 5

function nestedClientError(error: unknown, depth = 0): ClientError | undefined {
  if (error instanceof ClientError) return error
  if (depth > maxNesting || !(error instanceof Error)) return undefined
  const data = 'data' in error ? error.data : undefined
  const inner = [data, isRecord(data) ? data.cause : undefined, error.cause]
  for (const each of inner) {
    const found = nestedClientError(each, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

function isAuthError(error: unknown): error is Error {
  if (error instanceof UnauthorizedError || error instanceof InsufficientScopeError) return true
  if (error instanceof SdkHttpError) return error.status === 401 || error.status === 403
  return error instanceof Error && 'code' in error && (error.code === 401 || error.code === 403)
}

function loginRequired(error: Error, { target }: ErrorContext): ClientError {
  const status = error instanceof SdkHttpError ? error.status : undefined
  const scope = error instanceof InsufficientScopeError ? error.requiredScope : undefined
  const login = scope === undefined ? 'Sign in, or check the token that you send.' : `Sign in with the scope ${printable(scope)}.`
  const message = status === 403 ? `${target} denies access (403). ${login}` : `${target} requires authentication (401). ${login}`
  const details = { target, ...(status !== undefined && { status }), ...(scope !== undefined && { scope }) }
  return new ClientError('login_required', message, details, { cause: error })
}

/** Converts a response with an error status. */
export function httpFailure(error: SdkHttpError, context: ErrorContext): ClientError {
  const { status } = error
  const { target, retryAfterMs } = context
  const rpc = rpcErrorIn(isRecord(error.data) ? error.data.text : undefined)
  if (rpc !== undefined) return rpcFailure(rpc.code, rpc.message, rpc.data, { error, context, status })
  if (status >= 500 && retryAfterMs !== undefined) return pauseRequested(target, status, retryAfterMs, error)
  if (status >= 500) {
    const message = `${target} failed (HTTP ${status}). Try again later.`
    return new ClientError('unreachable', message, { target, status }, { cause: error })
  }
  const isNotMcp = status === 404 || status === 405
  const hint = isNotMcp ? '. Is this the URL of an MCP server?' : pauseHint(retryAfterMs) || `. ${errorMessage(error)}`
  return new ClientError(
    isNotMcp ? 'unreachable' : 'protocol',
    `${target} responded with HTTP ${status}${hint}`,
    { target, problem: errorMessage(error), status, ...(retryAfterMs !== undefined && { retryAfterMs }) },
    { cause: error },
  )
}

function streamFailure(error: SseError, { target }: ErrorContext): ClientError {
  const { code: status } = error
  const hint = status === undefined ? errorMessage(error) : `It responded with HTTP ${status}.`
  const details = { target, ...(status !== undefined && { status }) }
  return new ClientError('unreachable', `${target} has no event stream. ${hint}`, details, { cause: error })
}

function rpcFailure(
  code: number,
  message: string,
  data: unknown,
  { error, context, status }: { error: unknown; context: ErrorContext; status?: number },
): ClientError {
  const problem = printableText(message)
  const { target, what, retryAfterMs } = context
  if (isRecord(data) && data.reason === 'unknown_tool' && typeof data.name === 'string') {
    const near = Array.isArray(data.nearest) ? data.nearest.filter((each) => typeof each === 'string') : []
    return new ClientError('unknown_tool', problem, { name: data.name, nearest: near }, { cause: error })
  }
  return new ClientError(
    'protocol',
    `${what} failed: ${what.includes(target) ? 'it' : target} responded with "${problem}" (${code})${pauseHint(retryAfterMs)}.`,
    {
      ...{ problem, code },
      ...(data !== undefined && { data }),
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
    { cause: error },
  )
}

function sdkFailure(error: SdkError, context: ErrorContext): ClientError {
  const { target, what } = context
  if (error.code === SdkErrorCode.RequestTimeout) {
    const timeout = isRecord(error.data) ? (error.data.timeout ?? error.data.maxTotalTimeout) : undefined
    return timedOut(what, typeof timeout === 'number' ? timeout : 0, `${target} does not respond; increase timeoutMs.`)
  }
  if (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected)
    return connectionClosed(target, error)
  const type = /unexpected content type: ([\w./+-]+)/iu.exec(errorMessage(error))?.[1]
  if (type !== undefined) {
    const message = `${target} responded with ${type} instead of MCP. Is this the URL of an MCP server?`
    return new ClientError('protocol', message, { problem: errorMessage(error) }, { cause: error })
  }
  return protocol(errorMessage(error), context, error)
}

function protocol(problem: string, { target, what }: ErrorContext, cause: unknown): ClientError {
  return new ClientError('protocol', `${what} failed: ${problem} (${target})`, { problem }, { cause })
}

function rpcErrorIn(text: unknown): { readonly code: number; readonly message: string; readonly data: unknown } | undefined {
  if (typeof text !== 'string') return undefined
  try {
    const value: unknown = JSON.parse(text)
    const error = isRecord(value) ? value.error : undefined
    if (!isRecord(error) || typeof error.code !== 'number') return undefined
    return { code: error.code, message: typeof error.message === 'string' ? error.message : '', data: error.data }
  } catch {
    return undefined
  }
}
