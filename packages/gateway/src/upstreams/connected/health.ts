import type { Clock } from '@unfold-mcp/client'
import { isClientError } from '@unfold-mcp/client'

export interface HealthOptions {
  readonly ping: (timeoutMs: number) => Promise<void>
  readonly lost: (error: unknown) => void
  /** A busy server may not answer pings. */
  readonly isBusy: () => boolean
  readonly settings: () => { readonly pingMs: number; readonly pingTimeoutMs: number }
  readonly clock: Clock
  readonly random: () => number
}

const maxSilentPings = 3
const maxUnreachablePings = 2
const retryMs = 250

/** Pings a connection while it is idle, and declares it lost after several failures. */
export class Health {
  readonly #options: HealthOptions
  #lastActivity: number
  #failures = 0
  #isPinging = false
  #isClosed = false
  #cancel: () => void = () => undefined

  constructor(options: HealthOptions) {
    this.#options = options
    this.#lastActivity = options.clock.now()
    this.#schedule()
  }

  /** Records a response. */
  active(): void {
    this.#lastActivity = this.#options.clock.now()
    this.#failures = 0
  }

  /** Pings immediately because the connection may be dead. */
  check(): void {
    void this.#ping()
  }

  close(): void {
    this.#isClosed = true
    this.#cancel()
  }

  #schedule(): void {
    const { clock, random, settings, isBusy } = this.#options
    const { pingMs } = settings()
    if (pingMs <= 0 || this.#isClosed) return
    const due = (): void => {
      const isIdle = clock.now() - this.#lastActivity >= pingMs / 2
      if (isIdle && !isBusy()) void this.#ping()
      this.#schedule()
    }
    this.#cancel = clock.after(pingMs * (0.9 + 0.2 * random()), due, true)
  }

  async #ping(): Promise<void> {
    if (this.#isPinging || this.#isClosed) return
    this.#isPinging = true
    const { ping, settings, lost, clock } = this.#options
    try {
      await ping(settings().pingTimeoutMs)
      this.active()
    } catch (error) {
      if (this.#isClosed) return
      this.#failures++
      const maxFailures = isClientError(error, 'timeout')
        ? maxSilentPings
        : // A server that requests a pause gets no further ping.
          isClientError(error, 'unreachable') && error.retryAfterMs === undefined
          ? maxUnreachablePings
          : 1
      if (this.#failures >= maxFailures) lost(error)
      else clock.after(retryMs, () => void this.#ping())
    } finally {
      this.#isPinging = false
    }
  }
}
