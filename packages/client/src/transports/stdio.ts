import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import { ByteLines, isRecord, printable } from '@unfold-mcp/core'
import { type CommandTarget, labelOf } from '../config/target.ts'
import { ClientError, errorMessage, tooLarge } from '../errors/errors.ts'
import { firstErrorLine, isStackFrame } from '../process/error-line.ts'
import { launcherOf } from '../process/launcher.ts'
import { namespaced, signalNamespace, usableBubblewrap } from '../process/namespace.ts'
import { damagedNpxFolder } from '../process/npx-folder.ts'
import { OutputEnds } from '../process/output-ends.ts'
import { endStrays, killStraysSync, processMark } from '../process/strays.ts'
import { sandboxed } from '../sandbox/sandboxed.ts'
import { malformedResponse, PendingRequests } from './pending-requests.ts'

/**
 * State of a server process. `installing`: started through a launcher such as `npx`, which may still be installing the server;
 * `started` follows with the first message. Every other process is `started` at once.
 */
export type ProcessState = 'installing' | 'started' | 'ended'

export interface StdioOptions {
  readonly maxMessageBytes: number
  /** Time to exit after stdin closes, and again after SIGTERM, before SIGKILL. */
  readonly graceMs?: number
  /** Time after SIGTERM for a process that may be installing: killed too early, it leaves a broken package cache. */
  readonly installGraceMs?: number
  readonly onStderr?: (line: string) => void
  /** `id` marks the environment of the process and its descendants. */
  readonly onProcess?: (pid: number, state: ProcessState, id: string) => void
  readonly onWarning?: (warning: string) => void
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

// Ended on exit of this process.
const running = new Set<StdioTransport>()
let isWatchingExit = false

const drainMs = 250
const defaultGraceMs = 2_000
// A busy machine reports the exit of a process late.
const exitWaitMs = 5_000
// npm finishes unpacking before it rolls back, which takes half a minute on a slow disk.
const defaultInstallGraceMs = 60_000
const maxLineWarnings = 3
const partBytes = 8_192
const floodFactor = 8

// CA paths, not secrets. Without them, programs behind a corporate proxy reject every certificate and npx hangs.
const caVariables = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR']

const caEnvironment = (): { readonly [name: string]: string } =>
  Object.fromEntries(caVariables.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))

/**
 * Server as a child process, one JSON message per line. The process leads its own process group, which ends with it, and so do
 * descendants that left the group, where the system allows to find them. Lines on stdout that are not messages are ignored with a
 * warning.
 */
export class StdioTransport implements Transport {
  readonly #target: CommandTarget
  readonly #options: StdioOptions
  readonly #lines: ByteLines<Buffer>
  readonly #pending = new PendingRequests()
  readonly #stderr: OutputEnds
  #isInstalling: boolean
  #resolveAnswered: () => void = () => undefined
  /** Resolves with the first message of the process. */
  readonly answered: Promise<void> = new Promise((resolve) => {
    this.#resolveAnswered = resolve
  })
  #hasAnswered = false
  /** Marks the environment of the process. */
  readonly #id = randomUUID()
  #isNamespaced = false
  #child: Child | undefined
  #exited: Promise<void> = Promise.resolve()
  #strays: Promise<void> = Promise.resolve()
  #failure: ClientError | undefined
  #isClosing = false
  #hasExited = false
  // The pending line has already been reported as too long.
  #isOversized = false
  #isClosed = false
  #unexpectedLines = 0
  #outbox: string[] = []
  #received = 0
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void

  constructor(target: CommandTarget, options: StdioOptions) {
    this.#target = target
    this.#options = options
    this.#lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.allocUnsafe(size), limit: options.maxMessageBytes })
    this.#stderr = new OutputEnds(options.onStderr)
    this.#isInstalling = launcherOf(target) !== undefined
  }

  /** True for a process started through a launcher that has not sent a message yet. */
  get isInstalling(): boolean {
    return this.#isInstalling
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Stderr output that helps to find out why the process does not respond. */
  get output(): Output {
    const { last, ends } = this.#stderr
    const firstError = firstErrorLine(ends)
    const npxFolder = damagedNpxFolder(ends)
    return { lastLines: last, ...(firstError !== undefined && { firstError }), ...(npxFolder !== undefined && { npxFolder }) }
  }

  /** Reason why the process ended, unless this client ended it. */
  get failure(): ClientError | undefined {
    return this.#failure
  }

  /** Drops late responses to these requests. */
  ignore(ids: readonly string[]): void {
    for (const id of ids) this.#pending.end(id)
  }

  /** Bytes received. */
  get received(): number {
    return this.#received
  }

  async start(): Promise<void> {
    if (this.#child !== undefined) return
    const { cwd } = this.#target
    const env = { ...getDefaultEnvironment(), ...caEnvironment(), ...this.#target.env, ...processMark(this.#id) }
    const { command, args = [] } = await this.#commandLine(env)
    if (this.#isClosing) throw this.#closedError()
    let child: Child
    try {
      child = spawn(command, [...args], {
        stdio: ['pipe', 'pipe', 'pipe'],
        env,
        ...(cwd !== undefined && { cwd }),
        detached: process.platform !== 'win32',
        windowsHide: true,
      })
    } catch (error) {
      throw this.#startError(error)
    }
    // At the limit of open files there is neither a process nor a pipe.
    if ((child.stdin as Writable | undefined) === undefined) throw this.#startError(await spawnError(child))
    this.#child = child
    if (child.pid !== undefined) this.#report(child.pid, this.#isInstalling ? 'installing' : 'started')
    this.#listen(child)
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (error) => reject(this.#startError(error)))
    })
    running.add(this)
    watchExit()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.post(message)
  }

  /** Sends a message synchronously. Throws when the process has ended. */
  post(message: JSONRPCMessage): void {
    const stdin = this.#child?.stdin
    if (this.#isClosed || this.#isClosing || stdin === undefined) throw this.#failure ?? this.#closedError()
    this.#pending.track(message)
    if (!stdin.writable) {
      this.#failAfterExit(message)
      return
    }
    const line = `${JSON.stringify(message)}\n`
    // A system call costs more than the rest of sending, so concurrent messages are written together.
    if (this.#pending.count <= 1 && this.#outbox.length === 0) {
      stdin.write(line)
      return
    }
    this.#outbox.push(line)
    if (this.#outbox.length === 1) setImmediate(() => this.#flush())
  }

  /** Closes stdin, then sends SIGTERM, then SIGKILL. Resolves when the process has exited. */
  async close(): Promise<void> {
    const child = this.#child
    if (child === undefined || this.#isClosing) {
      this.#isClosing = true
      await this.#exited
      await this.#strays
      return
    }
    this.#isClosing = true
    const { graceMs = defaultGraceMs, installGraceMs = defaultInstallGraceMs } = this.#options
    this.#flush()
    child.stdin.end()
    // An installing launcher does not read stdin; npm rolls back after the first signal and aborts on a second.
    const isInstalling = this.#isInstalling
    if (isInstalling || !(await this.#exitsWithin(graceMs))) this.#signal('SIGTERM')
    if (!(await this.#exitsWithin(isInstalling ? installGraceMs : graceMs))) this.#signal('SIGKILL')
    await this.#exited
    await this.#strays
  }

  /** Kills the whole process group. */
  kill(): void {
    this.#signal('SIGKILL')
  }

  /**
   * Ends the process when this one exits. An installing launcher gets SIGTERM, so that it can clean up. Returns the mark of
   * descendants to kill.
   */
  abandon(): readonly string[] {
    if (!this.#isInstalling) this.kill()
    else if (!this.#isClosing) this.#signal('SIGTERM')
    return this.#isInstalling || !this.#endsStrays ? [] : [this.#id]
  }

  get #endsStrays(): boolean {
    return this.#target.processes !== 'group'
  }

  #report(pid: number, state: ProcessState): void {
    this.#options.onProcess?.(pid, state, this.#endsStrays ? this.#id : '')
  }

  /** The command, in its sandbox or namespace if it has one. */
  async #commandLine(env: Readonly<Record<string, string>>): Promise<Pick<CommandTarget, 'command' | 'args'>> {
    const { sandbox, processes } = this.#target
    if (sandbox === undefined) return processes === 'namespace' ? this.#namespaced() : this.#target
    this.#isNamespaced = true
    try {
      return await sandboxed({ ...this.#target, sandbox }, env)
    } catch (error) {
      throw error instanceof ClientError ? error : this.#startError(error)
    }
  }

  async #namespaced(): Promise<Pick<CommandTarget, 'command' | 'args'>> {
    const bubblewrap = await usableBubblewrap()
    this.#isNamespaced = bubblewrap !== undefined
    if (bubblewrap !== undefined) return namespaced(bubblewrap, this.#target)
    this.#options.onWarning?.(
      `${labelOf(this.#target)} runs without a PID namespace, because bubblewrap (bwrap) is not installed or not allowed here. Install it on Linux, or remove "processes": "namespace".`,
    )
    return this.#target
  }

  /** A broken pipe is noticed before the exit of the process, which tells why; a process that only closed its stdin does not exit. */
  #failAfterExit(message: JSONRPCMessage): void {
    if (!('id' in message) || message.id === undefined) return
    const { id } = message
    setTimeout(() => this.#failRequest(id, this.#closedError()), exitWaitMs).unref()
  }

  #flush(): void {
    const text = this.#outbox.join('')
    this.#outbox = []
    // A broken pipe is reported by the exit of the process.
    if (text !== '') this.#child?.stdin.write(text)
  }

  #listen(child: Child): void {
    child.on('error', () => undefined)
    child.stdin.on('error', () => undefined)
    child.stdout.on('error', () => undefined).on('data', (chunk: Buffer) => this.#read(chunk, child.stdout))
    child.stderr.on('error', () => undefined).on('data', (chunk: Buffer) => this.#stderr.add(chunk))
    this.#exited = new Promise((resolve) => {
      child.once('error', () => resolve())
      child.once('exit', (code, signal) => {
        running.delete(this)
        // Descendants would keep the pipes open and survive.
        this.#signal('SIGKILL')
        this.#hasExited = true
        this.#strays = this.#endStrays(child.pid)
        const end = (): void => {
          clearTimeout(late)
          this.#end(code, signal)
          resolve()
        }
        // The last output may still be in the pipe.
        const late = setTimeout(end, drainMs)
        child.once('close', end)
      })
    })
  }

  /** Until they have ended, whoever guards this process must know its mark. */
  async #endStrays(pid: number | undefined): Promise<void> {
    if (this.#endsStrays) await endStrays(this.#id, this.#options.graceMs ?? defaultGraceMs)
    if (pid !== undefined) this.#report(pid, 'ended')
  }

  #end(code: number | null, signal: string | null): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stderr.end()
    if (!this.#isClosing) this.#failure = this.#exitError(code, signal)
    const failure = this.#failure ?? this.#closedError()
    for (const id of this.#pending.ids) this.#failRequest(id, failure)
    for (const stream of [this.#child?.stdin, this.#child?.stdout, this.#child?.stderr]) stream?.destroy()
    this.onclose?.()
  }

  /** Reads a part at a time: a chunk may hold a thousand messages and must not block the event loop. */
  #read(chunk: Buffer, stdout: Readable): void {
    if (this.#isClosed) return
    let rest = chunk
    let hasLine = false
    while (rest.length > 0 && !hasLine) {
      hasLine = this.#readPart(rest.subarray(0, partBytes))
      rest = rest.subarray(partBytes)
    }
    if (rest.length === 0) return
    stdout.pause()
    setImmediate(() => {
      stdout.resume()
      this.#read(rest, stdout)
    })
  }

  /** Returns whether a line ended in this part. */
  #readPart(part: Buffer): boolean {
    this.#received += part.length
    let hasLine = false
    for (const line of this.#lines.add(part)) {
      hasLine = true
      if (line === undefined) this.#failAll()
      else this.#readLine(line.toString('utf8'))
      this.#isOversized = false
    }
    const { maxMessageBytes } = this.#options
    if (this.#lines.pending > maxMessageBytes) this.#failAll()
    if (this.#lines.pending > maxMessageBytes * floodFactor) this.kill()
    return hasLine
  }

  #readLine(line: string): void {
    const text = line.trim()
    if (text === '') return
    const value = parseJson(text)
    if (isMessage(value)) this.#receive(value)
    // Earlier protocol revisions send batches.
    else if (Array.isArray(value) && value.length > 0 && value.every(isMessage)) for (const each of value) this.#receive(each)
    else this.#warnUnexpectedLine(text)
  }

  #receive(message: JSONRPCMessage): void {
    if (!this.#hasAnswered) this.#handleFirstMessage()
    const malformed = malformedResponse(message)
    if (malformed !== undefined) {
      this.#failRequest(malformed.id, this.#malformedError(malformed.problem))
      return
    }
    if (this.#pending.receive(message)) this.onmessage?.(message)
  }

  #handleFirstMessage(): void {
    this.#hasAnswered = true
    this.#resolveAnswered()
    if (!this.#isInstalling) return
    this.#isInstalling = false
    const { pid } = this.#child ?? {}
    if (pid !== undefined && !this.#hasExited) this.#report(pid, 'started')
  }

  #warnUnexpectedLine(text: string): void {
    this.#unexpectedLines++
    if (this.#unexpectedLines > maxLineWarnings) return
    const more = this.#unexpectedLines === maxLineWarnings ? ' Further lines are not reported.' : ''
    this.#options.onWarning?.(
      `${labelOf(this.#target)} wrote a line to stdout that is not a JSON-RPC message; ignored: ${printable(text)}${more}`,
    )
  }

  /** One response was too large; which one is unknown. */
  #failAll(): void {
    if (this.#isOversized) return
    this.#isOversized = true
    const failure = tooLarge(`A message from ${labelOf(this.#target)}`, this.#options.maxMessageBytes)
    for (const id of this.#pending.ids) this.#failRequest(id, failure)
  }

  #failRequest(id: string | number, failure: ClientError): void {
    const message = this.#pending.failureResponse(id, failure)
    if (message !== undefined) this.onmessage?.(message)
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child ?? {}
    // After the exit, the pid may belong to another process.
    if (pid === undefined || this.#hasExited) return
    try {
      if (this.#isNamespaced && signal !== 'SIGKILL') signalNamespace(pid, signal)
      else if (process.platform !== 'win32') process.kill(-pid, signal)
      // Windows has neither process groups nor SIGTERM; taskkill ends descendants too.
      else spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { windowsHide: true })
    } catch {
      // The process group has exited.
    }
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms)
    })
    const hasExited = await Promise.race([this.#exited.then(() => true), late])
    clearTimeout(timer)
    return hasExited
  }

  #exitError(code: number | null, signal: string | null): ClientError {
    const target = labelOf(this.#target)
    const how = signal === null ? `exited with code ${code ?? 'unknown'}` : `was killed by ${signal}`
    const { firstError, ...output } = this.output
    const last = lastOutput(output.lastLines)
    // The first error of a server that has run for a while is not why it exited.
    const reason = this.#hasAnswered ? undefined : firstError
    const why = reason === undefined ? '.' : `: ${reason}`
    const isRepeated = reason !== undefined && !last.includes('\n') && last.endsWith(reason)
    const rest = isRepeated ? '' : last === '' ? ' Stderr is empty.' : `\nLast stderr output:\n${last}`
    const details = { target, code, signal, ...output, ...(reason !== undefined && { firstError: reason }) }
    return new ClientError('server_died', `${target} ${how}${why}${rest}`, details)
  }

  #malformedError(what: string): ClientError {
    const problem = `${labelOf(this.#target)} sent a response with ${what}.`
    return new ClientError('protocol', `${problem} This is a bug in the server.`, { problem })
  }

  #closedError(): ClientError {
    const target = labelOf(this.#target)
    return new ClientError('unreachable', `The connection to ${target} is closed. Connect again.`, { target })
  }

  #startError(error: unknown): ClientError {
    const target = labelOf(this.#target)
    const { cwd } = this.#target
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const hint =
      code === 'ENOENT' && cwd !== undefined && !existsSync(cwd)
        ? `The folder ${printable(cwd)} does not exist.`
        : code === 'ENOENT'
          ? 'Command not found. Check its spelling, install it, or use its full path.'
          : code === 'EACCES'
            ? 'Permission denied. Check that the file is executable.'
            : code === 'EMFILE' || code === 'ENFILE'
              ? 'Too many open files. Raise the limit (ulimit -n), or use fewer servers and clients.'
              : errorMessage(error)
    return new ClientError('unreachable', `${target} could not be started. ${hint}`, { target }, { cause: error })
  }
}

const spawnError = (child: Child): Promise<unknown> => new Promise((resolve) => child.once('error', resolve))

/** Stderr output of a process. */
export interface Output {
  readonly lastLines: readonly string[]
  /** First line that reports an error. */
  readonly firstError?: string
  /** Damaged package folder in the cache of npx. */
  readonly npxFolder?: string
}

const errorLine = /^\s*(?:Uncaught )?[\w.]*(?:Error|Exception)\b.*:/u

/** Returns the last lines, starting with the last error. */
function lastOutput(lines: readonly string[]): string {
  const messages = lines.filter((line) => !isStackFrame(line))
  const last = (messages.length === 0 ? lines : messages).slice(-4)
  const error = messages.findLast((line) => errorLine.test(line))
  const output = error === undefined ? last : [error, ...last.slice(last.lastIndexOf(error) + 1)]
  return output.map((line) => `  ${printable(line, 300)}`).join('\n')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isMessage = (value: unknown): value is JSONRPCMessage => isRecord(value) && value.jsonrpc === '2.0'

function watchExit(): void {
  if (isWatchingExit) return
  isWatchingExit = true
  process.once('exit', () => {
    killStraysSync([...running].flatMap((transport) => transport.abandon()))
  })
}
