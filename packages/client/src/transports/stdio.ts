import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import { ByteLines, isRecord, printable } from '@unfold-mcp/core'
import { type CommandTarget, labelOf } from '../config/target.ts'
import { ClientError, tooLarge, wordsOf } from '../errors/errors.ts'
import { firstErrorLine, isFrame } from '../process/error-line.ts'
import { launcherOf } from '../process/launcher.ts'
import { damagedNpxFolder } from '../process/npx-folder.ts'
import { EndLines } from '../process/output-ends.ts'
import { answeredBadly, Unanswered } from './pending-requests.ts'

/**
 * What becomes of a process. `installing`: it was started through a launcher such as `npx`, and may be installing what it is to
 * run; `started` follows with its first message. Every other process is `started` at once.
 */
export type ProcessLife = 'installing' | 'started' | 'ended'

export interface StdioOptions {
  readonly maxMessageBytes: number
  /** How long a server has to end by itself before it is sent SIGTERM, and again before it is killed. */
  readonly graceMs?: number
  /** How long one that may be installing has after SIGTERM: killed too soon, it leaves the cache of its launcher broken. */
  readonly installGraceMs?: number
  readonly onStderr?: (line: string) => void
  /** Called when the process begins, goes on to the next part of its life, and ends. */
  readonly onProcess?: (pid: number, life: ProcessLife) => void
  readonly onWarning?: (warning: string) => void
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

// A process that ends takes these with it, however it ends short of being killed.
const running = new Set<StdioTransport>()
let isWatchingExit = false

const drainMs = 250
// npm finishes unpacking before it rolls back, which takes half a minute on a slow disk.
const defaultInstallGraceMs = 60_000
const strangeLines = 3
const partBytes = 8_192
const floodFactor = 8

// Paths of certificates, and no secrets. Without them a program behind the proxy of a company trusts nobody, and npx waits for ever.
const trusted = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR']

const authorities = (): { readonly [name: string]: string } =>
  Object.fromEntries(trusted.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))

/**
 * A server as a child process, one message a line. The process leads a group of its own, and the whole group ends with it;
 * lines on its standard output that are no messages are ignored with a warning.
 */
export class StdioTransport implements Transport {
  readonly #target: CommandTarget
  readonly #options: StdioOptions
  readonly #lines: ByteLines<Buffer>
  readonly #unanswered = new Unanswered()
  readonly #ignored = new Set<string>()
  readonly #stderr: EndLines
  #isInstalling: boolean
  #answer: () => void = () => undefined
  /** Resolves with the first message of the process; never, where none comes. */
  readonly answered: Promise<void> = new Promise((resolve) => {
    this.#answer = resolve
  })
  #hasAnswered = false
  #child: Child | undefined
  #exited: Promise<void> = Promise.resolve()
  #failure: ClientError | undefined
  #isClosing = false
  #hasExited = false
  /** Whether the line that comes in was found too long already. */
  #isRefused = false
  #isOver = false
  #strange = 0
  #outbox: string[] = []
  #received = 0
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void

  constructor(target: CommandTarget, options: StdioOptions) {
    this.#target = target
    this.#options = options
    this.#lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.allocUnsafe(size), limit: options.maxMessageBytes })
    this.#stderr = new EndLines(options.onStderr)
    this.#isInstalling = launcherOf(target) !== undefined
  }

  /** Whether it was started through a launcher and has not sent a message yet. */
  get isInstalling(): boolean {
    return this.#isInstalling
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** What it wrote to standard error, as far as that helps whoever has to find out why it does not answer. */
  get output(): Output {
    const { last, ends } = this.#stderr
    const firstError = firstErrorLine(ends)
    const npxFolder = damagedNpxFolder(ends)
    return { lastLines: last, ...(firstError !== undefined && { firstError }), ...(npxFolder !== undefined && { npxFolder }) }
  }

  /** Why it is over, if it is and nobody asked for it. */
  get failure(): ClientError | undefined {
    return this.#failure
  }

  /** Nobody waits for the answers to these any more: they are dropped when they come. */
  ignore(ids: readonly string[]): void {
    for (const id of ids) this.#ignored.add(id)
  }

  /** How many bytes have come in. */
  get received(): number {
    return this.#received
  }

  /** Starts the process, once. */
  async start(): Promise<void> {
    if (this.#child !== undefined) return
    const { command, args = [], env, cwd } = this.#target
    let child: Child
    try {
      child = spawn(command, [...args], {
        stdio: ['pipe', 'pipe', 'pipe'],
        env: { ...getDefaultEnvironment(), ...authorities(), ...env },
        ...(cwd !== undefined && { cwd }),
        detached: process.platform !== 'win32',
        windowsHide: true,
      })
    } catch (error) {
      throw this.#unstartable(error)
    }
    // Where no more files may be opened there is neither a process nor a pipe to one.
    if ((child.stdin as Writable | undefined) === undefined) throw this.#unstartable(await failureOf(child))
    this.#child = child
    if (child.pid !== undefined) this.#options.onProcess?.(child.pid, this.#isInstalling ? 'installing' : 'started')
    this.#listen(child)
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (error) => reject(this.#unstartable(error)))
    })
    running.add(this)
    watchExit()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.post(message)
  }

  /** Sends a message without waiting for anything. Throws when the process is over. */
  post(message: JSONRPCMessage): void {
    const stdin = this.#child?.stdin
    if (this.#isOver || stdin === undefined || !stdin.writable) throw this.#failure ?? this.#gone()
    const line = `${JSON.stringify(message)}\n`
    this.#unanswered.sent(message)
    // A system call takes longer than all else that sending does: where there is more to come, it is written in one go.
    if (this.#unanswered.count <= 1 && this.#outbox.length === 0) {
      stdin.write(line)
      return
    }
    this.#outbox.push(line)
    if (this.#outbox.length === 1) setImmediate(() => this.#flush())
  }

  /** Ends the process: closes its input, then sends SIGTERM, then kills it. Resolves when it is over. */
  async close(): Promise<void> {
    const child = this.#child
    if (child === undefined || this.#isClosing) {
      await this.#exited
      return
    }
    this.#isClosing = true
    const { graceMs = 2_000, installGraceMs = defaultInstallGraceMs } = this.#options
    this.#flush()
    child.stdin.end()
    // One that installs does not read its input yet; npm rolls back after the first signal, and gives up after a second.
    const isInstalling = this.#isInstalling
    if (isInstalling || !(await this.#exitsWithin(graceMs))) this.#signal('SIGTERM')
    if (!(await this.#exitsWithin(isInstalling ? installGraceMs : graceMs))) this.#signal('SIGKILL')
    await this.#exited
  }

  /** Ends the process and everything it started, at once. */
  kill(): void {
    this.#signal('SIGKILL')
  }

  /** Nobody is there to wait for its end. One that may be installing gets to clean up. */
  abandon(): void {
    if (!this.#isInstalling) this.kill()
    else if (!this.#isClosing) this.#signal('SIGTERM')
  }

  #flush(): void {
    const text = this.#outbox.join('')
    this.#outbox = []
    // A broken pipe is no news: that the process is over is noticed by itself, and told to everybody who waits.
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
        // What it started would otherwise hold its pipes open, and live on.
        this.#signal('SIGKILL')
        this.#hasExited = true
        if (child.pid !== undefined) this.#options.onProcess?.(child.pid, 'ended')
        const end = (): void => {
          clearTimeout(late)
          this.#end(code, signal)
          resolve()
        }
        // Its last words may still be in the pipe.
        const late = setTimeout(end, drainMs)
        child.once('close', end)
      })
    })
  }

  #end(code: number | null, signal: string | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stderr.end()
    if (!this.#isClosing) this.#failure = this.#died(code, signal)
    const failure = this.#failure ?? this.#gone()
    for (const id of this.#unanswered.ids) this.#refuse(id, failure)
    for (const stream of [this.#child?.stdin, this.#child?.stdout, this.#child?.stderr]) stream?.destroy()
    this.onclose?.()
  }

  /** Reads a part at a time: a chunk may hold a thousand messages, and nobody should wait until they are all dealt with. */
  #read(chunk: Buffer, stdout: Readable): void {
    if (this.#isOver) return
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

  /** Whether a line ended in it. */
  #readPart(part: Buffer): boolean {
    this.#received += part.length
    let hasLine = false
    for (const line of this.#lines.add(part)) {
      hasLine = true
      if (line === undefined) this.#refuseAll()
      else this.#take(line.toString('utf8'))
      this.#isRefused = false
    }
    const { maxMessageBytes } = this.#options
    if (this.#lines.pending > maxMessageBytes) this.#refuseAll()
    if (this.#lines.pending > maxMessageBytes * floodFactor) this.kill()
    return hasLine
  }

  #take(line: string): void {
    const text = line.trim()
    if (text === '') return
    const value = parsed(text)
    if (isMessage(value)) this.#receive(value)
    // Some revisions of the protocol send several in a list.
    else if (Array.isArray(value) && value.length > 0 && value.every(isMessage)) for (const each of value) this.#receive(each)
    else this.#strangeLine(text)
  }

  #receive(message: JSONRPCMessage): void {
    if (!this.#hasAnswered) this.#begins()
    const bad = answeredBadly(message)
    if (bad !== undefined) {
      this.#refuse(bad, this.#badAnswer())
      return
    }
    this.#unanswered.answered(message)
    if (!this.#isLate(message)) this.onmessage?.(message)
  }

  #begins(): void {
    this.#hasAnswered = true
    this.#answer()
    if (!this.#isInstalling) return
    this.#isInstalling = false
    const { pid } = this.#child ?? {}
    if (pid !== undefined && !this.#hasExited) this.#options.onProcess?.(pid, 'started')
  }

  #isLate(message: JSONRPCMessage): boolean {
    return !('method' in message) && typeof message.id === 'string' && this.#ignored.delete(message.id)
  }

  #strangeLine(text: string): void {
    this.#strange++
    if (this.#strange > strangeLines) return
    const more = this.#strange === strangeLines ? ' Further such lines are not mentioned.' : ''
    this.#options.onWarning?.(
      `${labelOf(this.#target)} wrote a line to standard output that is no message, and it is ignored: ${printable(text)}${more}`,
    )
  }

  /** The answer to one of them was too long, and nobody can tell to which. */
  #refuseAll(): void {
    if (this.#isRefused) return
    this.#isRefused = true
    const failure = tooLarge(`A message from ${labelOf(this.#target)}`, this.#options.maxMessageBytes)
    for (const id of this.#unanswered.ids) this.#refuse(id, failure)
  }

  #refuse(id: string | number, failure: ClientError): void {
    const message = this.#unanswered.failed(id, failure)
    if (message !== undefined) this.onmessage?.(message)
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child ?? {}
    // Once it is gone, its number may be another's.
    if (pid === undefined || this.#hasExited) return
    try {
      if (process.platform !== 'win32') process.kill(-pid, signal)
      // Windows has neither groups nor signals that ask; its own command ends what a process started as well.
      else spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { windowsHide: true })
    } catch {
      // Nobody is left.
    }
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms)
    })
    const isOver = await Promise.race([this.#exited.then(() => true), late])
    clearTimeout(timer)
    return isOver
  }

  #died(code: number | null, signal: string | null): ClientError {
    const target = labelOf(this.#target)
    const how = signal === null ? `exited with code ${code ?? 'unknown'}` : `was ended by ${signal}`
    const { firstError, ...output } = this.output
    const last = lastOutput(output.lastLines)
    // What a server that ran for a while wrote at first is not why it ended.
    const reason = this.#hasAnswered ? undefined : firstError
    const why = reason === undefined ? '.' : `: ${reason}`
    const isSaid = reason !== undefined && !last.includes('\n') && last.endsWith(reason)
    const rest = isSaid ? '' : last === '' ? ' It wrote nothing to standard error.' : `\nLast stderr output:\n${last}`
    const details = { target, code, signal, ...output, ...(reason !== undefined && { firstError: reason }) }
    return new ClientError('server_died', `${target} ${how}${why}${rest}`, details)
  }

  #badAnswer(): ClientError {
    const problem = `${labelOf(this.#target)} answered with neither a result that is an object nor an error.`
    return new ClientError('protocol', `${problem} The server is at fault.`, { problem })
  }

  #gone(): ClientError {
    const target = labelOf(this.#target)
    return new ClientError('unreachable', `The connection to ${target} is closed. Connect again.`, { target })
  }

  #unstartable(error: unknown): ClientError {
    const target = labelOf(this.#target)
    const { cwd } = this.#target
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const hint =
      code === 'ENOENT' && cwd !== undefined && !existsSync(cwd)
        ? `The folder ${printable(cwd)} does not exist.`
        : code === 'ENOENT'
          ? 'There is no such command. Check its spelling, install it, or give its whole path.'
          : code === 'EACCES'
            ? 'It may not be run. Check its permissions.'
            : code === 'EMFILE' || code === 'ENFILE'
              ? 'No more files may be opened here. Raise the limit (ulimit -n), or use fewer servers and clients.'
              : wordsOf(error)
    return new ClientError('unreachable', `${target} could not be started. ${hint}`, { target }, { cause: error })
  }
}

const failureOf = (child: Child): Promise<unknown> => new Promise((resolve) => child.once('error', resolve))

/** What a process wrote to standard error. */
export interface Output {
  readonly lastLines: readonly string[]
  /** The first line that says what went wrong. */
  readonly firstError?: string
  /** The folder of npx that lacks a part of what was installed. */
  readonly npxFolder?: string
}

const errorLine = /^\s*(?:Uncaught )?[\w.]*(?:Error|Exception)\b.*:/u

/** The last lines that a process wrote, beginning with the error among them or before them. */
function lastOutput(lines: readonly string[]): string {
  const telling = lines.filter((line) => !isFrame(line))
  const last = (telling.length === 0 ? lines : telling).slice(-4)
  const error = telling.findLast((line) => errorLine.test(line))
  const shown = error === undefined ? last : [error, ...last.slice(last.lastIndexOf(error) + 1)]
  return shown.map((line) => `  ${printable(line, 300)}`).join('\n')
}

/** What a line says; `undefined` for what is no JSON. */
function parsed(text: string): unknown {
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
    for (const transport of running) transport.abandon()
  })
}
