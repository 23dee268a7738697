import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { type JSONRPCMessage, STDIO_DEFAULT_MAX_BUFFER_SIZE, type Transport } from '@modelcontextprotocol/server'
import { ByteLines, Failure, printable } from '@unfold-mcp/core'
import { errorMessage } from '../tool/report.ts'
import { idOf, wellFormed } from '../wire/errors.ts'
import { messageOf } from '../wire/message.ts'

const maxBytes = STDIO_DEFAULT_MAX_BUFFER_SIZE

/**
 * Messages over a pair of streams, one a line. The SDK's own is silent about a line that holds none, and stops for good at
 * one that is too long; here the client reads why, and is served on.
 */
export class LineTransport implements Transport {
  readonly #input: Readable
  readonly #output: Writable
  readonly #over = new AbortController()
  readonly #lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.alloc(size), limit: maxBytes })
  #drained: Promise<unknown> | undefined
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read).on('error', this.#failed).on('end', this.#ended).on('close', this.#ended)
    // Never taken off: a stream that breaks after all is over must not end the process.
    this.#output.on('error', this.#failed)
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(this.#ended)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#over.signal.aborted) throw new Error('The client is gone.')
    await this.#write(JSON.stringify(message))
  }

  async close(): Promise<void> {
    if (this.#over.signal.aborted) return
    this.#over.abort()
    this.#input.off('data', this.#read).off('error', this.#failed).off('end', this.#ended).off('close', this.#ended)
    if (this.#input.listenerCount('data') === 0) this.#input.pause()
    this.onclose?.()
  }

  readonly #ended = (): void => void this.close()

  readonly #failed = (error: Error): void => {
    if (this.#over.signal.aborted) return
    this.onerror?.(error)
    void this.close()
  }

  readonly #read = (chunk: Buffer): void => {
    for (const line of this.#lines.add(chunk)) this.#take(line)
  }

  #take(line: Buffer | undefined): void {
    const read = line === undefined ? tooLong : messageOn(line)
    if (read === undefined) return
    if ('message' in read) this.onmessage?.(read.message)
    else this.#refuse(read)
  }

  #refuse({ code, failure: { reason, message, details }, id = null }: Refusal): void {
    const error = { code, message, data: { reason, ...details } }
    this.#write(JSON.stringify({ jsonrpc: '2.0', error, id })).catch(() => undefined)
  }

  async #write(text: string): Promise<void> {
    if (this.#output.write(`${text}\n`)) return
    this.#drained ??= once(this.#output, 'drain', { signal: this.#over.signal }).finally(() => {
      this.#drained = undefined
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
  failure: new Failure('body_too_large', `A message may be ${maxBytes} bytes long; this line is longer. Send less at once.`, {
    limit: maxBytes,
  }),
}

/** What a line says: a message, why it is none, or nothing at all. */
function messageOn(line: Buffer): { readonly message: JSONRPCMessage } | Refusal | undefined {
  let value: unknown
  try {
    const text = textOf(line)
    if (text === '') return undefined
    value = JSON.parse(text)
  } catch (error) {
    const problem = printable(errorMessage(error))
    const message = `This line is not JSON in UTF-8: ${problem}. Send one JSON object a line.`
    return { code: -32700, failure: new Failure('invalid_json', message, { problem }) }
  }
  const message = messageOf(value)
  if (message !== undefined) return { message }
  const problem = 'This line is no JSON-RPC message'
  return { code: -32600, failure: new Failure('invalid_request', `${problem}. ${wellFormed}`, { problem }), id: idOf(value) }
}

function textOf(line: Buffer): string {
  if (!isUtf8(line)) throw new Error('some of its bytes are no text')
  return line
    .toString('utf8')
    .replace(/^\uFEFF/u, '')
    .trim()
}
