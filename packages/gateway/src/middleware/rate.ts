import { Failure } from '@unfold-mcp/core'
import type { Client } from '../access/access.ts'
import { TokenBucket, type TokenBucketOptions } from '../base/token-bucket.ts'

const maxClients = 10_000
const minuteMs = 60_000

export interface RateLimiterOptions {
  /** How many calls one client has in a minute, and at once. */
  readonly perMinute: () => number
  readonly refused?: () => void
  readonly now?: () => number
}

/** Lets each client make so many calls and no refill; what it did not use it has for later, up to a minute's worth. */
export class RateLimiter {
  readonly #options: RateLimiterOptions
  readonly #bucket: TokenBucketOptions
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(options: RateLimiterOptions) {
    this.#options = options
    const { perMinute, now = () => performance.now() } = options
    this.#bucket = {
      get capacity() {
        return perMinute()
      },
      get refill() {
        return perMinute()
      },
      everyMs: minuteMs,
      now,
    }
  }

  /** Counts a call, or throws `rate_limited`. Holders of a token share what the token has; others have it for each session. */
  admit({ scope, principal }: { readonly scope: string; readonly principal: Client | undefined }): void {
    const bucket = this.#bucketFor(principal?.token === undefined ? scope : `token:${principal.token}`)
    if (bucket.tryTake(1)) return
    this.#options.refused?.()
    const limit = this.#options.perMinute()
    const retryAfterMs = bucket.msUntil(1)
    throw new Failure(
      'rate_limited',
      `Too many calls: ${limit} a minute are allowed. Nothing was done; call again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
      { limit, retryAfterMs },
    )
  }

  #bucketFor(key: string): TokenBucket {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#bucket)
    // The one that was used least lately is in front, and is the first to be forgotten.
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > maxClients && oldest !== undefined) this.#buckets.delete(oldest)
    return bucket
  }
}
