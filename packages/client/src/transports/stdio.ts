import type { Readable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { ByteLines, isRecord, printable } from '@unfold-mcp/core'
import { type CommandTarget, labelOf } from '../config/target.ts'
import { ClientError, tooLarge } from '../errors/errors.ts'
import { malformedResponse, PendingRequests } from './pending-requests.ts'
import { type ProcessOptions, ServerProcess } from './server-process.ts'

export interface StdioOptions extends ProcessOptions {
  readonly maxMessageBytes: number
}

// A busy machine reports the exit of a process late.
const exitWaitMs = 5_000
const maxLineWarnings = 3
const partBytes = 8_192
const floodFactor = 8

/** Messages to and from a server process, one JSON message per line. Other lines on stdout are ignored with a warning. */
export class StdioTransport implements Transport {
  readonly process: ServerProcess
  readonly #label: string
  readonly #options: StdioOptions
  readonly #lines: ByteLines<Buffer>
  readonly #pending = new PendingRequests()
  // The pending line has already been reported as too long.
  #isOversized = false
  #unexpectedLines = 0
  #outbox: string[] = []
  #received = 0
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void

  constructor(target: CommandTarget, options: StdioOptions) {
    this.#label = labelOf(target)
    this.#options = options
    this.#lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.allocUnsafe(size), limit: options.maxMessageBytes })
    this.process = new ServerProcess(target, options, {
      stdout: (chunk, stream) => this.#read(chunk, stream),
      ended: () => {
        this.#failAll(this.process.closedError)
        this.onclose?.()
      },
    })
  }

  /** Reason why the process ended, unless this client ended it. */
  get failure(): ClientError | undefined {
    return this.process.failure
  }

  /** Drops late responses to these requests. */
  ignore(ids: readonly string[]): void {
    for (const id of ids) this.#pending.end(id)
  }

  /** Bytes received. */
  get received(): number {
    return this.#received
  }

  start(): Promise<void> {
    return this.process.start()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.post(message)
  }

  /** Sends a message synchronously. Throws when the process has ended. */
  post(message: JSONRPCMessage): void {
    const { stdin } = this.process
    if (stdin === undefined) throw this.process.closedError
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

  /** Ends the process. Resolves when it has exited. */
  close(): Promise<void> {
    this.#flush()
    return this.process.stop()
  }

  /** A broken pipe is noticed before the exit of the process, which tells why; a process that only closed its stdin does not exit. */
  #failAfterExit(message: JSONRPCMessage): void {
    if (!('id' in message) || message.id === undefined) return
    const { id } = message
    setTimeout(() => this.#failRequest(id, this.process.closedError), exitWaitMs).unref()
  }

  #flush(): void {
    const text = this.#outbox.join('')
    this.#outbox = []
    // A broken pipe is reported by the exit of the process.
    if (text !== '') this.process.stdin?.write(text)
  }

  /** Reads a part at a time: a chunk may hold a thousand messages and must not block the event loop. */
  #read(chunk: Buffer, stdout: Readable): void {
    if (this.process.isEnded) return
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
      if (line === undefined) this.#failOversized()
      else this.#readLine(line.toString('utf8'))
      this.#isOversized = false
    }
    const { maxMessageBytes } = this.#options
    if (this.#lines.pending > maxMessageBytes) this.#failOversized()
    if (this.#lines.pending > maxMessageBytes * floodFactor) this.process.kill()
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
    this.process.markAnswered()
    const malformed = malformedResponse(message)
    if (malformed !== undefined) {
      this.#failRequest(malformed.id, this.#malformedError(malformed.problem))
      return
    }
    if (this.#pending.receive(message)) this.onmessage?.(message)
  }

  #warnUnexpectedLine(text: string): void {
    this.#unexpectedLines++
    this.process.markUnexpected(text)
    if (this.#unexpectedLines > maxLineWarnings) return
    const more = this.#unexpectedLines === maxLineWarnings ? ' Further lines are not reported.' : ''
    this.#options.onWarning?.(
      `${this.#label} wrote a line to stdout that is not a JSON-RPC message; ignored: ${printable(text)}${more}`,
    )
  }

  /** One response was too large; which one is unknown. */
  #failOversized(): void {
    if (this.#isOversized) return
    this.#isOversized = true
    this.#failAll(tooLarge(`A message from ${this.#label}`, this.#options.maxMessageBytes))
  }

  #failAll(failure: ClientError): void {
    for (const id of this.#pending.ids) this.#failRequest(id, failure)
  }

  #failRequest(id: string | number, failure: ClientError): void {
    const message = this.#pending.failureResponse(id, failure)
    if (message !== undefined) this.onmessage?.(message)
  }

  #malformedError(what: string): ClientError {
    const problem = `${this.#label} sent a response with ${what}.`
    return new ClientError('protocol', `${problem} This is a bug in the server.`, { problem })
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isMessage = (value: unknown): value is JSONRPCMessage => isRecord(value) && value.jsonrpc === '2.0'
