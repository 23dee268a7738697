import type { AuthProvider, FetchLike, OAuthClientProvider } from '@modelcontextprotocol/client'
import { isEventStream } from './message-limit.ts'
import type { Resumed } from './response-stream.ts'
import { retryAfterMs } from './retry-after.ts'

export interface ResumptionOptions {
  readonly send: FetchLike
  readonly auth: OAuthClientProvider | AuthProvider | undefined
  /** Wall time, for a `Retry-After` with a date. */
  readonly now: () => number
  /** Called when the server does not know the stream. */
  readonly notFound: () => void
}

/** Requests the events of a response stream after `lastEventId`. `init` is the request that it responds to. */
export async function requestResumption(
  url: string | URL,
  { body: _body, ...init }: RequestInit,
  lastEventId: string,
  { send, auth, now, notFound }: ResumptionOptions,
): Promise<Resumed> {
  const headers = new Headers(init.headers)
  headers.delete('content-type')
  headers.set('accept', 'text/event-stream')
  headers.set('last-event-id', lastEventId)
  try {
    // Another request may have renewed the token.
    const token = await bearerToken(auth)
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    const response = await send(url, { ...init, method: 'GET', headers })
    if (response.ok && response.body !== null && isEventStream(response)) return { kind: 'open', body: response.body }
    await response.body?.cancel().catch(() => undefined)
    const { status } = response
    if (status === 404) notFound()
    const isTemporary = status === 401 || status === 408 || status === 429 || status >= 500
    if (isTemporary) return { kind: 'failed', retryAfterMs: retryAfterMs(response, now()) }
    return { kind: 'refused', reason: `the connection broke before the response and was not resumed (HTTP ${status})` }
  } catch {
    return { kind: 'failed', retryAfterMs: undefined }
  }
}

const bearerToken = async (auth: ResumptionOptions['auth']): Promise<string | undefined> =>
  auth !== undefined && 'tokens' in auth ? (await auth.tokens())?.access_token : auth?.token()
