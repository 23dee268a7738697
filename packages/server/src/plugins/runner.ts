import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Semaphore } from '@unfold-mcp/core'
import { canonicalJson, Failure } from '@unfold-mcp/core'
import { sentence } from '../catalog/activators.ts'
import type { ToolContext } from '../tool/context.ts'
import type { ToolEntry } from '../tool/entry.ts'
import { errorMessage } from '../tool/report.ts'
import type { HandlerResult } from '../tool/result.ts'
import { entriesOf } from './definition.ts'
import { Output } from './output.ts'
import type { PluginProcess } from './process.ts'
import type { Candidate } from './scan.ts'

/** How one plugin stands. */
export interface PluginStatus {
  /** Its name in the folder: `text.js`, or `weather/`. */
  readonly key: string
  readonly name: string
  /** `loading`: no version of it runs yet. `waiting`: it ended, and is started again after a while. `failed`: it never ran. */
  readonly state: 'loading' | 'running' | 'waiting' | 'failed'
  readonly tools: readonly string[]
  /** What went wrong last, until it goes well. */
  readonly problem?: string
  readonly pid?: number
}

export interface RunnerOptions {
  readonly key: string
  readonly callTimeoutMs: number
  readonly group: string | undefined
  /** A process that has nothing to run yet. */
  readonly fresh: () => PluginProcess
  readonly now: () => number
  /** Bounds how many plugins start at once. */
  readonly starting: Semaphore
  /** Its tools are others than before. */
  readonly changed: () => void
  readonly report: (message: string) => void
  readonly log: (message: string) => void
  readonly output: (line: string) => void
}

const firstDelayMs = 100
const longestDelayMs = 30_000
const stableMs = 10_000
const drainMs = 10_000
const patienceMs = 1_000

/** One plugin over all its versions: the last that loaded is served, and started again when its process ends. */
export class Runner {
  readonly #options: RunnerOptions
  #candidate: Candidate | undefined
  #process: PluginProcess | undefined
  #entries: readonly ToolEntry[] = []
  #name: string
  #loading: { readonly controller: AbortController; readonly done: Promise<void> } | undefined
  #problem: string | undefined
  #startedAt = 0
  #ends = 0
  #again: { readonly at: number; readonly timer: NodeJS.Timeout } | undefined
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
        : this.#again !== undefined
          ? 'waiting'
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

  /** Loads this version, and serves it in place of the one before; when it cannot be loaded, that one is served on. */
  load(candidate: Candidate): Promise<void> {
    this.#candidate = candidate
    this.#loading?.controller.abort()
    this.#forgetAgain()
    this.#ends = 0
    return this.#begin(candidate, (words) => {
      // Removed while it was being loaded: it is taken away, and nothing was wrong.
      if (!existsSync(candidate.file)) return
      const before = this.#process === undefined ? '' : ' The version before it is served on.'
      this.#fail(`${this.#label} was not loaded: ${sentence(words)}${before}`)
    })
  }

  /** Takes the plugin away: calls that are being answered may finish, and its process ends. */
  async unload(): Promise<void> {
    await this.#leave((process) => process.retire(drainMs))
  }

  /** Ends its process at once. */
  async close(): Promise<void> {
    await this.#leave((process) => process.stop())
  }

  async #leave(end: (process: PluginProcess) => Promise<void>): Promise<void> {
    this.#isClosed = true
    this.#entries = []
    this.#forgetAgain()
    this.#loading?.controller.abort()
    const process = this.#process
    this.#process = undefined
    await Promise.all([this.#loading?.done, process === undefined ? undefined : end(process), ...this.#retiring])
  }

  get #label(): string {
    return `Plugin "${this.#options.key}"`
  }

  #begin(candidate: Candidate, failed: (words: string) => void): Promise<void> {
    const controller = new AbortController()
    const done = this.#startInTurn(candidate, controller.signal)
      .catch((error: unknown) => {
        if (!controller.signal.aborted) failed(errorMessage(error))
      })
      .finally(() => {
        if (this.#loading?.controller === controller) this.#loading = undefined
      })
    this.#loading = { controller, done }
    return done
  }

  async #startInTurn(candidate: Candidate, signal: AbortSignal): Promise<void> {
    const release = await this.#options.starting.acquire(signal)
    try {
      await this.#start(candidate, signal)
    } finally {
      release?.()
    }
  }

  async #start({ file, manifest }: Candidate, signal: AbortSignal): Promise<void> {
    const { key, callTimeoutMs, group, fresh, now, output: onLine } = this.#options
    const output = new Output(onLine, now)
    const process = fresh()
    const loaded = await process.load({ name: key, file, tools: manifest.tools, output, signal })
    try {
      const entries = entriesOf(loaded, {
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
    const before = this.#process
    const isFirst = this.#entries.length === 0 && before === undefined
    this.#process = process
    this.#problem = undefined
    this.#startedAt = this.#options.now()
    process.onEnd = (why) => this.#ended(process, why, output)
    this.#options.log(`${this.#label} ${isFirst ? 'loaded' : 'loaded again'}: ${entries.map(({ tool }) => tool.name).join(', ')}`)
    this.#replace(entries)
    if (before === undefined) return
    const retired = before.retire(drainMs).finally(() => this.#retiring.delete(retired))
    this.#retiring.add(retired)
  }

  /** Takes the new entries; one whose definition stayed the same stays the same object, so that nobody is told of it. */
  #replace(entries: readonly ToolEntry[]): void {
    const before = new Map(this.#entries.map((entry) => [textOf(entry), entry]))
    const next = entries.map((entry) => before.get(textOf(entry)) ?? entry)
    const isSame = next.length === this.#entries.length && next.every((entry, index) => entry === this.#entries[index])
    if (isSame) return
    this.#entries = next
    this.#options.changed()
  }

  #ended(process: PluginProcess, why: string, output: Output): void {
    if (this.#process !== process) return
    this.#process = undefined
    if (this.#options.now() - this.#startedAt >= stableMs) this.#ends = 0
    const said = output.last.length === 0 ? '' : ` It said last:\n  ${output.last.join('\n  ')}`
    this.#startAgain(`${this.#label} ${why}.`, said)
  }

  #startAgain(why: string, more = ''): void {
    const candidate = this.#candidate
    if (this.#isClosed || candidate === undefined) return
    const delayMs = Math.min(firstDelayMs * 2 ** this.#ends++, longestDelayMs)
    this.#fail(`${why} It is started again in ${seconds(delayMs)}.${more}`)
    // A version that is being loaded takes its place in any case.
    if (this.#loading !== undefined) return
    const timer = setTimeout(() => {
      this.#again = undefined
      void this.#begin(candidate, (words) => this.#startAgain(`${this.#label} could not be started again: ${sentence(words)}`))
    }, delayMs)
    timer.unref()
    this.#again = { at: this.#options.now() + delayMs, timer }
  }

  async #call(tool: string, input: unknown, ctx: ToolContext, timeoutMs: number): Promise<HandlerResult> {
    if (this.#process === undefined) await this.#soon()
    const process = this.#process
    if (process === undefined) throw new Failure('tool_failed', this.#notRunning(), { tool })
    const given = await process.call(tool, input, {
      timeoutMs,
      signal: ctx.signal,
      progress: (...told) => void ctx.progress(...told).catch(() => undefined),
      log: (level, data) => void ctx.log(level, data).catch(() => undefined),
    })
    // What no client could read is refused by whoever called, as of every handler.
    return given as HandlerResult
  }

  /** Waits for a process that is being started, or will be before a caller would have tried again. */
  async #soon(): Promise<void> {
    const restMs = this.#again === undefined ? 0 : this.#again.at - this.#options.now()
    if (restMs > patienceMs) return
    if (restMs > 0) await pause(restMs + 1)
    await this.#loading?.done
  }

  #notRunning(): string {
    if (this.#again === undefined) return `${this.#label} is not running. Ask whoever runs the server to look at its messages.`
    const rest = Math.max(0, this.#again.at - this.#options.now())
    return `${this.#label} is not running, because it ended unexpectedly. It is started again in ${seconds(rest)}; try again then.`
  }

  #forgetAgain(): void {
    clearTimeout(this.#again?.timer)
    this.#again = undefined
  }

  #fail(message: string): void {
    this.#problem = message
    this.#options.report(message)
  }
}

const textOf = ({ tool, visibility, tags, timeoutMs }: ToolEntry): string => canonicalJson([tool, visibility, tags, timeoutMs])

const seconds = (ms: number): string => `${Math.ceil(ms / 100) / 10} seconds`
