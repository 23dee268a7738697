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

/** Token buckets that all replicas of a gateway share. */
export interface SharedBuckets {
  /** Takes a token. Resolves with the time until there is one; 0 if it was taken; `undefined` if the buckets are unavailable. */
  take(key: string, perMinute: number): Promise<number | undefined>
}

interface AdmittedCall {
  readonly scope: string
  readonly share: string | undefined
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
  admit({ scope, share }: AdmittedCall): void {
    const bucket = this.#bucketFor(share ?? scope)
    if (!bucket.tryTake(1)) this.#refuse(bucket.msUntil(1))
  }

  /** Like `admit`, for all replicas together. While the shared buckets are unavailable, those of this process apply. */
  async admitShared(buckets: SharedBuckets, call: AdmittedCall): Promise<void> {
    const waitMs = await buckets.take(call.share ?? call.scope, this.#options.perMinute())
    if (waitMs === undefined) this.admit(call)
    else if (waitMs > 0) this.#refuse(waitMs)
  }

  #refuse(retryAfterMs: number): never {
    this.#options.onLimited?.()
    const limit = this.#options.perMinute()
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
