import { Failure } from '@unfold-mcp/core'
import type { Client } from '../access.ts'

interface Bucket {
  left: number
  at: number
}

const most = 10_000
const minuteMs = 60_000

export interface RateOptions {
  /** How many calls one client has in a minute, and at once. */
  readonly perMinute: () => number
  readonly refused?: () => void
  readonly now?: () => number
}

/** Lets each client make so many calls and no more; what it did not use it has for later, up to a minute's worth. */
export class Rate {
  readonly #options: RateOptions
  readonly #now: () => number
  readonly #buckets = new Map<string, Bucket>()

  constructor(options: RateOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Counts a call, or throws `rate_limited`. Holders of a token share what the token has; others have it for each session. */
  admit({ scope, principal }: { readonly scope: string; readonly principal: Client | undefined }): void {
    const limit = this.#options.perMinute()
    const bucket = this.#bucket(principal?.token === undefined ? scope : `token:${principal.token}`, limit)
    if (bucket.left >= 1) {
      bucket.left--
      return
    }
    this.#options.refused?.()
    const retryAfterMs = Math.ceil(((1 - bucket.left) * minuteMs) / limit)
    throw new Failure(
      'rate_limited',
      `Too many calls: ${limit} a minute are allowed. Nothing was done; call again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
      { limit, retryAfterMs },
    )
  }

  #bucket(key: string, limit: number): Bucket {
    const now = this.#now()
    const known = this.#buckets.get(key)
    const bucket = known ?? { left: limit, at: now }
    bucket.left = Math.min(limit, bucket.left + ((now - bucket.at) * limit) / minuteMs)
    bucket.at = now
    // The one that was used least lately is in front, and is the first to be forgotten.
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > most && oldest !== undefined) this.#buckets.delete(oldest)
    return bucket
  }
}
