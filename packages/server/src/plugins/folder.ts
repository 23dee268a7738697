import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { Failure, Semaphore } from '@unfold-mcp/core'
import type { Source, ToolEntry } from '../tool/entry.ts'
import { errorMessage, type Reporter, stderrReporter } from '../tool/report.ts'
import { PrewarmedProcess } from './prewarmed-process.ts'
import { PluginProcess } from './process.ts'
import { type PluginStatus, Runner } from './runner.ts'
import { type Scan, scan } from './scan.ts'
import { typescriptArgs } from './typescript.ts'
import { Watcher } from './watcher.ts'

/** Options for watching a plugin folder, and limits for its plugins. */
export interface PluginFolderOptions {
  /** Name used in messages. Default: the folder's name. */
  readonly name?: string
  /** Toolbox group for tools that do not set their own. */
  readonly group?: string
  /** Timeout of a call, unless the tool sets its own. Default: 60,000. */
  readonly callTimeoutMs?: number
  /** Timeout for loading a module. Default: 10,000. */
  readonly loadTimeoutMs?: number
  /** Memory limit of a plugin, not counting Node itself. Default: 256. */
  readonly memoryMb?: number
  /** Size limit of arguments and of results. Default: 16,000,000. */
  readonly maxMessageBytes?: number
  /** @deprecated Use `maxMessageBytes`. */
  readonly mostBytes?: number
  /** Time that a plugin has to respond after a call timed out or was cancelled, before it is killed. Default: 2,000. */
  readonly graceMs?: number
  /** Maximum number of plugins. Default: 64. */
  readonly maxPlugins?: number
  /** @deprecated Use `maxPlugins`. */
  readonly most?: number
  /** `false` scans the folder once, and again only when `rescan` is called. */
  readonly watch?: boolean
  /** Interval of scans in addition to file system events. Default: 2,000. */
  readonly rescanMs?: number
  /** Keeps a process ready, so that a save takes effect sooner. `false` saves its memory. Default: `true`. */
  readonly prewarm?: boolean
  /** @deprecated Use `prewarm`. */
  readonly spare?: boolean
  /** Environment of the plugins. Default: the server's. */
  readonly env?: { readonly [name: string]: string | undefined }
  /** Called for each failure. Default: writes to stderr. */
  readonly report?: Reporter
  /** Called when a plugin is loaded, reloaded or removed. */
  readonly log?: (line: string) => void
  /** Called for each line that a plugin prints. Default: writes to stderr. */
  readonly onOutput?: (plugin: string, line: string) => void
  /** Clock in milliseconds, for tests. */
  readonly now?: () => number
}

const debounceMs = 30
const maxConcurrentStarts = 4

/**
 * A folder of plugins. Each module provides tools, runs in its own process, is reloaded when it is saved and unloaded when it is
 * removed. Pass it to `toolbox.use`; clients are notified of every change.
 */
export class PluginFolder implements Source, AsyncDisposable {
  readonly name: string
  readonly #directory: string
  readonly #options: PluginFolderOptions
  readonly #report: Reporter
  readonly #now: () => number
  readonly #runners = new Map<string, Runner>()
  readonly #unloading = new Set<Promise<void>>()
  readonly #listeners = new Set<(added?: ToolEntry) => void>()
  readonly #verdicts = new WeakMap<ToolEntry, 'accepted' | 'refused'>()
  readonly #refusals = new Map<string, string>()
  readonly #startSlots = new Semaphore(() => ({ concurrency: maxConcurrentStarts }))
  readonly #typescript = typescriptArgs()
  readonly #watcher: Watcher | undefined
  readonly #prewarmed: PrewarmedProcess
  readonly #firstScan: Promise<void>
  readonly #loads = new Set<Promise<void>>()
  #scanning: Promise<void> | undefined
  #isDirty = false
  #isClosed = false

  constructor(directory: string, options: PluginFolderOptions) {
    this.#directory = resolve(directory)
    if (statSync(this.#directory, { throwIfNoEntry: false })?.isDirectory() !== true) {
      const message = `The plugin folder ${this.#directory} does not exist. Create it, or pass another path.`
      throw new Failure('invalid_declaration', message, { what: 'pluginFolder' })
    }
    this.name = options.name ?? basename(this.#directory)
    this.#options = options
    // A new reporter each time, because a reporter drops repeated messages: the same error in two saves is reported twice.
    this.#report = options.report ?? ((report) => stderrReporter()(report))
    this.#now = options.now ?? (() => performance.now())
    if (options.watch !== false)
      this.#watcher = new Watcher(() => void this.#requestScan(), { debounceMs, pollMs: options.rescanMs ?? 2_000 })
    const {
      loadTimeoutMs = 10_000,
      maxMessageBytes = options.mostBytes ?? 16_000_000,
      memoryMb = 256,
      graceMs = 2_000,
      env,
    } = options
    const limits = { loadTimeoutMs, maxMessageBytes, memoryMb, graceMs }
    // Node's warnings about its own features are not plugin output.
    const nodeArgs = ['--disable-warning=ExperimentalWarning', ...(this.#typescript ?? [])]
    this.#prewarmed = new PrewarmedProcess(() => new PluginProcess({ limits, nodeArgs, ...(env !== undefined && { env }) }), {
      isEnabled: options.watch !== false && (options.prewarm ?? options.spare) !== false,
    })
    this.#firstScan = this.rescan()
  }

  /** Resolves when every plugin of the first scan has been loaded or reported. */
  ready(): Promise<void> {
    return this.#firstScan
  }

  /** Scans the folder now; resolves when every change has been loaded or reported. */
  async rescan(): Promise<void> {
    await this.#requestScan()
    await Promise.all(this.#loads)
  }

  /** Returns the status of each plugin. */
  plugins(): readonly PluginStatus[] {
    return this.#sorted().map((runner) => runner.status)
  }

  entries(): readonly ToolEntry[] {
    return this.#offered().filter((entry) => this.#verdicts.get(entry) === 'accepted')
  }

  subscribe(changed: (added?: ToolEntry) => void): () => void {
    this.#listeners.add(changed)
    // Entries have no verdict yet if nothing subscribed before.
    this.#announce()
    return () => this.#listeners.delete(changed)
  }

  /** Stops every plugin. The folder cannot be used afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#watcher?.close()
    await this.#scanning
    await Promise.all([
      this.#prewarmed.close(),
      ...[...this.#runners.values()].map((runner) => runner.close()),
      ...this.#unloading,
    ])
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

  /** Runs one scan at a time, and another if one was requested meanwhile. */
  #requestScan(): Promise<void> {
    this.#isDirty = true
    this.#scanning ??= this.#scanWhileDirty()
    return this.#scanning
  }

  async #scanWhileDirty(): Promise<void> {
    try {
      while (this.#isDirty && !this.#isClosed) {
        this.#isDirty = false
        await this.#applyScan()
      }
    } finally {
      this.#scanning = undefined
    }
  }

  async #applyScan(): Promise<void> {
    const result = await this.#scan()
    if (this.#isClosed) return
    this.#watcher?.setFolders(result.folders)
    this.#reportRefusals(result)
    const keys = new Set(result.candidates.map(({ key }) => key))
    const removed = [...this.#runners].filter(([key]) => !keys.has(key))
    for (const [key, runner] of removed) this.#removeRunner(key, runner)
    if (removed.length > 0) this.#announce()
    for (const candidate of result.candidates) {
      const runner = this.#runners.get(candidate.key) ?? this.#addRunner(candidate.key)
      if (runner.stamp === candidate.stamp) continue
      const load = runner.load(candidate).finally(() => this.#loads.delete(load))
      this.#loads.add(load)
    }
  }

  async #scan(): Promise<Scan> {
    try {
      const maxPlugins = this.#options.maxPlugins ?? this.#options.most ?? 64
      return await scan(this.#directory, { canTypescript: this.#typescript !== undefined, maxPlugins })
    } catch (error) {
      const refusals = [{ key: this.#directory, message: `the folder cannot be read (${errorMessage(error)})` }]
      return { candidates: [], refusals, folders: [] }
    }
  }

  #reportRefusals({ refusals }: Scan): void {
    const messages = new Map(refusals.map(({ key, message }) => [key, message]))
    for (const [key, message] of messages)
      if (this.#refusals.get(key) !== message) this.#fail(`Plugin "${key}" was not loaded: ${message}.`)
    this.#refusals.clear()
    for (const [key, message] of messages) this.#refusals.set(key, message)
  }

  #addRunner(key: string): Runner {
    const { callTimeoutMs = 60_000, group, log = () => undefined, onOutput = writeToStderr } = this.#options
    const runner = new Runner({
      key,
      callTimeoutMs,
      group,
      takeProcess: () => this.#prewarmed.take(),
      now: this.#now,
      startSlots: this.#startSlots,
      onChange: () => this.#announce(),
      report: (message) => this.#fail(message),
      log,
      onOutput: (line) => onOutput(key, line),
    })
    this.#runners.set(key, runner)
    return runner
  }

  #removeRunner(key: string, runner: Runner): void {
    this.#runners.delete(key)
    this.#options.log?.(`Plugin "${key}" removed`)
    const unloaded = runner.unload().finally(() => this.#unloading.delete(unloaded))
    this.#unloading.add(unloaded)
  }

  /** Offers new entries to the listeners, which throw to refuse one, then notifies them of the change. */
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

function writeToStderr(plugin: string, line: string): void {
  console.error(`[${plugin}] ${line}`)
}

/** Watches a folder of plugins, as a source of tools for `toolbox.use`. */
export function pluginFolder(directory: string, options: PluginFolderOptions = {}): PluginFolder {
  return new PluginFolder(directory, options)
}
