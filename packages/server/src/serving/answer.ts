import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import type { Reply } from './exchange.ts'

// Whatever stands between client and server may take a long silence for the end.
const keepAliveMs = 15_000

const encoder = new TextEncoder()
const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** The answer to one request as a stream of events; in one piece, and one packet, when its result is the first of them. */
export class Answer {
  readonly reply: Promise<Reply>
  readonly #headers: { readonly [name: string]: string }
  readonly #keepAlive: ReturnType<typeof setInterval>
  #resolve: (reply: Reply) => void = () => undefined
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined
  #isOver = false

  /** `gone` calls what it is given when there is nobody to answer any more. */
  constructor(session: string, gone: (left: () => void) => void) {
    this.#headers = { ...streamHeaders, 'mcp-session-id': session }
    this.reply = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.#keepAlive = setInterval(() => this.#write(': keepalive\n\n'), keepAliveMs)
    if (typeof this.#keepAlive === 'object') this.#keepAlive.unref()
    gone(() => this.end())
  }

  /** Sends what belongs to the request and is not its result. */
  send(message: JSONRPCMessage): void {
    this.#write(eventOf(message))
  }

  /** Sends the result; there is none when the request was cancelled. */
  end(result?: JSONRPCMessage): void {
    if (this.#isOver) return
    const text = result === undefined ? '' : eventOf(result)
    this.#isOver = true
    clearInterval(this.#keepAlive)
    if (text !== '') this.#stream?.enqueue(encoder.encode(text))
    this.#stream?.close()
    // Changes nothing where the stream has been the answer for long.
    this.#resolve({ status: 200, headers: this.#headers, parts: [text] })
  }

  #write(text: string): void {
    if (this.#isOver) return
    this.#stream ??= this.#open()
    this.#stream.enqueue(encoder.encode(text))
  }

  #open(): ReadableStreamDefaultController<Uint8Array> {
    let stream!: ReadableStreamDefaultController<Uint8Array>
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        stream = controller
      },
      cancel: () => {
        this.#isOver = true
        clearInterval(this.#keepAlive)
      },
    })
    this.#resolve(new Response(body, { headers: this.#headers }))
    return stream
  }
}

const eventOf = (message: JSONRPCMessage): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`
