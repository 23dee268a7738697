import type { McpSubscription, SubscriptionFilter } from '@modelcontextprotocol/client'
import { toClientError } from '../errors/conversion.ts'
import { ClientError } from '../errors/errors.ts'
import { type Clock, pause } from '../time/clock.ts'
import type { Session } from './session.ts'

export interface SubscriptionListenerOptions {
  /** Returns the current session, or opens a new one. */
  readonly session: () => Promise<Session>
  /** Checks whether the stream was refused because the session is outdated, and has been replaced. */
  readonly isReplaced: (session: Session, error: ClientError) => Promise<boolean>
  /** Subscription filter for the capabilities of the server. */
  readonly filter: (session: Session) => SubscriptionFilter
  readonly clock: Clock
  readonly timeoutMs: number
  /** Called each time the stream opens: earlier notifications may be lost. */
  readonly onOpen: () => void
  /** Called each time the stream closes without `stop`. */
  readonly onClosed: () => void
  readonly onWarning: (warning: string) => void
}

const retryMs = { first: 100, max: 5_000 }
// A stream that breaks sooner does not reset the retry delay.
const steadyMs = 5_000

/** Failure to open the stream. `isRefused`: the server would refuse again. */
interface ListenFailure {
  readonly failure: ClientError
  readonly isRefused: boolean
}

/** Keeps a `subscriptions/listen` stream (2026-07-28) open. */
export class SubscriptionListener {
  readonly #options: SubscriptionListenerOptions
  readonly #stopped = new AbortController()
  #open: McpSubscription | undefined

  constructor(options: SubscriptionListenerOptions) {
    this.#options = options
  }

  get receivesChanges(): boolean {
    return this.#open?.honoredFilter.toolsListChanged === true
  }

  /** Resolves when the stream is open, or with the failure of the first attempt. */
  start(): Promise<ClientError | undefined> {
    return new Promise((resolve) => {
      void this.#run(resolve).finally(() => resolve(undefined))
    })
  }

  async stop(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    this.#stopped.abort()
    await open?.close().catch(() => undefined)
  }

  async #run(onAttempt: (failure?: ClientError) => void): Promise<void> {
    const { clock, onWarning } = this.#options
    let waitMs = retryMs.first
    while (!this.#stopped.signal.aborted) {
      const since = clock.now()
      const failed = await this.#listen(onAttempt)
      onAttempt(failed?.failure)
      if (this.#stopped.signal.aborted) return
      if (failed?.isRefused === true) {
        onWarning('The server does not announce changes of its tools; it is polled instead.')
        return
      }
      if (clock.now() - since > steadyMs) waitMs = retryMs.first
      await pause(clock, waitMs, this.#stopped.signal)
      waitMs = Math.min(waitMs * 2, retryMs.max)
    }
  }

  /** Opens the stream once and waits until it closes; returns the failure if it could not be opened. */
  async #listen(onOpen: () => void): Promise<ListenFailure | undefined> {
    let session: Session | undefined
    try {
      session = await this.#options.session()
      const open = await session.client.listen(this.#options.filter(session), { timeout: this.#options.timeoutMs })
      if (Object.keys(open.honoredFilter).length === 0) {
        await open.close()
        return { failure: emptySubscription(session.label), isRefused: true }
      }
      if (this.#stopped.signal.aborted) {
        await open.close()
        return undefined
      }
      this.#open = open
      this.#options.onOpen()
      onOpen()
      await open.closed
      if (!this.#stopped.signal.aborted) this.#options.onClosed()
      return undefined
    } catch (error) {
      // Without a session, nothing was refused.
      if (session === undefined)
        return { failure: toClientError(error, { target: 'the server', what: 'Listening' }), isRefused: false }
      const failure = session.toClientError(error, `Listening to ${session.label}`)
      return { failure, isRefused: isRefusal(failure) && !(await this.#options.isReplaced(session, failure)) }
    } finally {
      this.#open = undefined
    }
  }
}

function emptySubscription(label: string): ClientError {
  const problem = `${label} accepted none of the requested subscriptions.`
  return new ClientError('protocol', `${problem} Poll it instead.`, { problem })
}

const isRefusal = ({ reason }: ClientError): boolean => reason === 'protocol' || reason === 'login_required'
