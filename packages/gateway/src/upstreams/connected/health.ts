import type { Clock } from '@unfold-mcp/client'
import { isClientError } from '@unfold-mcp/client'

export interface HealthOptions {
  readonly ping: (timeoutMs: number) => Promise<void>
  /** It does not answer any more. */
  readonly lost: (error: unknown) => void
  /** Whether it works on something: then it may have no time to answer. */
  readonly isBusy: () => boolean
  readonly settings: () => { readonly pingMs: number; readonly pingTimeoutMs: number }
  readonly clock: Clock
  readonly random: () => number
}

const maxSilentPings = 3
const maxUnreachablePings = 2
const againMs = 250

/** Whether a connected upstream still lives. It is asked only when nothing else was heard of it, and given more than one chance. */
export class Health {
  readonly #options: HealthOptions
  #heardAt: number
  #strikes = 0
  #isAsking = false
  #isClosed = false
  #cancel: () => void = () => undefined

  constructor(options: HealthOptions) {
    this.#options = options
    this.#heardAt = options.clock.now()
    this.#plan()
  }

  /** It answered something. */
  heard(): void {
    this.#heardAt = this.#options.clock.now()
    this.#strikes = 0
  }

  /** Something makes it read dead: it is asked at once. */
  suspect(): void {
    void this.#ask()
  }

  close(): void {
    this.#isClosed = true
    this.#cancel()
  }

  #plan(): void {
    const { clock, random, settings, isBusy } = this.#options
    const { pingMs } = settings()
    if (pingMs <= 0 || this.#isClosed) return
    const due = (): void => {
      const isQuiet = clock.now() - this.#heardAt >= pingMs / 2
      if (isQuiet && !isBusy()) void this.#ask()
      this.#plan()
    }
    this.#cancel = clock.after(pingMs * (0.9 + 0.2 * random()), due, true)
  }

  async #ask(): Promise<void> {
    if (this.#isAsking || this.#isClosed) return
    this.#isAsking = true
    const { ping, settings, lost, clock } = this.#options
    try {
      await ping(settings().pingTimeoutMs)
      this.heard()
    } catch (error) {
      if (this.#isClosed) return
      this.#strikes++
      const most = isClientError(error, 'timeout')
        ? maxSilentPings
        : isClientError(error, 'unreachable')
          ? maxUnreachablePings
          : 1
      if (this.#strikes >= most) lost(error)
      else clock.after(againMs, () => void this.#ask())
    } finally {
      this.#isAsking = false
    }
  }
}
