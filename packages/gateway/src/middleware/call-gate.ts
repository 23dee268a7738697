import { ToolError } from '@unfold-mcp/server'
import type { Middleware } from './chain.ts'

/** The gateway takes no more calls. */
export class ShuttingDownError extends ToolError {
  constructor() {
    super('The gateway is shutting down. The tool was not called; try again in a moment.')
  }
}

/** Counts running calls, and rejects new ones once it is closed. */
export class CallGate {
  #running = 0
  #isClosed = false
  readonly #idleWaiters = new Set<() => void>()

  get running(): number {
    return this.#running
  }

  close(): void {
    this.#isClosed = true
  }

  /** Resolves when no call is running. */
  async idle(): Promise<void> {
    while (this.#running > 0) await new Promise<void>((resolve) => this.#idleWaiters.add(resolve))
  }

  readonly middleware: Middleware = (call, next) => {
    if (this.#isClosed) return Promise.reject(new ShuttingDownError())
    this.#running++
    const result = next(call)
    result.then(this.#leave, this.#leave)
    return result
  }

  readonly #leave = (): void => {
    this.#running--
    const waiters = [...this.#idleWaiters]
    this.#idleWaiters.clear()
    for (const resolve of waiters) resolve()
  }
}
