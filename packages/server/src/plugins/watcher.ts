import { type FSWatcher, watch } from 'node:fs'

/**
 * Calls back, debounced, when something in the watched folders may have changed.
 * @internal
 */
export class Watcher {
  readonly #onChange: () => void
  readonly #debounceMs: number
  readonly #maxDelayMs: number
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #poll: NodeJS.Timeout
  #pending: { timer: NodeJS.Timeout; readonly deadline: NodeJS.Timeout } | undefined

  /** Also calls back every `pollMs`: some file systems report no changes. */
  constructor(onChange: () => void, { debounceMs, pollMs }: { readonly debounceMs: number; readonly pollMs: number }) {
    this.#onChange = onChange
    this.#debounceMs = debounceMs
    this.#maxDelayMs = debounceMs * 10
    this.#poll = setInterval(onChange, pollMs)
    this.#poll.unref()
  }

  /** Watches exactly these folders. */
  setFolders(folders: readonly string[]): void {
    for (const [folder, watcher] of this.#watchers) if (!folders.includes(folder)) this.#unwatch(folder, watcher)
    for (const folder of folders) if (!this.#watchers.has(folder)) this.#watch(folder)
  }

  close(): void {
    clearInterval(this.#poll)
    this.#clearPending()
    for (const [folder, watcher] of this.#watchers) this.#unwatch(folder, watcher)
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#changed())
      // The folder was removed, or the watch limit is reached; polling covers it.
      watcher.on('error', () => this.#unwatch(folder, watcher))
      this.#watchers.set(folder, watcher)
    } catch {
      // Polling covers it, as above.
    }
  }

  #unwatch(folder: string, watcher: FSWatcher): void {
    watcher.close()
    if (this.#watchers.get(folder) === watcher) this.#watchers.delete(folder)
  }

  // Saving a file causes several events. The maximum delay covers folders whose events never stop.
  #changed(): void {
    const fire = (): void => {
      this.#clearPending()
      this.#onChange()
    }
    if (this.#pending !== undefined) {
      clearTimeout(this.#pending.timer)
      this.#pending.timer = setTimeout(fire, this.#debounceMs)
      return
    }
    this.#pending = { timer: setTimeout(fire, this.#debounceMs), deadline: setTimeout(fire, this.#maxDelayMs) }
  }

  #clearPending(): void {
    clearTimeout(this.#pending?.timer)
    clearTimeout(this.#pending?.deadline)
    this.#pending = undefined
  }
}
