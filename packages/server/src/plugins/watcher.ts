import { type FSWatcher, watch } from 'node:fs'

/** Calls back, once things have settled, when something in the watched folders may have changed. */
export class Watcher {
  readonly #onChange: () => void
  readonly #settleMs: number
  readonly #mostMs: number
  readonly #watched = new Map<string, FSWatcher>()
  readonly #every: NodeJS.Timeout
  #waiting: { timer: NodeJS.Timeout; readonly last: NodeJS.Timeout } | undefined

  /** `everyMs` is how often it calls back regardless: on some disks nobody tells of changes. */
  constructor(onChange: () => void, { settleMs, everyMs }: { readonly settleMs: number; readonly everyMs: number }) {
    this.#onChange = onChange
    this.#settleMs = settleMs
    this.#mostMs = settleMs * 10
    this.#every = setInterval(onChange, everyMs)
    this.#every.unref()
  }

  /** Watches these folders and no others. */
  follow(folders: readonly string[]): void {
    for (const [folder, watcher] of this.#watched) if (!folders.includes(folder)) this.#forget(folder, watcher)
    for (const folder of folders) if (!this.#watched.has(folder)) this.#begin(folder)
  }

  close(): void {
    clearInterval(this.#every)
    this.#settle()
    for (const [folder, watcher] of this.#watched) this.#forget(folder, watcher)
  }

  #begin(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#touched())
      // The folder is gone, or there are no more watches to be had; looking now and then must do.
      watcher.on('error', () => this.#forget(folder, watcher))
      this.#watched.set(folder, watcher)
    } catch {
      // As above.
    }
  }

  #forget(folder: string, watcher: FSWatcher): void {
    watcher.close()
    if (this.#watched.get(folder) === watcher) this.#watched.delete(folder)
  }

  // Saving a file is several changes. Where they never stop, something must be done nevertheless.
  #touched(): void {
    const done = (): void => {
      this.#settle()
      this.#onChange()
    }
    if (this.#waiting !== undefined) {
      clearTimeout(this.#waiting.timer)
      this.#waiting.timer = setTimeout(done, this.#settleMs)
      return
    }
    this.#waiting = { timer: setTimeout(done, this.#settleMs), last: setTimeout(done, this.#mostMs) }
  }

  #settle(): void {
    clearTimeout(this.#waiting?.timer)
    clearTimeout(this.#waiting?.last)
    this.#waiting = undefined
  }
}
