import { createHash, randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { type Channel, Inbox, type Sink } from './inbox.ts'

const opcodes = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const
const maxControlBytes = 125
const closeTimeoutMs = 1_000

/** Channel to a browser started with `--remote-debugging-port`. Reads frames as a stream, so that an oversized message is not buffered. */
export async function webSocketChannel(url: URL, timeoutMs: number): Promise<Channel> {
  const { socket, head } = await upgraded(url, timeoutMs)
  return {
    listen(sink) {
      const frames = new Frames(sink, (opcode, payload) => socket.write(frameOf(opcode, payload)))
      let isOpen = true
      const end = (reason: string): void => {
        if (isOpen) sink.closed(reason)
        isOpen = false
        socket.destroy()
      }
      socket.on('data', (chunk: Buffer) => {
        const fault = frames.read(chunk)
        if (fault !== undefined) end(fault)
      })
      socket.once('close', () => end('the browser closed the connection'))
      socket.on('error', (error) => end(error.message))
      if (head.length > 0) socket.unshift(head)
    },
    send(text) {
      if (socket.writable) socket.write(frameOf(opcodes.text, Buffer.from(text)))
    },
    close() {
      if (!socket.writable) return
      socket.end(frameOf(opcodes.close, Buffer.from([0x03, 0xe8])))
      setTimeout(() => socket.destroy(), closeTimeoutMs).unref()
    },
  }
}

/** Performs the WebSocket handshake. */
function upgraded(url: URL, timeoutMs: number): Promise<{ readonly socket: Duplex; readonly head: Buffer }> {
  const key = randomBytes(16).toString('base64')
  // GUID from RFC 6455: a server that replies with this hash supports WebSocket.
  const answer = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  const isSecure = url.protocol === 'wss:'
  const target = new URL(url)
  target.protocol = isSecure ? 'https:' : 'http:'
  return new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(target, {
      headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': key },
      timeout: timeoutMs,
    })
    request.once('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)))
    request.once('error', reject)
    request.once('response', (response) => {
      response.resume()
      request.destroy()
      reject(new Error(`it answered ${response.statusCode} where a WebSocket was expected`))
    })
    request.once('upgrade', (response, socket, head) => {
      socket.setTimeout(0)
      if (response.headers['sec-websocket-accept'] === answer) return resolve({ socket, head })
      socket.destroy()
      reject(new Error('it answered as no WebSocket does'))
    })
    request.end()
  })
}

/** Encodes a client frame: unfragmented and masked. */
function frameOf(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  const size = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const header = Buffer.alloc(2 + size)
  header[0] = 0x80 | opcode
  header[1] = 0x80 | (size === 0 ? length : size === 2 ? 126 : 127)
  if (size === 2) header.writeUInt16BE(length, 2)
  if (size === 8) header.writeBigUInt64BE(BigInt(length), 2)
  const mask = randomBytes(4)
  const masked = Buffer.allocUnsafe(length)
  for (let i = 0; i < length; i++) masked[i] = (payload[i] ?? 0) ^ (mask[i & 3] ?? 0)
  return Buffer.concat([header, mask, masked])
}

/** Decodes frames of the browser. */
class Frames {
  readonly #inbox: Inbox
  readonly #answer: (opcode: number, payload: Buffer) => void
  #header: Buffer = Buffer.alloc(0)
  #left = 0
  #opcode: number = opcodes.text
  #isLast = true
  #isInside = false
  #control: Buffer[] = []

  constructor(sink: Sink, answer: (opcode: number, payload: Buffer) => void) {
    this.#inbox = new Inbox(sink)
    this.#answer = answer
  }

  /** Reads a chunk; returns the reason if the connection must be closed. */
  read(chunk: Buffer): string | undefined {
    let rest = chunk
    while (rest.length > 0) {
      if (!this.#isInside) {
        const whole = this.#header.length === 0 ? rest : Buffer.concat([this.#header, rest])
        const used = this.#begin(whole)
        if (typeof used === 'string') return used
        if (used === 0) {
          this.#header = Buffer.from(whole)
          return undefined
        }
        this.#header = Buffer.alloc(0)
        rest = whole.subarray(used)
      }
      const part = rest.subarray(0, this.#left)
      rest = rest.subarray(part.length)
      this.#left -= part.length
      const fault = this.#take(part)
      if (fault !== undefined) return fault
    }
    return undefined
  }

  /** Reads a frame header; returns its length, 0 if it is incomplete, or a reason. */
  #begin(bytes: Buffer): number | string {
    const [first, second] = bytes
    if (first === undefined || second === undefined) return 0
    if ((second & 0x80) !== 0 || (first & 0x70) !== 0) return 'it sent a frame that no browser sends'
    const short = second & 0x7f
    const size = short === 126 ? 4 : short === 127 ? 10 : 2
    if (bytes.length < size) return 0
    this.#opcode = first & 0x0f
    this.#isLast = (first & 0x80) !== 0
    this.#left = size === 4 ? bytes.readUInt16BE(2) : size === 10 ? Number(bytes.readBigUInt64BE(2)) : short
    if (this.#opcode >= opcodes.close && this.#left > maxControlBytes) return 'it sent a frame that no browser sends'
    this.#isInside = true
    return size
  }

  #take(part: Buffer): string | undefined {
    const isEnd = this.#left === 0
    if (isEnd) this.#isInside = false
    if (this.#opcode < opcodes.close) {
      if (isEnd && this.#isLast) this.#inbox.end(part)
      else this.#inbox.add(part)
      return undefined
    }
    this.#control.push(part)
    if (!isEnd) return undefined
    const payload = Buffer.concat(this.#control)
    this.#control = []
    if (this.#opcode === opcodes.ping) this.#answer(opcodes.pong, payload)
    return this.#opcode === opcodes.close ? 'the browser closed the connection' : undefined
  }
}
