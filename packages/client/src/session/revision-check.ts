import type { RequestOptions } from '@modelcontextprotocol/client'
import { type ClientError, isClientError } from '../errors/errors.ts'
import type { Clock } from '../time/clock.ts'
import type { Session } from './session.ts'

export interface RevisionCheckOptions {
  readonly clock: Clock
  readonly timeoutMs: number
  /** Opens another session with the same server. */
  readonly reconnect: () => Promise<Session>
  /** Replaces the current session. */
  readonly replace: (old: Session, next: Session) => Promise<void>
}

export type PingOptions = Pick<RequestOptions, 'timeout' | 'signal'>

// A server may reject every call for a reason of its own.
const minIntervalMs = 5_000
const maxPingMs = 10_000

const unsupportedRevision = -32_022
const methodNotFound = -32_601
// Sent for missing or unknown sessions, and for requests without the fields of the server's revision.
const suspectCodes = new Set([unsupportedRevision, methodNotFound, -32_600, -32_000, -32_001])

/**
 * Detects that an HTTP server has come back with another protocol revision, or without the session. Such a server rejects pings,
 * and so does a healthy server without `ping`; a second session tells them apart.
 */
export class RevisionCheck {
  readonly #options: RevisionCheckOptions
  /** Sessions of servers that reject pings in new sessions too. */
  readonly #withoutPing = new WeakSet<Session>()
  /** Last check of each session after a failed request. */
  readonly #checks = new WeakMap<Session, { readonly at: number; readonly done: Promise<void> }>()
  #running: Promise<void> | undefined

  constructor(options: RevisionCheckOptions) {
    this.#options = options
  }

  /** Throws if the server does not respond. Replaces the session if the server rejects the ping but not that of a new session. */
  async ping(session: Session, options: PingOptions): Promise<void> {
    if (await answersPing(session, options)) return
    if (!session.canRenegotiate || this.#withoutPing.has(session)) return
    this.#running ??= this.#renegotiate(session, options).finally(() => {
      this.#running = undefined
    })
    await this.#running
  }

  /** Checks the session after a request failed. Returns true if the session was replaced. */
  async replaces(session: Session, error: unknown): Promise<boolean> {
    if (!session.canRenegotiate || !isClientError(error, 'protocol') || !isSuspect(error)) return false
    const { clock } = this.#options
    const last = this.#checks.get(session)
    const isRecent = last !== undefined && clock.now() - last.at < minIntervalMs
    const check = isRecent ? last : { at: clock.now(), done: this.#check(session) }
    this.#checks.set(session, check)
    await check.done
    return session.isClosed
  }

  async #check(session: Session): Promise<void> {
    if (session.isClosed) return
    const timeout = Math.min(this.#options.timeoutMs, maxPingMs)
    // The caller gets the error of its own request.
    await this.ping(session, { timeout }).catch(() => undefined)
  }

  async #renegotiate(session: Session, options: PingOptions): Promise<void> {
    const next = await this.#options.reconnect()
    try {
      const isAnswered = await answersPing(next, options)
      const isSame = next.agreement.protocolVersion === session.agreement.protocolVersion
      if (isAnswered || !isSame) {
        if (!isAnswered) this.#withoutPing.add(next)
        await this.#options.replace(session, next)
        return
      }
      this.#withoutPing.add(session)
      await next.endSession().catch(() => undefined)
      await next.close()
    } catch (error) {
      await next.close().catch(() => undefined)
      throw error
    }
  }
}

/** Pings with `ping` or (2026-07-28) `server/discover`. Returns false if the server rejects it; throws if there is no response. */
async function answersPing(session: Session, options: PingOptions): Promise<boolean> {
  try {
    await (session.agreement.era === 'session' ? session.client.ping(options) : session.client.discover(options))
    return true
  } catch (error) {
    const failure = session.toClientError(error, `Asking ${session.label} for a sign of life`)
    if (!isClientError(failure, 'protocol') || session.isSessionLost) throw failure
    return failure.details.status === 429
  }
}

function isSuspect({ details: { status, code } }: ClientError<'protocol'>): boolean {
  if (status === 429) return false
  // Without a code, the response was not a valid one of this revision.
  return (status !== undefined && status < 500) || code === undefined || suspectCodes.has(code)
}

/** True if the server did not run the request, so that it can be sent again. */
export function isRefused(error: unknown): boolean {
  if (!isClientError(error, 'protocol')) return false
  const { status, code } = error.details
  return (status !== undefined && status < 500) || code === unsupportedRevision || code === methodNotFound
}
