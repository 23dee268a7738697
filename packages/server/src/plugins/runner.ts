import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { canonicalJson, Failure, type Semaphore } from '@unfold-mcp/core'
import { sentence } from '../catalog/activators.ts'
import type { ToolContext } from '../tool/context.ts'
import type { ToolEntry } from '../tool/entry.ts'
import { errorMessage } from '../tool/report.ts'
import type { HandlerResult } from '../tool/result.ts'
import { toolEntries } from './definition.ts'
import { Output } from './output.ts'
import type { PluginProcess } from './process.ts'
import type { Candidate } from './scan.ts'

/** Status of one plugin. */
export interface PluginStatus {
  /** Entry name in the folder: `text.js`, or `weather/`. */
  readonly key: string
  readonly name: string
  /** `loading`: no version runs yet. `restarting`: it exited and restarts after a delay. `failed`: no version could be loaded. */
  readonly state: 'loading' | 'running' | 'restarting' | 'failed'
  readonly tools: readonly string[]
  /** Last failure, until the plugin loads again. */
  readonly problem?: string
  readonly pid?: number
}

export interface RunnerOptions {
  readonly key: string
  readonly callTimeoutMs: number
  readonly group: string | undefined
  /** Returns a process that has not loaded anything. */
  readonly takeProcess: () => PluginProcess
  readonly now: () => number
  /** Limits concurrent starts. */
  readonly startSlots: Semaphore
  /** Called when its tools changed. */
  readonly onChange: () => void
  readonly report: (message: string) => void
  readonly log: (message: string) => void
  readonly onOutput: (line: string) => void
}

const minRestartDelayMs = 100
const maxRestartDelayMs = 30_000
const stableAfterMs = 10_000
const drainTimeoutMs = 10_000
const maxRestartWaitMs = 1_000

/** Serves the last version of one plugin that loaded, and restarts its process when it exits. */
export class Runner {
  readonly #options: RunnerOptions
  #candidate: Candidate | undefined
  #process: PluginProcess | undefined
  #entries: readonly ToolEntry[] = []
  #name: string
  #loading: { readonly controller: AbortController; readonly done: Promise<void> } | undefined
  #problem: string | undefined
  #startedAt = 0
  #restarts = 0
  #restart: { readonly at: number; readonly timer: NodeJS.Timeout; readonly begin: () => void } | undefined
  #isClosed = false
  readonly #retiring = new Set<Promise<void>>()

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#name = options.key
  }

  get entries(): readonly ToolEntry[] {
    return this.#entries
  }

  get stamp(): string | undefined {
    return this.#candidate?.stamp
  }

  get status(): PluginStatus {
    const pid = this.#process?.pid
    const state =
      this.#process !== undefined
        ? 'running'
        : this.#restart !== undefined
          ? 'restarting'
          : this.#loading !== undefined
            ? 'loading'
            : 'failed'
    return {
      key: this.#options.key,
      name: this.#name,
      state,
      tools: this.#entries.map(({ tool }) => tool.name),
      ...(this.#problem !== undefined && { problem: this.#problem }),
      ...(pid !== undefined && { pid }),
    }
  }

  /** Loads a version and replaces the running one; if loading fails, the running one stays. */
  load(candidate: Candidate): Promise<void> {
    this.#candidate = candidate
    this.#loading?.controller.abort()
    this.#cancelRestart()
    this.#restarts = 0
    return this.#startLoading(candidate, (reason) => {
      // Removed while loading: not a failure.
      if (!existsSync(candidate.file)) return
      const previous = this.#process === undefined ? '' : ' The previous version is still served.'
      this.#fail(`${this.#label} was not loaded: ${sentence(reason)}${previous}`)
    })
  }

  /** Withdraws the tools, lets running calls finish, and stops the process. */
  async unload(): Promise<void> {
    await this.#shutDown((process) => process.retire(drainTimeoutMs))
  }

  /** Stops the process without waiting for calls. */
  async close(): Promise<void> {
    await this.#shutDown((process) => process.stop())
  }

  async #shutDown(end: (process: PluginProcess) => Promise<void>): Promise<void> {
    this.#isClosed = true
    this.#entries = []
    this.#cancelRestart()
    this.#loading?.controller.abort()
    const process = this.#process
    this.#process = undefined
    await Promise.all([this.#loading?.done, process === undefined ? undefined : end(process), ...this.#retiring])
  }

  get #label(): string {
    return `Plugin "${this.#options.key}"`
  }

  #startLoading(candidate: Candidate, onFailure: (reason: string) => void): Promise<void> {
    const controller = new AbortController()
    const done = this.#load(candidate, controller.signal)
      .catch((error: unknown) => {
        if (!controller.signal.aborted) onFailure(errorMessage(error))
      })
      .finally(() => {
        if (this.#loading?.controller === controller) this.#loading = undefined
      })
    this.#loading = { controller, done }
    return done
  }

  async #load(candidate: Candidate, signal: AbortSignal): Promise<void> {
    const release = await this.#options.startSlots.acquire(signal)
    try {
      await this.#start(candidate, signal)
    } finally {
      release?.()
    }
  }

  async #start({ file, manifest }: Candidate, signal: AbortSignal): Promise<void> {
    const { key, callTimeoutMs, group, takeProcess, now, onOutput } = this.#options
    const output = new Output(onOutput, now)
    const process = takeProcess()
    const loaded = await process.load({ name: key, file, tools: manifest.tools, output, signal })
    try {
      const entries = toolEntries(loaded, {
        source: `plugin ${key}`,
        group: manifest.group ?? group,
        callTimeoutMs,
        call: (tool, input, ctx, timeoutMs) => this.#call(tool, input, ctx, timeoutMs),
      })
      signal.throwIfAborted()
      this.#name = manifest.name ?? loaded.name ?? key
      this.#serve(process, entries, output)
    } catch (error) {
      await process.stop()
      throw error
    }
  }

  #serve(process: PluginProcess, entries: readonly ToolEntry[], output: Output): void {
    const previous = this.#process
    const isFirst = this.#entries.length === 0 && previous === undefined
    this.#process = process
    this.#problem = undefined
    this.#startedAt = this.#options.now()
    process.onEnd = (reason) => this.#onEnd(process, reason, output)
    this.#options.log(`${this.#label} ${isFirst ? 'loaded' : 'reloaded'}: ${entries.map(({ tool }) => tool.name).join(', ')}`)
    this.#replace(entries)
    if (previous === undefined) return
    const retired = previous.retire(drainTimeoutMs).finally(() => this.#retiring.delete(retired))
    this.#retiring.add(retired)
  }

  /** Keeps the entry object where the definition is unchanged, so that no list change is announced. */
  #replace(entries: readonly ToolEntry[]): void {
    const current = new Map(this.#entries.map((entry) => [definitionKey(entry), entry]))
    const next = entries.map((entry) => current.get(definitionKey(entry)) ?? entry)
    const isSame = next.length === this.#entries.length && next.every((entry, index) => entry === this.#entries[index])
    if (isSame) return
    this.#entries = next
    this.#options.onChange()
  }

  #onEnd(process: PluginProcess, reason: string, output: Output): void {
    if (this.#process !== process) return
    this.#process = undefined
    if (this.#options.now() - this.#startedAt >= stableAfterMs) this.#restarts = 0
    const lastOutput = output.last.length === 0 ? '' : ` Last output:\n  ${output.last.join('\n  ')}`
    this.#scheduleRestart(`${this.#label} ${reason}.`, lastOutput)
  }

  #scheduleRestart(cause: string, details = ''): void {
    const candidate = this.#candidate
    if (this.#isClosed || candidate === undefined) return
    const delayMs = Math.min(minRestartDelayMs * 2 ** this.#restarts++, maxRestartDelayMs)
    this.#fail(`${cause} Restarting in ${seconds(delayMs)}.${details}`)
    // The version that is loading replaces it anyway.
    if (this.#loading !== undefined) return
    const begin = (): void => {
      this.#cancelRestart()
      void this.#startLoading(candidate, (reason) =>
        this.#scheduleRestart(`${this.#label} failed to restart: ${sentence(reason)}`),
      )
    }
    const timer = setTimeout(begin, delayMs)
    timer.unref()
    this.#restart = { at: this.#options.now() + delayMs, timer, begin }
  }

  async #call(tool: string, input: unknown, ctx: ToolContext, timeoutMs: number): Promise<HandlerResult> {
    if (this.#process === undefined) await this.#waitForRestart()
    const process = this.#process
    if (process === undefined) throw new Failure('tool_failed', this.#notRunning(), { tool })
    const result = await process.call(tool, input, {
      timeoutMs,
      signal: ctx.signal,
      progress: (...update) => void ctx.progress(...update).catch(() => undefined),
      log: (level, data) => void ctx.log(level, data).catch(() => undefined),
    })
    // The caller validates the result, as for every handler.
    return result as HandlerResult
  }

  /** Waits for a start in progress, or for a restart that is due soon. */
  async #waitForRestart(): Promise<void> {
    const restart = this.#restart
    const delayMs = restart === undefined ? 0 : restart.at - this.#options.now()
    if (delayMs > maxRestartWaitMs) return
    if (delayMs > 0) await pause(delayMs)
    // On a busy machine its timer may be late.
    if (restart !== undefined && restart === this.#restart) restart.begin()
    await this.#loading?.done
  }

  #notRunning(): string {
    if (this.#restart === undefined) return `${this.#label} is not running. Ask the operator to check the server log.`
    const delayMs = Math.max(0, this.#restart.at - this.#options.now())
    return `${this.#label} is not running: it exited unexpectedly. It restarts in ${seconds(delayMs)}; try again then.`
  }

  #cancelRestart(): void {
    clearTimeout(this.#restart?.timer)
    this.#restart = undefined
  }

  #fail(message: string): void {
    this.#problem = message
    this.#options.report(message)
  }
}

const definitionKey = ({ tool, visibility, tags, timeoutMs }: ToolEntry): string =>
  canonicalJson([tool, visibility, tags, timeoutMs])

const seconds = (ms: number): string => `${Math.ceil(ms / 100) / 10} seconds`
