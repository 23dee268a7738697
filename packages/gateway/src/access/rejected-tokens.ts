import { addressShare, type RequestHead } from '@unfold-mcp/server'
import type { Log } from '../base/log.ts'

/** Rejected tokens from one address before its requests without a valid token are throttled. */
const maxRejected = 20
const windowMs = 60_000
const maxAddresses = 10_000

interface Rejections {
  count: number
  readonly until: number
}

export interface RejectedTokensOptions {
  readonly log: Log
  /** Called for each request that is refused because of its token. */
  readonly onRefused?: (status: 401 | 429) => void
  /** Clock in milliseconds. */
  readonly now?: () => number
}

/**
 * Counts rejected tokens by address. After too many, requests from there without a valid token get 429; requests with a valid token
 * never do.
 */
export class RejectedTokens {
  readonly #options: RejectedTokensOptions
  readonly #now: () => number
  /** Oldest first. */
  readonly #byAddress = new Map<string, Rejections>()

  constructor(options: RejectedTokensOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /**
   * Records a request without a valid token. Returns the seconds after which to retry if its address is throttled; otherwise the
   * caller answers with 401. `hasToken`: the request has an invalid token.
   */
  record(head: Pick<RequestHead, 'address'>, hasToken: boolean): number | undefined {
    const retryAfterMs = this.#throttledFor(head, hasToken)
    if (hasToken) this.#options.onRefused?.(retryAfterMs === undefined ? 401 : 429)
    return retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1_000))
  }

  /** Counts a rejected token, and returns how long the address is throttled. */
  #throttledFor(head: Pick<RequestHead, 'address'>, hasToken: boolean): number | undefined {
    const now = this.#now()
    const key = addressShare(head as RequestHead) ?? 'address:local'
    const previous = this.#byAddress.get(key)
    const current = previous === undefined || previous.until <= now ? { count: 0, until: now + windowMs } : previous
    const isThrottled = current.count >= maxRejected
    if (hasToken) this.#count(key, current, head.address)
    return isThrottled ? current.until - now : undefined
  }

  #count(key: string, rejections: Rejections, address = 'unknown'): void {
    const { log } = this.#options
    rejections.count++
    // Once per window and at the limit, so that nobody can fill the log.
    if (rejections.count === 1) log.warn({ address }, `token rejected from ${address}`)
    if (rejections.count === maxRejected)
      log.warn({ address }, `${maxRejected} tokens rejected from ${address}: throttling its requests without a valid token`)
    if (this.#byAddress.get(key) === rejections) return
    // Reinserted, so that the oldest window comes first.
    this.#byAddress.delete(key)
    this.#byAddress.set(key, rejections)
    const [oldest] = this.#byAddress.keys()
    if (this.#byAddress.size > maxAddresses && oldest !== undefined) this.#byAddress.delete(oldest)
  }
}

/** Message of the 429 response. */
export const throttledMessage = (retryAfterSeconds: number): string =>
  `Too many rejected tokens from this address. Send a valid token, or try again in ${retryAfterSeconds} s.`
