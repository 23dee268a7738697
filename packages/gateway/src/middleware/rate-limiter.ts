import { Failure } from '@unfold-mcp/core'
import { TokenBucket, type TokenBucketOptions } from '../base/token-bucket.ts'

const maxClients = 10_000
const minuteMs = 60_000

export interface RateLimiterOptions {
  /** Calls per minute and client; also the burst size. */
  readonly perMinute: () => number
  readonly onLimited?: () => void
  readonly now?: () => number
}

/** Token bucket per client. */
export class RateLimiter {
  readonly #options: RateLimiterOptions
  readonly #bucketOptions: TokenBucketOptions
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(options: RateLimiterOptions) {
    this.#options = options
    const { perMinute, now = () => performance.now() } = options
    this.#bucketOptions = {
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

  /** Counts a call, or throws `rate_limited`. Clients with the same token share a limit; anonymous sessions have their own. */
  admit({ scope, share }: { readonly scope: string; readonly share: string | undefined }): void {
    const bucket = this.#bucketFor(share ?? scope)
    if (bucket.tryTake(1)) return
    this.#options.onLimited?.()
    const limit = this.#options.perMinute()
    const retryAfterMs = bucket.msUntil(1)
    throw new Failure(
      'rate_limited',
      `Rate limit exceeded: ${limit} calls per minute. The tool was not called; try again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
      { limit, retryAfterMs },
    )
  }

  #bucketFor(key: string): TokenBucket {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#bucketOptions)
    // Reinserted, so that the least recently used bucket comes first.
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > maxClients && oldest !== undefined) this.#buckets.delete(oldest)
    return bucket
  }
}
