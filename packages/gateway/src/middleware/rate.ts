import { Failure } from '@unfold-mcp/core'
import type { Client } from '../access/access.ts'
import { Flow, type FlowOptions } from '../base/token-bucket.ts'

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
  readonly #flow: FlowOptions
  readonly #flows = new Map<string, Flow>()

  constructor(options: RateOptions) {
    this.#options = options
    const { perMinute, now = () => performance.now() } = options
    this.#flow = {
      get most() {
        return perMinute()
      },
      get more() {
        return perMinute()
      },
      everyMs: minuteMs,
      now,
    }
  }

  /** Counts a call, or throws `rate_limited`. Holders of a token share what the token has; others have it for each session. */
  admit({ scope, principal }: { readonly scope: string; readonly principal: Client | undefined }): void {
    const flow = this.#flowOf(principal?.token === undefined ? scope : `token:${principal.token}`)
    if (flow.lets(1)) return
    this.#options.refused?.()
    const limit = this.#options.perMinute()
    const retryAfterMs = flow.msUntil(1)
    throw new Failure(
      'rate_limited',
      `Too many calls: ${limit} a minute are allowed. Nothing was done; call again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
      { limit, retryAfterMs },
    )
  }

  #flowOf(key: string): Flow {
    const flow = this.#flows.get(key) ?? new Flow(this.#flow)
    // The one that was used least lately is in front, and is the first to be forgotten.
    this.#flows.delete(key)
    this.#flows.set(key, flow)
    const [oldest] = this.#flows.keys()
    if (this.#flows.size > most && oldest !== undefined) this.#flows.delete(oldest)
    return flow
  }
}
