import { connect, type Socket } from 'node:net'

/** A received JSON-RPC message, with the fields that tests check. */
export interface Message {
  readonly id?: string | number | null
  readonly method?: string
  readonly result?: { readonly [key: string]: unknown }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: { readonly [key: string]: unknown } }
}

/** A parsed HTTP response. */
export interface RawAnswer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  readonly messages: readonly Message[]
}

export type Headers = { readonly [name: string]: string }

/** Bytes to send, with an optional pause in milliseconds before them. */
export interface Piece {
  readonly bytes: string | Buffer
  readonly afterMs?: number
}

/** Sends bytes over a new socket and reads one response; `undefined` if the socket was closed without one. */
export async function exchange(port: number, pieces: readonly Piece[], timeoutMs = 60_000): Promise<RawAnswer | undefined> {
  const socket = connect(port, '127.0.0.1')
  try {
    const answer = answerFrom(socket, timeoutMs)
    void writeAll(socket, pieces)
    return await answer
  } finally {
    socket.destroy()
  }
}

function answerFrom(socket: Socket, timeoutMs: number): Promise<RawAnswer | undefined> {
  let bytes = Buffer.alloc(0)
  const chunks: Buffer[] = []
  return new Promise((resolve, reject) => {
    const read = (isOver: boolean): void => {
      bytes = Buffer.concat([bytes, ...chunks.splice(0)])
      const answer = parseAnswer(bytes)
      if (answer === undefined && !isOver) return
      clearTimeout(late)
      resolve(answer)
    }
    const late = setTimeout(() => {
      const received = Buffer.concat([bytes, ...chunks]).toString('utf8', 0, 500)
      reject(new Error(`No complete response within ${timeoutMs} ms. Received: ${received}`))
    }, timeoutMs)
    let pending = false
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      // A large response arrives in many chunks; parsing after each would be quadratic.
      if (pending) return
      pending = true
      setTimeout(
        () => {
          pending = false
          read(false)
        },
        chunks.length < 4 && bytes.length < 1_000_000 ? 0 : 20,
      )
    })
    // A server that rejects a body may close the connection while the body is being sent; its response still counts.
    socket.on('error', () => undefined)
    socket.on('close', () => read(true))
  })
}

async function writeAll(socket: Socket, pieces: readonly Piece[]): Promise<void> {
  for (const { bytes, afterMs } of pieces) {
    if (afterMs !== undefined) await new Promise((resolve) => setTimeout(resolve, afterMs))
    if (socket.destroyed) return
    if (!socket.write(bytes)) await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve))
  }
}

/** Returns the response once it is complete. */
function parseAnswer(bytes: Buffer): RawAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const raw = bytes.subarray(end + 4)
  const body = headers['transfer-encoding'] === 'chunked' ? unchunked(raw) : sized(raw, Number(headers['content-length'] ?? 0))
  if (body === undefined) return undefined
  return { status: Number(first.split(' ')[1]), headers, body, messages: messagesOf(body) }
}

const sized = (bytes: Buffer, size: number): string | undefined =>
  bytes.length < size ? undefined : bytes.toString('utf8', 0, size)

function unchunked(bytes: Buffer): string | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at)
    if (line === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    if (size === 0) return Buffer.concat(parts).toString('utf8')
    at = line + 2 + size + 2
    if (at > bytes.length) return undefined
    parts.push(bytes.subarray(line + 2, at - 2))
  }
}

function messagesOf(body: string): readonly Message[] {
  // Lines rather than an expression: a line of 50 MB can exhaust the stack of an expression.
  const texts = /^(event|id|data|retry|:)/u.test(body)
    ? body.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []))
    : [body]
  return texts.flatMap((text) => {
    try {
      const parsed = JSON.parse(text) as Message | readonly Message[]
      return Array.isArray(parsed) ? parsed : [parsed]
    } catch {
      return []
    }
  })
}

/** Returns a request head with exactly these headers. */
export function head(method: string, path: string, headers: Headers): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/** Headers that every client sends. */
export const common: Headers = {
  host: '127.0.0.1',
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  connection: 'close',
}

/** Returns a POST request with the common headers and these; an empty value removes a header. */
export function post(body: string | Buffer, headers: Headers = {}, path = '/mcp'): readonly Piece[] {
  const bytes = Buffer.from(body)
  const all = { 'content-length': String(bytes.length), ...common, ...headers }
  const sentHeaders = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
  return [{ bytes: Buffer.concat([Buffer.from(head('POST', path, sentHeaders)), bytes]) }]
}
