import type { PluginProcess } from './process.ts'

// Long enough not to compete with the plugins that are loading.
const startDelayMs = 250

/** Keeps one process ready, so that loading a saved plugin does not wait for Node to start. */
export class PrewarmedProcess {
  readonly #start: () => PluginProcess
  readonly #isEnabled: boolean
  #ready: PluginProcess | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(start: () => PluginProcess, { isEnabled }: { readonly isEnabled: boolean }) {
    this.#start = start
    this.#isEnabled = isEnabled
  }

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
    if (!this.#isEnabled || this.#isClosed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#ready = this.#start()
    }, startDelayMs)
    this.#timer.unref()
  }
}
