import { connect, type Socket } from 'node:net'

/** An HTTP response: status, one header, and the body. */
export interface Answer {
  readonly status: number
  readonly session: string | undefined
  readonly body: Buffer
}

interface Reading {
  readonly onHead: (status: number) => void
  readonly onBytes: (bytes: Buffer) => void
  readonly onEnd: (status: number, session: string | undefined) => void
}

const separator = Buffer.from('\r\n\r\n')
const lineEnd = Buffer.from('\r\n')
const none = Buffer.alloc(0)

/**
 * One keep-alive connection with one request at a time. Node's HTTP client is not used because it takes longer than some of the
 * measured servers.
 */
export class HttpConnection {
  readonly #url: URL
  #socket: Socket | undefined
  #held: Buffer = none
  #reading: Reading | undefined
  #failed: (error: Error) => void = () => undefined
  /** Sends the request again. Set until the response starts, because the server may close an idle connection at that moment. */
  #retry: (() => void) | undefined
  #status = 0
  #session: string | undefined
  /** Remaining bytes of the body or chunk; `undefined` while reading headers or a chunk size. */
  #left: number | undefined
  #isChunked = false
  #inBody = false

  constructor(url: URL) {
    this.#url = url
  }

  /** Posts a message and waits for the complete response. */
  post(path: string, headers: string, message: string): Promise<Answer> {
    const head = `POST ${path} HTTP/1.1\r\nhost: ${this.#url.host}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: ${Buffer.byteLength(message)}\r\n`
    return new Promise((resolve, reject) => {
      const parts: Buffer[] = []
      this.#send(`${head}${headers}\r\n${message}`, reject, {
        onHead: () => undefined,
        onBytes: (bytes) => void parts.push(bytes),
        onEnd: (status, session) => {
          const body = parts.length === 1 ? (parts[0] ?? none) : Buffer.concat(parts)
          if (status < 300) resolve({ status, session, body })
          else reject(new Error(`Status ${status}: ${body.toString('utf8', 0, 300)}`))
        },
      })
    })
  }

  /** Reads an event stream until it ends; resolves when it has started. */
  listen(headers: string, onBytes: (bytes: Buffer) => void): Promise<void> {
    const head = `GET ${this.#url.pathname}${this.#url.search} HTTP/1.1\r\nhost: ${this.#url.host}\r\naccept: text/event-stream\r\n${headers}\r\n`
    return new Promise((resolve, reject) => {
      const onHead = (status: number): void => {
        if (status === 200) resolve()
        else reject(new Error(`The event stream was rejected with status ${status}.`))
      }
      this.#send(head, reject, { onHead, onBytes, onEnd: () => undefined })
    })
  }

  close(): void {
    this.#retry = undefined
    this.#socket?.destroy()
  }

  #send(text: string, failed: (error: Error) => void, reading: Reading): void {
    this.#reading = reading
    this.#failed = failed
    this.#retry = this.#socket === undefined ? undefined : () => this.#send(text, failed, reading)
    this.#socket ??= this.#connected()
    this.#socket.write(text)
  }

  #connected(): Socket {
    const socket = connect(Number(this.#url.port), this.#url.hostname)
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => {
      if (this.#socket !== socket) return
      this.#retry = undefined
      this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
      while (this.#step());
    })
    const gone = (error?: Error): void => {
      if (this.#socket !== socket) return
      this.#socket = undefined
      this.#held = none
      this.#inBody = false
      const retry = this.#retry
      this.#retry = undefined
      if (retry === undefined) this.#failed(error ?? new Error('The connection was closed.'))
      else retry()
    }
    socket
      .on('error', gone)
      .on('end', gone)
      .on('close', () => gone())
    return socket
  }

  /** Consumes one element of the buffer; returns false if more data is needed. */
  #step(): boolean {
    if (!this.#inBody) return this.#readHead()
    if (this.#left === undefined) return this.#readSize()
    if (this.#left > 0) return this.#readBytes(this.#left)
    return this.#isChunked ? this.#endChunk() : this.#end()
  }

  #readHead(): boolean {
    const at = this.#held.indexOf(separator)
    if (at < 0) return false
    const head = this.#held.toString('latin1', 0, at)
    this.#held = this.#held.subarray(at + separator.length)
    this.#status = Number(head.slice(9, 12))
    this.#session = /\r\nmcp-session-id: *(\S+)/iu.exec(head)?.[1]
    const size = /\r\ncontent-length: *(\d+)/iu.exec(head)?.[1]
    this.#isChunked = size === undefined && /\r\ntransfer-encoding: *chunked/iu.test(head)
    this.#left = this.#isChunked ? undefined : Number(size ?? 0)
    this.#inBody = true
    this.#reading?.onHead(this.#status)
    return true
  }

  #readSize(): boolean {
    const at = this.#held.indexOf(lineEnd)
    if (at < 0) return false
    const size = Number.parseInt(this.#held.toString('latin1', 0, at), 16)
    // The last chunk and the line after it are empty.
    if (size === 0 && this.#held.length < at + 4) return false
    this.#held = this.#held.subarray(at + (size === 0 ? 4 : 2))
    if (size === 0) return this.#end()
    this.#left = size
    return true
  }

  #readBytes(left: number): boolean {
    if (this.#held.length === 0) return false
    const bytes = this.#held.subarray(0, left)
    this.#held = this.#held.subarray(bytes.length)
    this.#left = left - bytes.length
    this.#reading?.onBytes(bytes)
    return true
  }

  #endChunk(): boolean {
    if (this.#held.length < 2) return false
    this.#held = this.#held.subarray(2)
    this.#left = undefined
    return true
  }

  #end(): boolean {
    this.#inBody = false
    const reading = this.#reading
    this.#reading = undefined
    this.#failed = () => undefined
    reading?.onEnd(this.#status, this.#session)
    return this.#held.length > 0
  }
}
