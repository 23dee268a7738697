import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { type JSONRPCMessage, STDIO_DEFAULT_MAX_BUFFER_SIZE, type Transport } from '@modelcontextprotocol/server'
import { ByteLines, Failure, printable } from '@unfold-mcp/core'
import { errorMessage } from '../tool/report.ts'
import { requestFormatHint, requestIdOf } from '../wire/errors.ts'
import { parseMessage } from '../wire/message.ts'
import { maxUnreadBytes } from '../wire/sse.ts'

const maxBytes = STDIO_DEFAULT_MAX_BUFFER_SIZE

/**
 * Transport over a pair of streams, one message per line. Unlike the SDK's, it responds to invalid and oversized lines with an
 * error and keeps serving.
 */
export class LineTransport implements Transport {
  readonly #input: Readable
  readonly #output: Writable
  readonly #closed = new AbortController()
  readonly #lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.alloc(size), limit: maxBytes })
  #drained: Promise<unknown> | undefined
  #isInputPaused = false
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#onData).on('error', this.#onError).on('end', this.#onEnd).on('close', this.#onEnd)
    // Never removed: an error after close must not crash the process.
    this.#output.on('error', this.#onError)
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(this.#onEnd)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed.signal.aborted) throw new Error('The client has disconnected.')
    await this.#write(JSON.stringify(message))
  }

  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return
    this.#closed.abort()
    this.#input.off('data', this.#onData).off('error', this.#onError).off('end', this.#onEnd).off('close', this.#onEnd)
    if (this.#input.listenerCount('data') === 0) this.#input.pause()
    this.onclose?.()
  }

  readonly #onEnd = (): void => void this.close()

  readonly #onError = (error: Error): void => {
    if (this.#closed.signal.aborted) return
    this.onerror?.(error)
    void this.close()
  }

  readonly #onData = (chunk: Buffer): void => {
    for (const line of this.#lines.add(chunk)) this.#handleLine(line)
  }

  #handleLine(line: Buffer | undefined): void {
    const parsed = line === undefined ? tooLong : parseLine(line)
    if (parsed === undefined) return
    if ('message' in parsed) this.onmessage?.(parsed.message)
    else this.#refuse(parsed)
  }

  #refuse({ code, failure: { reason, message, details }, id = null }: Refusal): void {
    const error = { code, message, data: { reason, ...details } }
    this.#write(JSON.stringify({ jsonrpc: '2.0', error, id })).catch(() => undefined)
  }

  async #write(text: string): Promise<void> {
    if (this.#output.write(`${text}\n`)) return
    // A client that does not read its replies gets no more, because its requests are not read either.
    if (this.#output.writableLength > maxUnreadBytes && !this.#closed.signal.aborted) {
      this.#isInputPaused = true
      this.#input.pause()
    }
    this.#drained ??= once(this.#output, 'drain', { signal: this.#closed.signal }).finally(() => {
      this.#drained = undefined
      if (this.#isInputPaused && !this.#closed.signal.aborted) this.#input.resume()
      this.#isInputPaused = false
    })
    await this.#drained
  }
}

interface Refusal {
  readonly code: number
  readonly failure: Failure
  readonly id?: string | number | null
}

const tooLong: Refusal = {
  code: -32600,
  failure: new Failure('body_too_large', `This line exceeds ${maxBytes} bytes. Send less.`, {
    limit: maxBytes,
  }),
}

/** Returns `undefined` for an empty line. */
function parseLine(line: Buffer): { readonly message: JSONRPCMessage } | Refusal | undefined {
  let value: unknown
  try {
    const text = decode(line)
    if (text === '') return undefined
    value = JSON.parse(text)
  } catch (error) {
    const problem = printable(errorMessage(error))
    const message = `This line is not valid UTF-8 JSON: ${problem}. Send one JSON object per line.`
    return { code: -32700, failure: new Failure('invalid_json', message, { problem }) }
  }
  const message = parseMessage(value)
  if (message !== undefined) return { message }
  const problem = 'This line is not a JSON-RPC message'
  return {
    code: -32600,
    failure: new Failure('invalid_request', `${problem}. ${requestFormatHint}`, { problem }),
    id: requestIdOf(value),
  }
}

function decode(line: Buffer): string {
  if (!isUtf8(line)) throw new Error('invalid UTF-8')
  return line
    .toString('utf8')
    .replace(/^\uFEFF/u, '')
    .trim()
}
