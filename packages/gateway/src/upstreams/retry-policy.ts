import { isClientError } from '@unfold-mcp/client'
import { backoffMs } from './backoff.ts'
import { publicErrorMessage } from './errors.ts'

const failedAfter = 6
const loginRetryMs = 300_000
// Nobody replaces a certificate, or repairs a cache, within a second.
const lastingRetryMs = 60_000
// An installation that failed would fail again at once, and costs a registry and a disk something each time.
const firstInstallRetryMs = 5_000

/** What is done about a failure: what the upstream is from now on, and when it is tried again. */
export interface RetryDecision {
  readonly state: 'needs_login' | 'failed' | 'reconnecting'
  readonly retryInMs: number
}

/** What failed, and how far it had come. */
export interface FailedAttempt {
  /** What to say of it to whoever runs the gateway. */
  readonly text: string
  /** Whether a launcher such as `npx` was to start it, and it never answered. */
  readonly isInstall: boolean
  /** Whether it ever was connected. */
  readonly hasConnected: boolean
}

/** What went wrong with an upstream since it last went well for a while. */
export class RetryPolicy {
  #failures = 0
  #text: string | undefined
  #publicMessage: string | undefined

  /** How many attempts failed. */
  get failures(): number {
    return this.#failures
  }

  /** The last failure, for whoever runs the gateway: what a process wrote before it ended may be in it. */
  get text(): string | undefined {
    return this.#text
  }

  /** The same without anything that is not for everybody. */
  get publicMessage(): string | undefined {
    return this.#publicMessage
  }

  /** Something went wrong once more. */
  add(error: unknown, { text, isInstall, hasConnected }: FailedAttempt, random: () => number): RetryDecision {
    this.#failures++
    this.#text = text
    this.#publicMessage = publicErrorMessage(error)
    if (isClientError(error, 'login_required')) return { state: 'needs_login', retryInMs: loginRetryMs }
    if (isLasting(error)) return { state: 'failed', retryInMs: lastingRetryMs * (0.5 + random()) }
    const state = hasConnected && this.#failures < failedAfter ? 'reconnecting' : 'failed'
    return { state, retryInMs: backoffMs(this.#failures, random, isInstall ? firstInstallRetryMs : undefined) }
  }

  /** It is tried at once the next time; what was said of it stays. */
  forgive(): void {
    this.#failures = 0
  }

  /** It goes well. */
  forget(): void {
    this.#failures = 0
    this.#text = undefined
    this.#publicMessage = undefined
  }
}

/** Whether it fails again until somebody does something about it. */
const isLasting = (error: unknown): boolean =>
  (isClientError(error, 'unreachable') && error.details.tls !== undefined) ||
  (isClientError(error, 'server_died') && error.details.npxFolder !== undefined)
