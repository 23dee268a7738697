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
import { ClientError, cancelled, isClientError, timedOut, wordsOf } from './errors.ts'

export interface About {
  /** What to call the server in messages. */
  readonly target: string
  /** What was being done, as the beginning of a sentence. */
  readonly what: string
}

/** Any error of the SDK, of `fetch` or of a server, as one of ours. */
export function asClientError(error: unknown, about: About): ClientError {
  const known = within(error)
  if (known !== undefined) return known
  if (isLogin(error)) return loginRequired(error, about)
  if (error instanceof SdkHttpError) return httpFailure(error, about)
  if (error instanceof SseError) return streamFailure(error, about)
  if (error instanceof ProtocolError) return refused(error.code, error.message, error.data, { error, about })
  if (error instanceof SdkError) return sdkFailure(error, about)
  if (error instanceof Error && error.name === 'AbortError') return cancelled(about.what, error)
  // It says what each kind of message would have to be, at length.
  if (error instanceof Error && error.name.includes('ZodError'))
    return protocol('the server answered with something that is no message.', about, error)
  return protocol(wordsOf(error), about, error)
}

/** Whether a server answered that it does not know a method. */
export function isUnknownMethod(error: unknown): boolean {
  return isClientError(error, 'protocol') && error.details.code === -32_601
}

const deepest = 5

/** One of ours that travelled inside another. */
function within(error: unknown, depth = 0): ClientError | undefined {
  if (error instanceof ClientError) return error
  if (depth > deepest || !(error instanceof Error)) return undefined
  const data = 'data' in error ? error.data : undefined
  return within(data, depth + 1) ?? within(isRecord(data) ? data.cause : undefined, depth + 1) ?? within(error.cause, depth + 1)
}

function isLogin(error: unknown): error is Error {
  if (error instanceof UnauthorizedError || error instanceof InsufficientScopeError) return true
  if (error instanceof SdkHttpError) return error.status === 401 || error.status === 403
  return error instanceof Error && 'code' in error && (error.code === 401 || error.code === 403)
}

function loginRequired(error: Error, { target }: About): ClientError {
  const status = error instanceof SdkHttpError ? error.status : undefined
  const scope = error instanceof InsufficientScopeError ? error.requiredScope : undefined
  const wants = scope === undefined ? 'Log in, and try again.' : `Log in with the scope ${printable(scope)}, and try again.`
  const message =
    status === 403 ? `${target} does not let you in (HTTP 403). ${wants}` : `${target} wants to know who you are. ${wants}`
  const details = { target, ...(status !== undefined && { status }), ...(scope !== undefined && { scope }) }
  return new ClientError('login_required', message, details, { cause: error })
}

function httpFailure(error: SdkHttpError, about: About): ClientError {
  const { status } = error
  const { target } = about
  const rpc = rpcErrorIn(isRecord(error.data) ? error.data.text : undefined)
  if (rpc !== undefined) return refused(rpc.code, rpc.message, rpc.data, { error, about, status })
  if (status >= 500)
    return new ClientError(
      'unreachable',
      `${target} is in trouble (HTTP ${status}). Try again later.`,
      { target, status },
      { cause: error },
    )
  const hint = status === 404 || status === 405 ? ' Is this the address of an MCP server?' : ` ${wordsOf(error)}`
  return new ClientError(
    status === 404 || status === 405 ? 'unreachable' : 'protocol',
    `${target} answered with HTTP ${status}.${hint}`,
    { target, problem: wordsOf(error), status },
    { cause: error },
  )
}

function streamFailure(error: SseError, { target }: About): ClientError {
  const { code: status } = error
  const hint = status === undefined ? wordsOf(error) : `It answered with HTTP ${status}.`
  const details = { target, ...(status !== undefined && { status }) }
  return new ClientError('unreachable', `${target} offers no stream of events. ${hint}`, details, { cause: error })
}

/** What a server said of itself that went wrong. */
function refused(
  code: number,
  message: string,
  data: unknown,
  { error, about, status }: { error: unknown; about: About; status?: number },
): ClientError {
  const problem = printableText(message)
  const { target, what } = about
  if (isRecord(data) && data.reason === 'unknown_tool' && typeof data.name === 'string') {
    const near = Array.isArray(data.nearest) ? data.nearest.filter((each) => typeof each === 'string') : []
    return new ClientError('unknown_tool', problem, { name: data.name, nearest: near }, { cause: error })
  }
  return new ClientError(
    'protocol',
    `${what} failed: ${target} says "${problem}" (${code}).`,
    { problem, code, ...(data !== undefined && { data }), ...(status !== undefined && { status }) },
    { cause: error },
  )
}

function sdkFailure(error: SdkError, about: About): ClientError {
  const { target, what } = about
  if (error.code === SdkErrorCode.RequestTimeout) {
    const timeout = isRecord(error.data) ? (error.data.timeout ?? error.data.maxTotalTimeout) : undefined
    return timedOut(what, typeof timeout === 'number' ? timeout : 0, `${target} does not answer; allow more time with timeoutMs.`)
  }
  if (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected)
    return new ClientError('unreachable', `The connection to ${target} is closed. Connect again.`, { target }, { cause: error })
  return protocol(wordsOf(error), about, error)
}

function protocol(problem: string, { target, what }: About, cause: unknown): ClientError {
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
