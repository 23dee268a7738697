import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { Failure, Semaphore } from '@unfold-mcp/core'
import type { Source, ToolEntry } from '../tool/entry.ts'
import { errorMessage, type Reporter, stderrReporter } from '../tool/report.ts'
import { PluginProcess } from './process.ts'
import { type PluginStatus, Runner } from './runner.ts'
import { type Scan, scan } from './scan.ts'
import { Spare } from './spare.ts'
import { typescriptArgs } from './typescript.ts'
import { Watcher } from './watcher.ts'

/** How a folder of plugins is followed, and what its plugins may take. */
export interface PluginFolderOptions {
  /** What the folder is called in messages; its own name by default. */
  readonly name?: string
  /** The group of the toolbox for tools that name none. */
  readonly group?: string
  /** How long a call may take, unless the tool says otherwise; a minute by default. */
  readonly callTimeoutMs?: number
  /** How long a module may take to load; ten seconds by default. */
  readonly loadTimeoutMs?: number
  /** How much memory a plugin may take, beside what Node needs itself; 256 MB by default. */
  readonly memoryMb?: number
  /** How large arguments and results may be; 16 MB by default. */
  readonly mostBytes?: number
  /** How long a plugin may stay silent after a call of it was given up, before it is ended; two seconds by default. */
  readonly graceMs?: number
  /** How many plugins are loaded; 64 by default. */
  readonly most?: number
  /** `false` looks at the folder once, and again only when `rescan` is called. */
  readonly watch?: boolean
  /** How often to look regardless of what the disk tells; every two seconds by default. */
  readonly rescanMs?: number
  /** `false` keeps no process ready for what is saved next: that saves its memory, and makes a save take effect later. */
  readonly spare?: boolean
  /** The environment of the plugins; that of the server by default. */
  readonly env?: { readonly [name: string]: string | undefined }
  /** Where failures go; standard error by default. */
  readonly report?: Reporter
  /** Where it is said what was loaded and taken away. */
  readonly log?: (line: string) => void
  /** What a plugin prints, line by line; standard error by default. */
  readonly onOutput?: (plugin: string, line: string) => void
  /** The clock, in milliseconds. */
  readonly now?: () => number
}

const settleMs = 30
const startsAtOnce = 4

/**
 * A folder whose modules are plugins: each brings tools, runs in a process of its own, and is loaded, loaded again when it was
 * saved, and taken away when it was removed. A toolbox takes it with `use`, and tells its clients of every change.
 */
export class PluginFolder implements Source, AsyncDisposable {
  readonly name: string
  readonly #directory: string
  readonly #options: PluginFolderOptions
  readonly #report: Reporter
  readonly #now: () => number
  readonly #runners = new Map<string, Runner>()
  readonly #leaving = new Set<Promise<void>>()
  readonly #listeners = new Set<(added?: ToolEntry) => void>()
  /** What the listeners said of each entry that they were asked about. */
  readonly #verdicts = new WeakMap<ToolEntry, 'accepted' | 'refused'>()
  readonly #refused = new Map<string, string>()
  readonly #starting = new Semaphore(() => ({ concurrency: startsAtOnce }))
  readonly #typescript = typescriptArgs()
  readonly #watcher: Watcher | undefined
  readonly #spare: Spare
  readonly #first: Promise<void>
  readonly #loads = new Set<Promise<void>>()
  #scanning: Promise<void> | undefined
  #isDirty = false
  #isClosed = false

  constructor(directory: string, options: PluginFolderOptions) {
    this.#directory = resolve(directory)
    if (statSync(this.#directory, { throwIfNoEntry: false })?.isDirectory() !== true) {
      const message = `There is no folder ${this.#directory}. Make it, or name another for the plugins.`
      throw new Failure('invalid_declaration', message, { what: 'pluginFolder' })
    }
    this.name = options.name ?? basename(this.#directory)
    this.#options = options
    // A new one each time: the same mistake saved twice is worth saying twice.
    this.#report = options.report ?? ((report) => stderrReporter()(report))
    this.#now = options.now ?? (() => performance.now())
    if (options.watch !== false)
      this.#watcher = new Watcher(() => void this.#scanned(), { settleMs, everyMs: options.rescanMs ?? 2_000 })
    const { loadTimeoutMs = 10_000, mostBytes = 16_000_000, memoryMb = 256, graceMs = 2_000, env } = options
    const limits = { loadTimeoutMs, mostBytes, memoryMb, graceMs }
    const nodeArgs = [...quiet, ...(this.#typescript ?? [])]
    this.#spare = new Spare(() => new PluginProcess({ limits, nodeArgs, ...(env !== undefined && { env }) }), {
      isKept: options.watch !== false && options.spare !== false,
    })
    this.#first = this.rescan()
  }

  /** Done when every plugin that was there at the start has been loaded or reported. */
  ready(): Promise<void> {
    return this.#first
  }

  /** Looks at the folder now; done when what changed has been loaded or reported. */
  async rescan(): Promise<void> {
    await this.#scanned()
    await Promise.all(this.#loads)
  }

  /** How each plugin stands. */
  plugins(): readonly PluginStatus[] {
    return this.#sorted().map((runner) => runner.status)
  }

  entries(): readonly ToolEntry[] {
    return this.#offered().filter((entry) => this.#verdicts.get(entry) === 'accepted')
  }

  subscribe(changed: (added?: ToolEntry) => void): () => void {
    this.#listeners.add(changed)
    // Nobody was there to ask before.
    this.#announce()
    return () => this.#listeners.delete(changed)
  }

  /** Ends every plugin; the folder is of no use after. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#watcher?.close()
    await this.#scanning
    await Promise.all([this.#spare.close(), ...[...this.#runners.values()].map((runner) => runner.close()), ...this.#leaving])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #sorted(): readonly Runner[] {
    return [...this.#runners].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, runner]) => runner)
  }

  #offered(): readonly ToolEntry[] {
    return this.#sorted().flatMap((runner) => runner.entries)
  }

  /** Looks at the folder, one look at a time, and once more when something may have changed meanwhile. */
  #scanned(): Promise<void> {
    this.#isDirty = true
    this.#scanning ??= this.#lookWhileDirty()
    return this.#scanning
  }

  async #lookWhileDirty(): Promise<void> {
    try {
      while (this.#isDirty && !this.#isClosed) {
        this.#isDirty = false
        await this.#look()
      }
    } finally {
      this.#scanning = undefined
    }
  }

  async #look(): Promise<void> {
    const found = await this.#scan()
    if (this.#isClosed) return
    this.#watcher?.follow(found.folders)
    this.#tellRefused(found)
    const keys = new Set(found.candidates.map(({ key }) => key))
    const gone = [...this.#runners].filter(([key]) => !keys.has(key))
    for (const [key, runner] of gone) this.#leave(key, runner)
    if (gone.length > 0) this.#announce()
    for (const candidate of found.candidates) {
      const runner = this.#runners.get(candidate.key) ?? this.#begin(candidate.key)
      if (runner.stamp === candidate.stamp) continue
      const load = runner.load(candidate).finally(() => this.#loads.delete(load))
      this.#loads.add(load)
    }
  }

  async #scan(): Promise<Scan> {
    try {
      return await scan(this.#directory, { canTypescript: this.#typescript !== undefined, most: this.#options.most ?? 64 })
    } catch (error) {
      const refusals = [{ key: this.#directory, message: `the folder cannot be read (${errorMessage(error)})` }]
      return { candidates: [], refusals, folders: [] }
    }
  }

  #tellRefused({ refusals }: Scan): void {
    const messages = new Map(refusals.map(({ key, message }) => [key, message]))
    for (const [key, message] of messages)
      if (this.#refused.get(key) !== message) this.#fail(`Plugin "${key}" was not loaded: ${message}.`)
    this.#refused.clear()
    for (const [key, message] of messages) this.#refused.set(key, message)
  }

  #begin(key: string): Runner {
    const { callTimeoutMs = 60_000, group, log = () => undefined, onOutput = toStderr } = this.#options
    const runner = new Runner({
      key,
      callTimeoutMs,
      group,
      fresh: () => this.#spare.take(),
      now: this.#now,
      starting: this.#starting,
      changed: () => this.#announce(),
      report: (message) => this.#fail(message),
      log,
      output: (line) => onOutput(key, line),
    })
    this.#runners.set(key, runner)
    return runner
  }

  #leave(key: string, runner: Runner): void {
    this.#runners.delete(key)
    this.#options.log?.(`Plugin "${key}" was taken away`)
    const left = runner.unload().finally(() => this.#leaving.delete(left))
    this.#leaving.add(left)
  }

  /** Asks the listeners about entries that are new to them, and tells them that something changed. */
  #announce(): void {
    if (this.#listeners.size === 0 || this.#isClosed) return
    for (const entry of this.#offered()) if (!this.#verdicts.has(entry)) this.#verdicts.set(entry, this.#verdict(entry))
    for (const listener of this.#listeners) listener()
  }

  #verdict(entry: ToolEntry): 'accepted' | 'refused' {
    try {
      for (const listener of this.#listeners) listener(entry)
      return 'accepted'
    } catch (error) {
      this.#fail(`Tool "${entry.tool.name}" of ${entry.source} is not served: ${errorMessage(error)}`)
      return 'refused'
    }
  }

  #fail(message: string): void {
    this.#report({ reason: 'plugin_failed', message })
  }
}

// Warnings of Node about itself are no output of a plugin.
const quiet = ['--disable-warning=ExperimentalWarning']

function toStderr(plugin: string, line: string): void {
  console.error(`[${plugin}] ${line}`)
}

/** Follows a folder of plugins, as a source of tools for `toolbox.use`. */
export function pluginFolder(directory: string, options: PluginFolderOptions = {}): PluginFolder {
  return new PluginFolder(directory, options)
}
