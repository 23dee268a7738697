import type { PluginProcess } from './process.ts'

// Long enough that it does not take part in the rush of what is being loaded.
const afterMs = 250

/** Keeps one process ready, so that what is saved need not wait for Node to start. */
export class Spare {
  readonly #start: () => PluginProcess
  readonly #isKept: boolean
  #ready: PluginProcess | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(start: () => PluginProcess, { isKept }: { readonly isKept: boolean }) {
    this.#start = start
    this.#isKept = isKept
  }

  /** The process that is ready, or a new one. */
  take(): PluginProcess {
    const ready = this.#ready
    this.#ready = undefined
    this.#prepare()
    return ready === undefined || ready.hasEnded ? this.#start() : ready
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#ready?.stop()
  }

  #prepare(): void {
    if (!this.#isKept || this.#isClosed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#ready = this.#start()
    }, afterMs)
    this.#timer.unref()
  }
}
