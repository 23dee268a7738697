import { ClientError, errorMessage } from './errors.ts'
import { closedBeforeTls, isClosedBeforeTls, tlsProblem } from './tls.ts'

/** Error for a `fetch` that got no response. */
export function unreachable(target: string, error: unknown): ClientError<'unreachable'> {
  const inner = innerError(error)
  const tls = inner === undefined ? undefined : tlsProblem(inner)?.code
  const details = { target, ...(tls !== undefined && { tls }) }
  const message = `${target} is unreachable: ${failureReason(error)}.${nextStep(inner)}`
  return new ClientError('unreachable', message, details, { cause: error })
}

const nextSteps: { readonly [code: string]: string } = {
  ECONNREFUSED: ' Start the server, or check the port.',
  ENOTFOUND: ' Check the host name.',
}

const nextStep = (error: Error | undefined): string =>
  error !== undefined && 'code' in error ? (nextSteps[String(error.code)] ?? '') : ''

/** Returns why a request failed; `fetch` hides the reason in the cause. */
export function failureReason(error: unknown): string {
  const inner = innerError(error)
  if (inner === undefined) return errorMessage(error)
  const tls = tlsProblem(inner)
  if (tls !== undefined) return tls.message
  if (isClosedBeforeTls(inner)) return closedBeforeTls
  return inner.message === '' && 'code' in inner ? errorMessage(inner.code) : errorMessage(inner)
}

/** True if the server closed the connection, which it may do to an idle one at any time. */
export function isConnectionReset(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && (cause.code === 'UND_ERR_SOCKET' || cause.code === 'ECONNRESET')
}

function innerError(error: unknown): Error | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  const inner: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  return inner instanceof Error ? inner : undefined
}
