import { isClientError } from '@unfold-mcp/client'
import { wordsOf } from '../words.ts'
import { backoffMs } from './backoff.ts'
import { publicWordsOf } from './errors.ts'

const failedAfter = 6
const loginRetryMs = 300_000
// Nobody replaces a certificate within a second.
const untrustedRetryMs = 60_000

/** What is done about a failure: what the upstream is from now on, and when it is tried again. */
export interface Consequence {
  readonly state: 'needs_login' | 'failed' | 'reconnecting'
  readonly retryInMs: number
}

/** What went wrong with an upstream since it last went well for a while. */
export class Trouble {
  #failures = 0
  #words: string | undefined
  #publicWords: string | undefined

  /** The last failure, for whoever runs the gateway: what a process wrote before it ended may be in it. */
  get words(): string | undefined {
    return this.#words
  }

  /** The same without anything that is not for everybody. */
  get publicWords(): string | undefined {
    return this.#publicWords
  }

  /** Something went wrong once more. */
  add(error: unknown, random: () => number): Consequence {
    this.#failures++
    this.#words = wordsOf(error)
    this.#publicWords = publicWordsOf(error)
    if (isClientError(error, 'login_required')) return { state: 'needs_login', retryInMs: loginRetryMs }
    if (isClientError(error, 'unreachable') && error.details.tls !== undefined)
      return { state: 'failed', retryInMs: untrustedRetryMs * (0.5 + random()) }
    const state = this.#failures >= failedAfter ? 'failed' : 'reconnecting'
    return { state, retryInMs: backoffMs(this.#failures, random) }
  }

  /** It is tried at once the next time; what was said of it stays. */
  forgive(): void {
    this.#failures = 0
  }

  /** It goes well. */
  forget(): void {
    this.#failures = 0
    this.#words = undefined
    this.#publicWords = undefined
  }
}
