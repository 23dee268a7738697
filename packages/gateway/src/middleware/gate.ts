import { ToolError } from '@unfold-mcp/server'
import type { Middleware } from './chain.ts'

const ending = 'The gateway is about to end and takes no more calls. Nothing was done; call again in a moment.'

/** Counts the calls that run, and lets no more in once it is closed. */
export class CallGate {
  #running = 0
  #isClosed = false
  readonly #waiting = new Set<() => void>()

  /** How many calls run. */
  get running(): number {
    return this.#running
  }

  /** From now on every call is refused. */
  close(): void {
    this.#isClosed = true
  }

  /** Done when no call runs any more. */
  async empty(): Promise<void> {
    while (this.#running > 0) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  readonly middleware: Middleware = (call, next) => {
    if (this.#isClosed) return Promise.reject(new ToolError(ending))
    this.#running++
    const result = next(call)
    result.then(this.#leave, this.#leave)
    return result
  }

  readonly #leave = (): void => {
    this.#running--
    if (this.#waiting.size === 0) return
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const go of waiting) go()
  }
}
