import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import { printable } from '@unfold-mcp/core'
import { type CommandTarget, labelOf } from '../config/target.ts'
import { type ClientError, connectionClosed } from '../errors/errors.ts'
import { launcherOf } from '../process/launcher.ts'
import { signalNamespace } from '../process/namespace.ts'
import { type Output, outputIn } from '../process/output.ts'
import { OutputEnds } from '../process/output-ends.ts'
import { endStrays, killStraysSync, processMark } from '../process/strays.ts'
import { type CommandLine, commandLine } from '../sandbox/command-line.ts'
import { exitError, startError } from './process-errors.ts'

/**
 * State of a server process. `installing`: started through a launcher such as `npx`, which may still be installing the server;
 * `started` follows with the first message. Every other process is `started` at once.
 */
export type ProcessState = 'installing' | 'started' | 'ended'

/** Program that runs a server as its child and ends it when its time is up, even while this process is suspended. */
export interface Supervisor {
  /** Its command line for that of the server; called right before the start. */
  readonly commandLine: (server: ProgramLine) => ProgramLine
  /** Receives the pipe to it, its file descriptor 3. */
  readonly attach: (pipe: Writable) => void
}

/** A program and its arguments. */
export interface ProgramLine {
  readonly command: string
  readonly args: readonly string[]
}

export interface ProcessOptions {
  /** Time to exit after stdin closes, and again after SIGTERM, before SIGKILL. */
  readonly graceMs?: number
  /** Time after SIGTERM for a process that may be installing: killed too early, it leaves a broken package cache. */
  readonly installGraceMs?: number
  readonly onStderr?: (line: string) => void
  /** `id` marks the environment of the process and its descendants. */
  readonly onProcess?: (pid: number, state: ProcessState, id: string) => void
  readonly onWarning?: (warning: string) => void
  /** Default: none; the server is a child of this process. */
  readonly supervisor?: Supervisor | undefined
}

export interface ProcessEvents {
  readonly stdout: (chunk: Buffer, stream: Readable) => void
  /** It has exited, and all of its output was read. */
  readonly ended: () => void
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

// Ended on exit of this process.
const running = new Set<ServerProcess>()
let isWatchingExit = false

const drainMs = 250
const defaultGraceMs = 2_000
// npm finishes unpacking before it rolls back, which takes half a minute on a slow disk.
const defaultInstallGraceMs = 60_000

// CA paths, not secrets. Without them, programs behind a corporate proxy reject every certificate and npx hangs.
const caVariables = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR']

const caEnvironment = (): { readonly [name: string]: string } =>
  Object.fromEntries(caVariables.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))

/**
 * Server as a child process. It leads its own process group, which ends with it, and so do descendants that left the group, where
 * the system allows to find them.
 */
export class ServerProcess {
  readonly #target: CommandTarget
  readonly #options: ProcessOptions
  readonly #events: ProcessEvents
  readonly #stderr: OutputEnds
  #isInstalling: boolean
  #resolveAnswered: () => void = () => undefined
  /** Resolves with the first message of the process. */
  readonly answered: Promise<void> = new Promise((resolve) => {
    this.#resolveAnswered = resolve
  })
  #hasAnswered = false
  #unexpectedLine: string | undefined
  /** Marks the environment of the process. */
  readonly #id = randomUUID()
  #isNamespaced = false
  #child: Child | undefined
  #exited: Promise<void> = Promise.resolve()
  #strays: Promise<void> = Promise.resolve()
  #failure: ClientError | undefined
  #isStopping = false
  #hasExited = false
  #isEnded = false

  constructor(target: CommandTarget, options: ProcessOptions, events: ProcessEvents) {
    this.#target = target
    this.#options = options
    this.#events = events
    this.#stderr = new OutputEnds(options.onStderr)
    this.#isInstalling = launcherOf(target) !== undefined
  }

  /** True if it was started through a launcher and has not sent a message yet. */
  get isInstalling(): boolean {
    return this.#isInstalling
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  get output(): Output {
    const output = outputIn(this.#stderr)
    return this.#unexpectedLine === undefined || this.#hasAnswered ? output : { ...output, unexpectedLine: this.#unexpectedLine }
  }

  /** Reason why it ended, unless this client ended it. */
  get failure(): ClientError | undefined {
    return this.#failure
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  get closedError(): ClientError {
    return this.#failure ?? connectionClosed(labelOf(this.#target))
  }

  /** `undefined` before it was started, and after it was stopped or has ended. */
  get stdin(): Writable | undefined {
    return this.#isEnded || this.#isStopping ? undefined : this.#child?.stdin
  }

  async start(): Promise<void> {
    if (this.#child !== undefined) return
    const env = { ...getDefaultEnvironment(), ...caEnvironment(), ...this.#target.env, ...processMark(this.#id) }
    try {
      const line = await commandLine(this.#target, env, this.#options.onWarning)
      if (this.#isStopping) throw this.closedError
      await this.#spawn(line, env)
    } catch (error) {
      throw startError(this.#target, error)
    }
    running.add(this)
    watchExit()
  }

  /** It has sent a message, so it is installed. */
  /** Keeps the first line of stdout that is not a message. */
  markUnexpected(line: string): void {
    this.#unexpectedLine ??= printable(line, 200)
  }

  markAnswered(): void {
    if (this.#hasAnswered) return
    this.#hasAnswered = true
    this.#resolveAnswered()
    if (!this.#isInstalling) return
    this.#isInstalling = false
    if (this.pid !== undefined && !this.#hasExited) this.#report(this.pid, 'started')
  }

  /** Closes stdin, then sends SIGTERM, then SIGKILL. Resolves when the process has exited. */
  async stop(): Promise<void> {
    const isFirst = !this.#isStopping
    this.#isStopping = true
    if (isFirst && this.#child !== undefined) await this.#endChild(this.#child)
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
    else if (!this.#isStopping) this.#signal('SIGTERM')
    return this.#isInstalling || !this.#endsStrays ? [] : [this.#id]
  }

  #spawn({ command, args = [], isNamespaced }: CommandLine, env: Readonly<Record<string, string>>): Promise<void> {
    this.#isNamespaced = isNamespaced
    const { cwd } = this.#target
    const { supervisor } = this.#options
    const line = supervisor?.commandLine({ command, args }) ?? { command, args }
    const child = spawn(line.command, [...line.args], {
      // The type covers the first three.
      stdio: ['pipe', 'pipe', 'pipe', ...(supervisor === undefined ? [] : ['pipe'])] as unknown as ['pipe', 'pipe', 'pipe'],
      env,
      ...(cwd !== undefined && { cwd }),
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    // At the limit of open files there is neither a process nor a pipe, only an error.
    if ((child.stdin as Writable | undefined) !== undefined) this.#listen(child)
    const pipe = (child.stdio as readonly unknown[] | undefined)?.[3]
    if (supervisor !== undefined && pipe instanceof Socket) supervisor.attach(pipe.on('error', () => undefined))
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
  }

  async #endChild(child: Child): Promise<void> {
    const { graceMs = defaultGraceMs, installGraceMs = defaultInstallGraceMs } = this.#options
    child.stdin.end()
    // An installing launcher does not read stdin; npm rolls back after the first signal and aborts on a second.
    const isInstalling = this.#isInstalling
    if (isInstalling || !(await this.#exitsWithin(graceMs))) this.#signal('SIGTERM')
    if (!(await this.#exitsWithin(isInstalling ? installGraceMs : graceMs))) this.kill()
  }

  get #endsStrays(): boolean {
    return this.#target.processes !== 'group'
  }

  #report(pid: number, state: ProcessState): void {
    this.#options.onProcess?.(pid, state, this.#endsStrays ? this.#id : '')
  }

  #listen(child: Child): void {
    this.#child = child
    if (child.pid !== undefined) this.#report(child.pid, this.#isInstalling ? 'installing' : 'started')
    child.on('error', () => undefined)
    child.stdin.on('error', () => undefined)
    child.stdout.on('error', () => undefined).on('data', (chunk: Buffer) => this.#events.stdout(chunk, child.stdout))
    child.stderr.on('error', () => undefined).on('data', (chunk: Buffer) => this.#stderr.add(chunk))
    this.#exited = new Promise((resolve) => {
      child.once('error', () => resolve())
      child.once('exit', (code, signal) => {
        running.delete(this)
        // Descendants would keep the pipes open and survive.
        this.kill()
        this.#hasExited = true
        this.#strays = this.#endStrays(child.pid)
        const end = (): void => {
          clearTimeout(late)
          this.#end(child, code, signal)
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

  #end({ stdin, stdout, stderr }: Child, code: number | null, signal: string | null): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#stderr.end()
    if (!this.#isStopping) this.#failure = exitError(this.#target, { code, signal, hasAnswered: this.#hasAnswered }, this.output)
    for (const stream of [stdin, stdout, stderr]) stream.destroy()
    this.#events.ended()
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this
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
}

function watchExit(): void {
  if (isWatchingExit) return
  isWatchingExit = true
  process.once('exit', () => {
    killStraysSync([...running].flatMap((each) => each.abandon()))
  })
}
