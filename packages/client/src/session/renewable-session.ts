import { type ClientError, connectionClosed, isClientError } from '../errors/errors.ts'
import type { Clock } from '../time/clock.ts'
import { isRefused, type PingOptions, RevisionCheck } from './revision-check.ts'
import type { Session } from './session.ts'

export interface RenewableSessionOptions {
  /** Opens another session with the same server. */
  readonly reconnect: () => Promise<Session>
  readonly clock: Clock
  readonly timeoutMs: number
  readonly onWarning: (warning: string) => void
  /** Called when a new session has replaced the latest one. */
  readonly replaced: (session: Session) => void
}

/**
 * Latest session with a server. An HTTP session that the server has lost, or whose protocol revision it no longer supports, is
 * replaced by a new one.
 */
export class RenewableSession {
  readonly #options: RenewableSessionOptions
  readonly #revisionCheck: RevisionCheck
  #latest: Session
  #renewing: Promise<Session> | undefined
  /** The server refused a new session and requested a pause. */
  #paused: { readonly error: ClientError; readonly until: number } | undefined
  #isStopped = false

  constructor(session: Session, options: RenewableSessionOptions) {
    this.#latest = session
    this.#options = options
    const { clock, timeoutMs } = options
    this.#revisionCheck = new RevisionCheck({
      reconnect: () => this.#reconnect(),
      replace: (old, next) => this.#replace(old, next),
      ...{ clock, timeoutMs },
    })
  }

  get latest(): Session {
    return this.#latest
  }

  /** True when it is closed and cannot be renewed. */
  get isClosed(): boolean {
    return this.#isStopped || (this.#latest.isClosed && !this.#latest.canRenew)
  }

  get closedError(): ClientError {
    return this.#latest.failure ?? connectionClosed(this.#latest.label)
  }

  /** Returns the latest session, or opens a new one if it is closed. */
  async current(): Promise<Session> {
    if (this.#isUsable) return this.#latest
    if (this.isClosed) throw this.closedError
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  /** Runs `work` in the current session. A request refused because the session is outdated runs again in a new one. */
  use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#isUsable && !this.#latest.canRenew ? work(this.#latest) : this.#useRenewed(work)
  }

  /** Checks whether a request failed because the session is outdated, and has been replaced. */
  isReplaced(session: Session, error: unknown): Promise<boolean> {
    return this.#revisionCheck.replaces(session, error)
  }

  ping(options: PingOptions): Promise<void> {
    return this.use((session) => this.#revisionCheck.ping(session, options))
  }

  /** Opens no more sessions. The caller closes the latest one. */
  stop(): void {
    this.#isStopped = true
  }

  get #isUsable(): boolean {
    return !this.#isStopped && !this.#latest.isClosed
  }

  async #useRenewed<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.current()
    try {
      return await work(session)
    } catch (error) {
      const isLost = session.isSessionLost && isNotFound(error)
      const isOutdated = !isLost && (await this.isReplaced(session, error)) && isRefused(error)
      if (!isLost && !isOutdated) throw error
      return work(await this.current())
    }
  }

  async #renew(): Promise<Session> {
    const old = this.#latest
    const session = await this.#reconnect()
    await this.#replace(old, session)
    return session
  }

  /** Opens a session, but not before the end of a pause that the server requested. */
  async #reconnect(): Promise<Session> {
    const { clock, reconnect } = this.#options
    if (this.#paused !== undefined && clock.now() < this.#paused.until) throw this.#paused.error
    try {
      return await reconnect()
    } catch (error) {
      if (isClientError(error) && error.retryAfterMs !== undefined)
        this.#paused = { error, until: clock.now() + error.retryAfterMs }
      throw error
    }
  }

  async #replace(old: Session, session: Session): Promise<void> {
    if (this.#isStopped || old !== this.#latest) {
      await session.close()
      if (this.#isStopped) throw this.closedError
      return
    }
    this.#latest = session
    old.lose()
    void old.drained.then(() => old.close()).catch(() => undefined)
    const { protocolVersion } = session.agreement
    const { protocolVersion: before } = old.agreement
    const { onWarning, replaced } = this.#options
    if (protocolVersion !== before)
      onWarning(`${session.label} changed its protocol revision from ${before} to ${protocolVersion}.`)
    replaced(session)
  }
}

const isNotFound = (error: unknown): boolean => isClientError(error) && 'status' in error.details && error.details.status === 404
