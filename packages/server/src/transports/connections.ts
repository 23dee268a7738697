import type { Server as HttpServer, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Failure } from '@unfold-mcp/core'
import { failureReply } from '../wire/errors.ts'
import type { BufferedReply } from '../wire/exchange.ts'

// Long enough to send one request and receive the 503.
const overLimitTimeoutMs = 3_000
const retryAfterSeconds = 5

/** Limits the connections of a server. A connection over the limit gets 503 for its first request and is closed. */
export class Connections {
  readonly #max: number
  readonly #admitted = new Set<Socket>()
  readonly #overLimit = new Map<Socket, NodeJS.Timeout>()

  constructor(server: HttpServer, max: number) {
    this.#max = max
    // A 503 takes a socket too: beyond these, Node drops connections without a response.
    server.maxConnections = max + Math.min(256, Math.max(16, Math.ceil(max / 4)))
    server.on('connection', (socket) => this.#onConnection(socket))
  }

  /** Returns the 503 reply for a request on a connection over the limit. */
  refusal({ socket }: IncomingMessage): BufferedReply | undefined {
    if (this.#admitted.has(socket) || this.#admit(socket)) return undefined
    const limit = this.#max
    const message = `Connection limit reached (${limit}). The request was not processed. Close unused connections, or try again in ${retryAfterSeconds} seconds.`
    return failureReply(503, new Failure('connection_limit', message, { limit }), {
      code: -32000,
      headers: { 'retry-after': String(retryAfterSeconds), connection: 'close' },
    })
  }

  #onConnection(socket: Socket): void {
    socket.once('close', () => this.#remove(socket))
    if (this.#admit(socket)) return
    const timer = setTimeout(() => socket.destroy(), overLimitTimeoutMs)
    timer.unref()
    this.#overLimit.set(socket, timer)
  }

  #admit(socket: Socket): boolean {
    if (socket.destroyed || this.#admitted.size >= this.#max) return false
    this.#admitted.add(socket)
    this.#clearTimeout(socket)
    return true
  }

  #remove(socket: Socket): void {
    this.#admitted.delete(socket)
    this.#clearTimeout(socket)
  }

  #clearTimeout(socket: Socket): void {
    clearTimeout(this.#overLimit.get(socket))
    this.#overLimit.delete(socket)
  }
}
