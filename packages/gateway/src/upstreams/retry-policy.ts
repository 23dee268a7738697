import { isClientError } from '@unfold-mcp/client'
import { backoffMs } from './backoff.ts'
import { publicErrorMessage } from './errors.ts'

const maxReconnects = 6
const loginRetryMs = 300_000
// Certificates, caches and sandboxes are not fixed within seconds.
const permanentRetryMs = 60_000
// A failed installation is expensive to repeat.
const firstInstallRetryMs = 5_000

export interface RetryDecision {
  readonly state: 'needs_login' | 'failed' | 'reconnecting'
  readonly retryInMs: number
}

export interface FailedAttempt {
  /** Message for the operator. */
  readonly text: string
  /** True if a launcher such as `npx` started it and it never responded. */
  readonly isInstall: boolean
  readonly hasConnected: boolean
}

/** Counts failed attempts of an upstream and decides when to retry. */
export class RetryPolicy {
  #failures = 0
  #lastError: string | undefined
  #publicMessage: string | undefined

  get failures(): number {
    return this.#failures
  }

  /** Message for the operator; may include process output. */
  get lastError(): string | undefined {
    return this.#lastError
  }

  /** Message for clients. */
  get publicMessage(): string | undefined {
    return this.#publicMessage
  }

  recordFailure(error: unknown, { text, isInstall, hasConnected }: FailedAttempt, random: () => number): RetryDecision {
    this.#failures++
    this.#lastError = text
    this.#publicMessage = publicErrorMessage(error)
    if (isClientError(error, 'login_required')) return { state: 'needs_login', retryInMs: loginRetryMs }
    if (isPermanent(error)) return { state: 'failed', retryInMs: permanentRetryMs * (0.5 + random()) }
    const state = hasConnected && this.#failures < maxReconnects ? 'reconnecting' : 'failed'
    const backoff = backoffMs(this.#failures, random, isInstall ? firstInstallRetryMs : undefined)
    return { state, retryInMs: Math.max(backoff, isClientError(error) ? (error.retryAfterMs ?? 0) : 0) }
  }

  /** Resets the backoff but keeps the last error. */
  resetBackoff(): void {
    this.#failures = 0
  }

  reset(): void {
    this.#failures = 0
    this.#lastError = undefined
    this.#publicMessage = undefined
  }
}

/** True for errors that only the operator can fix. */
const isPermanent = (error: unknown): boolean =>
  (isClientError(error, 'unreachable') && (error.details.tls !== undefined || error.details.sandbox !== undefined)) ||
  (isClientError(error, 'server_died') && error.details.npxFolder !== undefined)
