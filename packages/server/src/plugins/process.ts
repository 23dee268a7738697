import { type ChildProcess, spawn } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { ByteLines, Failure } from '@unfold-mcp/core'
import { foreignResult, ToolError } from '../tool/result.ts'
import { type LogLevel, type Message, messageOn } from './message.ts'
import type { Output } from './output.ts'

/** What a plugin's process may take of everything. */
export interface ProcessLimits {
  /** How long its module may take to load. */
  readonly loadTimeoutMs: number
  /** How large a message to or from it may be. */
  readonly mostBytes: number
  /** How much memory it may take. */
  readonly memoryMb: number
  /** How long it may stay silent after a call was given up. */
  readonly graceMs: number
}

export interface ProcessOptions {
  readonly limits: ProcessLimits
  readonly nodeArgs: readonly string[]
  /** That of the server by default. */
  readonly env?: NodeJS.ProcessEnv
}

/** The plugin that a process is to run. */
export interface Job {
  /** What the plugin is called in messages. */
  readonly name: string
  readonly file: string
  /** The definitions of a manifest, whose handlers the module exports. */
  readonly tools?: readonly Record<string, unknown>[] | undefined
  readonly output: Output
  readonly signal: AbortSignal
}

export type Loaded = Extract<Message, { kind: 'loaded' }>

export interface CallOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly progress: (progress: number, total?: number, message?: string) => void
  readonly log: (level: LogLevel, data: unknown) => void
}

interface Pending {
  readonly tool: string
  readonly options: CallOptions
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

const childFile = fileURLToPath(new URL('./child.mjs', import.meta.url))
// Node itself, its threads and what they share.
const ownMemoryMb = 128
const mostPending = 1_000
const politeMs = 300

/**
 * The process that runs one version of a plugin. A thread would be cheaper, but shares the process: memory outside its heap,
 * a native crash or a signal to itself would take the server and every other plugin along.
 */
export class PluginProcess {
  readonly #limits: ProcessLimits
  readonly #child: ChildProcess
  readonly #channel: Duplex
  readonly #pending = new Map<number, Pending>()
  readonly #watched = new Map<number, NodeJS.Timeout>()
  readonly #exit: Promise<void>
  #name = ''
  #onMessage: (message: Message) => void = () => undefined
  #ending: string | undefined
  #ids = 0
  #onIdle: (() => void) | undefined
  /** Says why it ended, unless it was stopped. */
  onEnd: ((why: string) => void) | undefined

  constructor({ limits, nodeArgs, env }: ProcessOptions) {
    this.#limits = limits
    const heap = `--max-old-space-size=${limits.memoryMb}`
    const rss = String((limits.memoryMb + ownMemoryMb) * 1_048_576)
    this.#child = spawn(process.execPath, [heap, ...nodeArgs, childFile, rss], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
      // A group of its own, so that what the plugin started can be ended with it.
      detached: process.platform !== 'win32',
      windowsHide: true,
      ...(env !== undefined && { env }),
    })
    const [, , , channel, lifeline] = this.#child.stdio
    this.#channel = channel as Duplex
    for (const stream of [this.#channel, lifeline as Duplex]) stream.on('error', () => undefined)
    this.#exit = this.#followExit()
    this.#read()
    this.#letServerEnd()
  }

  /** Loads the module that this process is for; throws in words, and has ended, when that fails. */
  async load(job: Job): Promise<Loaded> {
    this.#name = job.name
    for (const stream of [this.#child.stdout, this.#child.stderr]) if (stream !== null) job.output.follow(stream)
    try {
      job.signal.throwIfAborted()
      return await this.#loaded(job)
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Calls a tool; rejects when it fails, takes too long, is cancelled, or the process ends. */
  call(tool: string, input: unknown, options: CallOptions): Promise<unknown> {
    const name = this.#name
    const { mostBytes } = this.#limits
    if (this.#ending !== undefined) return Promise.reject(failed(tool, `Plugin "${name}" ${this.#ending}. Try again.`))
    if (this.#pending.size >= mostPending)
      return Promise.reject(failed(tool, `Plugin "${name}" has ${mostPending} calls to answer already. Try again later.`))
    const id = ++this.#ids
    const text = JSON.stringify({ kind: 'call', id, tool, input })
    if (Buffer.byteLength(text) > mostBytes)
      return Promise.reject(failed(tool, `The arguments are larger than ${mostBytes} bytes. Send less at once.`))
    const { timeoutMs, signal } = options
    const cancelled = (): void => this.#giveUp(id, new Failure('call_cancelled', `The call of ${tool} was cancelled.`, { tool }))
    const timer = setTimeout(() => this.#giveUp(id, late(name, tool, timeoutMs)), timeoutMs)
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { tool, options, resolve, reject })
      signal.addEventListener('abort', cancelled, { once: true })
      this.#channel.write(`${text}\n`)
      if (signal.aborted) cancelled()
    }).finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancelled)
      if (this.#pending.size === 0) this.#onIdle?.()
    })
  }

  /** Lets calls that are being answered finish, for this long at most, and ends. */
  async retire(withinMs: number): Promise<void> {
    if (this.#pending.size > 0 && this.#ending === undefined) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
        timer = setTimeout(resolve, withinMs)
        void this.#exit.then(resolve)
      })
      clearTimeout(timer)
    }
    await this.stop()
  }

  /** Ends the process and whatever it started. */
  async stop(): Promise<void> {
    this.#ending ??= 'was stopped'
    this.onEnd = undefined
    this.#child.ref()
    this.#channel.end()
    const timer = setTimeout(() => this.#kill(), politeMs)
    await this.#exit
    clearTimeout(timer)
  }

  async #loaded({ file, tools, signal }: Job): Promise<Loaded> {
    const { loadTimeoutMs, mostBytes } = this.#limits
    let timer: NodeJS.Timeout | undefined
    let aborted = (): void => undefined
    try {
      return await new Promise<Loaded>((resolve, reject) => {
        const fail = (words: string): void => reject(new Error(words))
        this.#onMessage = (message) => {
          if (message.kind === 'loaded') resolve(message)
          if (message.kind === 'failed')
            fail(message.where === undefined ? message.message : `line ${message.where}: ${message.message}`)
        }
        this.onEnd = (why) => fail(`its process ${why}`)
        timer = setTimeout(() => fail(`it did not load within ${loadTimeoutMs / 1_000} seconds`), loadTimeoutMs)
        aborted = () => fail('it changed while it was being loaded')
        signal.addEventListener('abort', aborted, { once: true })
        this.#channel.write(`${JSON.stringify({ kind: 'load', file, mostBytes, tools })}\n`)
      })
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', aborted)
      this.#onMessage = (message) => this.#answer(message)
      this.onEnd = undefined
    }
  }

  #read(): void {
    const lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.allocUnsafe(size), limit: this.#limits.mostBytes })
    this.#channel.on('data', (chunk: Buffer) => {
      for (const line of lines.add(chunk)) this.#take(line?.toString('utf8'))
      if (lines.pending > this.#limits.mostBytes) this.#take(undefined)
    })
  }

  #take(line: string | undefined): void {
    if (this.#ending !== undefined && this.#pending.size === 0) return
    if (line === undefined) {
      this.#end(`was stopped because it sent a message of more than ${this.#limits.mostBytes} bytes`)
      return
    }
    const message = messageOn(line)
    // It reacts, whatever it says.
    for (const timer of this.#watched.values()) clearTimeout(timer)
    this.#watched.clear()
    if (message !== undefined) this.#onMessage(message)
  }

  #answer(message: Message): void {
    if (!('id' in message)) return
    const pending = this.#pending.get(message.id)
    if (pending === undefined) return
    const { tool, options, resolve, reject } = pending
    switch (message.kind) {
      case 'progress':
        options.progress(message.progress, message.total, message.message)
        return
      case 'log':
        options.log(message.level, message.data)
        return
      case 'cancelled':
        return
      case 'result':
        this.#pending.delete(message.id)
        if (message.foreign === undefined) resolve(message.value)
        else reject(foreignResult(tool, message.foreign))
        return
      case 'error': {
        this.#pending.delete(message.id)
        const words = message.message === '' ? `Tool "${tool}" failed without a message.` : message.message
        reject(message.foreseen ? new ToolError(words) : new Error(`Plugin "${this.#name}": ${words}`))
      }
    }
  }

  /** Answers a call for the plugin, and looks whether the plugin still reacts. */
  #giveUp(id: number, failure: Failure): void {
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    this.#pending.delete(id)
    pending.reject(failure)
    this.#channel.write(`${JSON.stringify({ kind: 'cancel', id })}\n`)
    const { graceMs } = this.#limits
    const timer = setTimeout(() => {
      this.#watched.delete(id)
      this.#end('was stopped because it no longer reacted')
    }, graceMs)
    this.#watched.set(id, timer)
  }

  #end(why: string): void {
    this.#ending ??= why
    this.#kill()
  }

  #kill(): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
    } catch {
      // It is gone already.
    }
  }

  async #followExit(): Promise<void> {
    const why = await new Promise<string>((resolve) => {
      this.#child.once('error', (error) => resolve(`could not be started: ${error.message}`))
      this.#child.once('exit', (code, signal) => {
        // What it started may still run.
        this.#kill()
        const words = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`
        // Its last words may still be on their way.
        const timer = setTimeout(() => resolve(words), politeMs)
        this.#child.once('close', () => {
          clearTimeout(timer)
          resolve(words)
        })
      })
    })
    for (const timer of this.#watched.values()) clearTimeout(timer)
    this.#ending ??= why
    this.#channel.destroy()
    const name = this.#name
    for (const { tool, reject } of this.#pending.values())
      reject(
        failed(
          tool,
          `Plugin "${name}" ${this.#ending} during the call. It is started again; try once more, perhaps with less at once.`,
        ),
      )
    this.#pending.clear()
    this.onEnd?.(this.#ending)
  }

  // A plugin is no reason for a program to go on that has nothing else to do.
  #letServerEnd(): void {
    this.#child.unref()
    for (const stream of this.#child.stdio) (stream as { unref?: () => void } | null)?.unref?.()
  }
}

function failed(tool: string, message: string): Failure {
  return new Failure('tool_failed', message, { tool })
}

function late(plugin: string, tool: string, timeoutMs: number): Failure {
  const seconds = Math.round(timeoutMs / 100) / 10
  const message = `Tool "${tool}" of plugin "${plugin}" did not finish within ${seconds} seconds. Ask for less at once, or try again later.`
  return new Failure('tool_timeout', message, { tool, timeoutMs })
}
