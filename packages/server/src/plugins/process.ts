import { type ChildProcess, spawn } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { ByteLines, Failure } from '@unfold-mcp/core'
import { foreignResult, ToolError } from '../tool/result.ts'
import { type LogLevel, type Message, parseMessage } from './message.ts'
import type { Output } from './output.ts'

/** Described in `PluginFolderOptions`. */
export interface ProcessLimits {
  readonly loadTimeoutMs: number
  readonly maxMessageBytes: number
  readonly memoryMb: number
  readonly graceMs: number
}

export interface ProcessOptions {
  readonly limits: ProcessLimits
  readonly nodeArgs: readonly string[]
  /** Default: the server's. */
  readonly env?: NodeJS.ProcessEnv
}

export interface LoadRequest {
  /** Name used in messages. */
  readonly name: string
  readonly file: string
  /** Tool definitions of a manifest; the module exports their handlers. */
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
// Node itself and its threads.
const nodeMemoryMb = 128
const maxPending = 1_000
const exitGraceMs = 300

/**
 * The process that runs one version of a plugin. A thread would be cheaper, but memory outside its heap, a native crash or a
 * signal to itself would take down the server and every other plugin.
 */
export class PluginProcess {
  readonly #limits: ProcessLimits
  readonly #child: ChildProcess
  readonly #channel: Duplex
  readonly #pending = new Map<number, Pending>()
  readonly #graceTimers = new Map<number, NodeJS.Timeout>()
  readonly #exit: Promise<void>
  #name = ''
  #onMessage: (message: Message) => void = () => undefined
  #endReason: string | undefined
  #lastId = 0
  #onIdle: (() => void) | undefined
  /** Called with the reason when the process ends without `stop`. */
  onEnd: ((reason: string) => void) | undefined

  constructor({ limits, nodeArgs, env }: ProcessOptions) {
    this.#limits = limits
    const heap = `--max-old-space-size=${limits.memoryMb}`
    const rss = String((limits.memoryMb + nodeMemoryMb) * 1_048_576)
    this.#child = spawn(process.execPath, [heap, ...nodeArgs, childFile, rss], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
      // Its own process group, so that processes the plugin started are killed with it.
      detached: process.platform !== 'win32',
      windowsHide: true,
      ...(env !== undefined && { env }),
    })
    const [, , , channel, watchdog] = this.#child.stdio
    this.#channel = channel as Duplex
    for (const stream of [this.#channel, watchdog as Duplex]) stream.on('error', () => undefined)
    this.#exit = this.#waitForExit()
    this.#read()
    this.#unref()
  }

  /** Loads a module; if that fails, stops the process and throws. */
  async load(request: LoadRequest): Promise<Loaded> {
    this.#name = request.name
    for (const stream of [this.#child.stdout, this.#child.stderr]) if (stream !== null) request.output.attach(stream)
    try {
      request.signal.throwIfAborted()
      return await this.#waitForLoad(request)
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  get hasEnded(): boolean {
    return this.#endReason !== undefined
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Calls a tool; rejects if it fails, times out, is cancelled, or the process ends. */
  call(tool: string, input: unknown, options: CallOptions): Promise<unknown> {
    const name = this.#name
    const { maxMessageBytes } = this.#limits
    if (this.#endReason !== undefined) return Promise.reject(failed(tool, `Plugin "${name}" ${this.#endReason}. Try again.`))
    if (this.#pending.size >= maxPending)
      return Promise.reject(failed(tool, `Plugin "${name}" already has ${maxPending} calls in progress. Try again later.`))
    const id = ++this.#lastId
    const text = JSON.stringify({ kind: 'call', id, tool, input })
    if (Buffer.byteLength(text) > maxMessageBytes)
      return Promise.reject(failed(tool, `The arguments exceed ${maxMessageBytes} bytes. Send less.`))
    const { timeoutMs, signal } = options
    const cancelled = (): void => this.#abandon(id, new Failure('call_cancelled', `The call to ${tool} was cancelled.`, { tool }))
    const timer = setTimeout(() => this.#abandon(id, timedOut(name, tool, timeoutMs)), timeoutMs)
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

  /** Stops the process after its calls have finished, or after `timeoutMs`. */
  async retire(timeoutMs: number): Promise<void> {
    if (this.#pending.size > 0 && this.#endReason === undefined) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
        timer = setTimeout(resolve, timeoutMs)
        void this.#exit.then(resolve)
      })
      clearTimeout(timer)
    }
    await this.stop()
  }

  /** Stops the process and every process it started. */
  async stop(): Promise<void> {
    this.#endReason ??= 'was stopped'
    this.onEnd = undefined
    this.#child.ref()
    this.#channel.end()
    const timer = setTimeout(() => this.#kill(), exitGraceMs)
    await this.#exit
    clearTimeout(timer)
  }

  async #waitForLoad({ file, tools, signal }: LoadRequest): Promise<Loaded> {
    const { loadTimeoutMs, maxMessageBytes } = this.#limits
    let timer: NodeJS.Timeout | undefined
    let aborted = (): void => undefined
    try {
      return await new Promise<Loaded>((resolve, reject) => {
        const fail = (reason: string): void => reject(new Error(reason))
        this.#onMessage = (message) => {
          if (message.kind === 'loaded') resolve(message)
          if (message.kind === 'failed')
            fail(message.line === undefined ? message.message : `line ${message.line}: ${message.message}`)
        }
        this.onEnd = (reason) => fail(`its process ${reason}`)
        timer = setTimeout(() => fail(`it did not load within ${loadTimeoutMs / 1_000} seconds`), loadTimeoutMs)
        aborted = () => fail('it changed while loading')
        signal.addEventListener('abort', aborted, { once: true })
        this.#channel.write(`${JSON.stringify({ kind: 'load', file, maxMessageBytes, tools })}\n`)
      })
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', aborted)
      this.#onMessage = (message) => this.#settleCall(message)
      this.onEnd = undefined
    }
  }

  #read(): void {
    const lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.allocUnsafe(size), limit: this.#limits.maxMessageBytes })
    this.#channel.on('data', (chunk: Buffer) => {
      for (const line of lines.add(chunk)) this.#receive(line?.toString('utf8'))
      if (lines.pending > this.#limits.maxMessageBytes) this.#receive(undefined)
    })
  }

  #receive(line: string | undefined): void {
    if (this.#endReason !== undefined && this.#pending.size === 0) return
    if (line === undefined) {
      this.#end(`was stopped because it sent a message of more than ${this.#limits.maxMessageBytes} bytes`)
      return
    }
    const message = parseMessage(line)
    // Any line shows that the process responds.
    for (const timer of this.#graceTimers.values()) clearTimeout(timer)
    this.#graceTimers.clear()
    if (message !== undefined) this.#onMessage(message)
  }

  #settleCall(message: Message): void {
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
        if (message.className === undefined) resolve(message.value)
        else reject(foreignResult(tool, message.className))
        return
      case 'error': {
        this.#pending.delete(message.id)
        const text = message.message === '' ? `Tool "${tool}" failed without a message.` : message.message
        const { toolError: reason } = message
        reject(reason === undefined ? new Error(`Plugin "${this.#name}": ${text}`) : new ToolError(text, { reason }))
      }
    }
  }

  /** Rejects a call, and kills the process if it does not respond to the cancellation. */
  #abandon(id: number, failure: Failure): void {
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    this.#pending.delete(id)
    pending.reject(failure)
    this.#channel.write(`${JSON.stringify({ kind: 'cancel', id })}\n`)
    const timer = setTimeout(() => {
      this.#graceTimers.delete(id)
      this.#end('was stopped because it did not respond')
    }, this.#limits.graceMs)
    this.#graceTimers.set(id, timer)
  }

  #end(reason: string): void {
    this.#endReason ??= reason
    this.#kill()
  }

  #kill(): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
    } catch {
      // The process group has already exited.
    }
  }

  async #waitForExit(): Promise<void> {
    const reason = await new Promise<string>((resolve) => {
      this.#child.once('error', (error) => resolve(`failed to start: ${error.message}`))
      this.#child.once('exit', (code, signal) => {
        // Processes that it started may still run.
        this.#kill()
        const status = signal === null ? `exited with code ${code}` : `was terminated by ${signal}`
        // Its last output may still be in the pipe.
        const timer = setTimeout(() => resolve(status), exitGraceMs)
        this.#child.once('close', () => {
          clearTimeout(timer)
          resolve(status)
        })
      })
    })
    for (const timer of this.#graceTimers.values()) clearTimeout(timer)
    this.#endReason ??= reason
    this.#channel.destroy()
    const message = `Plugin "${this.#name}" ${this.#endReason} during the call. It is restarting; try again, or with less input.`
    for (const { tool, reject } of this.#pending.values()) reject(failed(tool, message))
    this.#pending.clear()
    this.onEnd?.(this.#endReason)
  }

  // A running plugin alone does not keep the server process alive.
  #unref(): void {
    this.#child.unref()
    for (const stream of this.#child.stdio) (stream as { unref?: () => void } | null)?.unref?.()
  }
}

function failed(tool: string, message: string): Failure {
  return new Failure('tool_failed', message, { tool })
}

function timedOut(plugin: string, tool: string, timeoutMs: number): Failure {
  const seconds = Math.round(timeoutMs / 100) / 10
  const message = `Tool "${tool}" of plugin "${plugin}" timed out after ${seconds} seconds. Request less, or try again later.`
  return new Failure('tool_timeout', message, { tool, timeoutMs })
}
