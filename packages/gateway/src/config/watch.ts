import { type FSWatcher, watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { canonicalJson } from '@unfold-mcp/core'
import { errorMessage } from '../base/error-message.ts'
import { ConfigError, type ConfigProblem } from './problem.ts'
import { type ReadConfig, type ResolveOptions, readConfigText, resolveConfig } from './read.ts'
import { isScriptServer, scriptServerName } from './schema.ts'
import { hasScripts } from './scripts/files.ts'

export interface WatchOptions extends Pick<ResolveOptions, 'environment' | 'resolver' | 'permit'> {
  /** Called with a valid configuration that differs from the last one. */
  readonly changed: (read: ReadConfig) => void
  /** Called once for each invalid edit; the last valid configuration stays in use. */
  readonly invalid: (problems: readonly ConfigProblem[]) => void
  /** Called when an invalid edit was undone. */
  readonly restored?: () => void
  /** Debounce time: saving a file causes several events. */
  readonly settleMs?: number
  /** Polling interval, for file systems without change events. */
  readonly pollMs?: number
}

/** Watches a configuration file, whether it is overwritten, replaced, or deleted and created again. */
export class ConfigWatch {
  readonly #file: string
  readonly #options: WatchOptions & Required<Pick<WatchOptions, 'settleMs' | 'pollMs'>>
  readonly #polling: NodeJS.Timeout
  #watcher: FSWatcher | undefined
  #settling: NodeJS.Timeout | undefined
  #current: ReadConfig
  #fingerprint = ''
  #text: string | undefined
  #reportedError = ''
  #problems: readonly ConfigProblem[] = []
  #reading: Promise<void> | undefined
  #isDirty = false
  #isRefreshed = false
  #isForced = false
  #isClosed = false

  /** `current` is the configuration in use; edits since it was read are found at once. */
  constructor(file: string, current: ReadConfig, options: WatchOptions) {
    this.#file = resolve(file)
    this.#current = current
    this.#options = { settleMs: 100, pollMs: 2_000, ...options }
    this.#polling = setInterval(() => void this.#poll(), this.#options.pollMs)
    this.#polling.unref()
    this.#follow()
    this.#reloadInBackground()
  }

  /** The last valid configuration. */
  get current(): ReadConfig {
    return this.#current
  }

  /** Problems of the file as it is now. */
  get problems(): readonly ConfigProblem[] {
    return this.#problems
  }

  /**
   * Reads the file now. Resolves when it was applied or rejected. `isForced`: also if the text is the same, because something in it
   * was approved. `isRefreshed`: also reads all secrets again.
   */
  reload({ isForced = false, isRefreshed = false } = {}): Promise<void> {
    this.#isDirty = true
    this.#isForced ||= isForced
    this.#isRefreshed ||= isRefreshed
    this.#reading ??= this.#readWhileDirty().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#polling)
    clearTimeout(this.#settling)
    this.#watcher?.close()
  }

  // Watches the folder: editors replace the file, and a watcher of the file would stay with the old one.
  #follow(): void {
    const name = basename(this.#file)
    try {
      this.#watcher = watch(dirname(this.#file), { persistent: false }, (_event, changed) => {
        if (changed === null || changed === name) this.#scheduleReload()
      })
      // The folder is gone, or no more watches are available: polling continues.
      this.#watcher.on('error', () => this.#watcher?.close())
    } catch {
      // As above.
    }
  }

  #scheduleReload(): void {
    clearTimeout(this.#settling)
    this.#settling = setTimeout(() => this.#reloadInBackground(), this.#options.settleMs)
    this.#settling.unref()
  }

  async #poll(): Promise<void> {
    const { config } = this.#current
    // The first script makes the folder of scripts a server, and the last one ends it.
    const server = config.mcpServers[scriptServerName]
    const isForced = (server === undefined || isScriptServer(server)) && hasScripts(config, this.#file) !== (server !== undefined)
    if (isForced) this.#isForced = true
    if (isForced || (await fingerprintOf(this.#file)) !== this.#fingerprint) this.#reloadInBackground()
  }

  // Nobody awaits this, so an error thrown by a listener is reported.
  #reloadInBackground(): void {
    this.reload().catch((error: unknown) => {
      const message = `could not be applied: ${errorMessage(error)}`
      this.#options.invalid([{ file: this.#file, line: 1, column: 1, path: '', message }])
    })
  }

  // A change during a read may have been missed by that read.
  async #readWhileDirty(): Promise<void> {
    while (this.#isDirty && !this.#isClosed) {
      this.#isDirty = false
      this.#fingerprint = await fingerprintOf(this.#file)
      // While an editor replaces the file, it may be missing for a moment.
      if (this.#fingerprint === 'missing') {
        await wait(this.#options.settleMs, undefined, { ref: false })
        this.#fingerprint = await fingerprintOf(this.#file)
      }
      await this.#read()
    }
  }

  async #read(): Promise<void> {
    const { invalid } = this.#options
    const isRefreshed = this.#isRefreshed
    const isForced = this.#isForced || isRefreshed
    this.#isRefreshed = false
    this.#isForced = false
    try {
      const text = await this.#readText()
      if ((text === this.#text && !isForced) || this.#isClosed) return
      this.#text = text
      const { environment, resolver, permit } = this.#options
      const read = await resolveConfig(text, { file: this.#file, environment, resolver, permit, isRefreshed })
      if (!this.#isClosed) this.#apply(read)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      this.#problems = error.problems
      const isNew = this.#reportedError !== error.message
      this.#reportedError = error.message
      if (!this.#isClosed && isNew) invalid(error.problems)
    }
  }

  async #readText(): Promise<string> {
    try {
      return await readConfigText(this.#file)
    } catch (error) {
      // A file that was missing counts as new when it is back.
      this.#text = undefined
      throw error
    }
  }

  #apply(read: ReadConfig): void {
    const before = this.#current
    const wasInvalid = this.#problems.length > 0
    this.#reportedError = ''
    this.#problems = []
    this.#current = read
    if (contentKey(before) !== contentKey(read)) this.#options.changed(read)
    else if (wasInvalid) this.#options.restored?.()
  }
}

// The order of servers matters because it is the order of tools.
function contentKey({ config: { $schema: _schema, ...config }, notStarted }: ReadConfig): string {
  // The reason may change, for example from a missing to an empty secret.
  const reasons = [...notStarted].map(([name, problems]) => [name, ...problems.map(({ message }) => message)])
  return canonicalJson([config, Object.keys(config.mcpServers), reasons])
}

async function fingerprintOf(file: string): Promise<string> {
  return stat(file).then(
    ({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`,
    () => 'missing',
  )
}
