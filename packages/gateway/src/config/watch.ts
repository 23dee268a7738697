import { type FSWatcher, watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { canonicalJson } from '@unfold-mcp/core'
import { errorMessage } from '../base/error-message.ts'
import { ConfigError, type ConfigProblem } from './problem.ts'
import { parseConfig, type ReadConfig, textOf } from './read.ts'
import type { Environment } from './variables.ts'

export interface WatchOptions {
  readonly environment: Environment
  /** A configuration that says something else than the one before. */
  readonly changed: (read: ReadConfig) => void
  /** An edit that cannot be used; the last good configuration stays. Told once for each edit. */
  readonly invalid: (problems: readonly ConfigProblem[]) => void
  /** What could not be used was made good, and is what it was before. */
  readonly restored?: () => void
  /** How long to wait for the rest of an edit: saving a file is several changes. */
  readonly settleMs?: number
  /** How often to look even if nobody told of a change: on some disks nobody does. */
  readonly everyMs?: number
}

/** Follows a configuration file, however it is saved: written over, replaced by another, or gone for a while. */
export class ConfigWatch {
  readonly #file: string
  readonly #options: Required<Omit<WatchOptions, 'restored'>> & Pick<WatchOptions, 'restored'>
  readonly #every: NodeJS.Timeout
  #watcher: FSWatcher | undefined
  #settling: NodeJS.Timeout | undefined
  #current: ReadConfig
  #seen = ''
  #text: string | undefined
  #told = ''
  #problems: readonly ConfigProblem[] = []
  #reading: Promise<void> | undefined
  #isDirty = false
  #isClosed = false

  /** `current` is what was read before; a first look finds what changed since. */
  constructor(file: string, current: ReadConfig, options: WatchOptions) {
    this.#file = resolve(file)
    this.#current = current
    this.#options = { settleMs: 100, everyMs: 2_000, ...options }
    this.#every = setInterval(() => void this.#glance(), this.#options.everyMs)
    this.#every.unref()
    this.#follow()
    this.#look()
  }

  /** The last good configuration. */
  get current(): ReadConfig {
    return this.#current
  }

  /** What is wrong with the file as it is now. */
  get problems(): readonly ConfigProblem[] {
    return this.#problems
  }

  /** Reads the file now. Done when what it holds is in use, or was refused. */
  reload(): Promise<void> {
    this.#isDirty = true
    this.#reading ??= this.#readWhileDirty().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#every)
    clearTimeout(this.#settling)
    this.#watcher?.close()
  }

  // The folder and not the file: editors put a new file in its place, and a watch would stay with the old one.
  #follow(): void {
    const name = basename(this.#file)
    try {
      this.#watcher = watch(dirname(this.#file), { persistent: false }, (_event, changed) => {
        if (changed === null || changed === name) this.#touched()
      })
      // The folder is gone, or there are no more watches to be had; looking now and then must do.
      this.#watcher.on('error', () => this.#watcher?.close())
    } catch {
      // As above.
    }
  }

  #touched(): void {
    clearTimeout(this.#settling)
    this.#settling = setTimeout(() => this.#look(), this.#options.settleMs)
    this.#settling.unref()
  }

  async #glance(): Promise<void> {
    const seen = await marksOf(this.#file)
    if (seen !== this.#seen) this.#look()
  }

  /** Reads the file because of a change. Nobody waits for it, so what goes wrong in whoever listens is told and not thrown. */
  #look(): void {
    this.reload().catch((error: unknown) => {
      const message = `could not be put to use: ${errorMessage(error)}`
      this.#options.invalid([{ file: this.#file, line: 1, column: 1, path: '', message }])
    })
  }

  // A change that comes while reading may have come too late to be read.
  async #readWhileDirty(): Promise<void> {
    while (this.#isDirty && !this.#isClosed) {
      this.#isDirty = false
      this.#seen = await marksOf(this.#file)
      // Between an old file and the new one in its place there is none for a moment.
      if (this.#seen === 'gone') {
        await wait(this.#options.settleMs, undefined, { ref: false })
        this.#seen = await marksOf(this.#file)
      }
      await this.#read()
    }
  }

  async #read(): Promise<void> {
    const { environment, invalid } = this.#options
    try {
      const text = await this.#textNow()
      if (text === this.#text || this.#isClosed) return
      this.#text = text
      this.#use(parseConfig(text, { file: this.#file, environment }))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      this.#problems = error.problems
      if (!this.#isClosed && !this.#isTold(error)) invalid(error.problems)
    }
  }

  /** One that is back after it was gone counts as new, even if it is the same. */
  async #textNow(): Promise<string> {
    try {
      return await textOf(this.#file)
    } catch (error) {
      this.#text = undefined
      throw error
    }
  }

  /** Whether this was said of the file already, and nothing good came since. */
  #isTold({ message }: ConfigError): boolean {
    if (this.#told === message) return true
    this.#told = message
    return false
  }

  #use(read: ReadConfig): void {
    const before = this.#current
    const wasRefused = this.#problems.length > 0
    this.#told = ''
    this.#problems = []
    this.#current = read
    if (meaningOf(before) !== meaningOf(read)) this.#options.changed(read)
    else if (wasRefused) this.#options.restored?.()
  }
}

/** The same text for configurations that say the same, however they are written. In which order servers stand is the order of lists. */
function meaningOf({ config: { $schema: _schema, ...config }, held }: ReadConfig): string {
  return canonicalJson([config, Object.keys(config.mcpServers), [...held.keys()]])
}

/** What tells one state of a file from another without reading it. */
async function marksOf(file: string): Promise<string> {
  return stat(file).then(
    ({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`,
    () => 'gone',
  )
}
