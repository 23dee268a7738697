import type { Server as HttpServer, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Failure, Shares } from '@unfold-mcp/core'
import { failureReply } from '../wire/errors.ts'
import type { BufferedReply } from '../wire/exchange.ts'

// Long enough to send one request and receive the 503.
const overLimitTimeoutMs = 3_000
const retryAfterSeconds = 5

export interface ConnectionsOptions {
  readonly max: number
  /** Whose share of the connections one from this address takes; `undefined`: limited only by the total. */
  readonly holderOf?: (address: string) => string | undefined
}

/**
 * Limits the connections of a server, with a share for each address. A connection over the limit gets 503 for its first request, and
 * one over the share 429; then it is closed.
 */
export class Connections {
  readonly #shares: Shares
  readonly #holderOf: NonNullable<ConnectionsOptions['holderOf']>
  readonly #admitted = new Map<Socket, () => void>()
  readonly #overLimit = new Map<Socket, NodeJS.Timeout>()

  constructor(server: HttpServer, { max, holderOf = () => undefined }: ConnectionsOptions) {
    this.#shares = new Shares(() => max)
    this.#holderOf = holderOf
    // A 503 takes a socket too: beyond these, Node drops connections without a response.
    server.maxConnections = max + Math.min(256, Math.max(16, Math.ceil(max / 4)))
    server.on('connection', (socket) => this.#onConnection(socket))
  }

  /** Returns the reply for a request on a connection over the limit. */
  refusal({ socket }: IncomingMessage): BufferedReply | undefined {
    if (this.#admitted.has(socket) || this.#admit(socket)) return undefined
    const { isFull, limit } = this.#shares
    const reached = isFull
      ? `Connection limit reached (${limit}).`
      : `Too many connections from this address (limit for all: ${limit}).`
    const message = `${reached} The request was not processed. Close unused connections, or try again in ${retryAfterSeconds} seconds.`
    return failureReply(isFull ? 503 : 429, new Failure('connection_limit', message, { limit }), {
      code: -32000,
      headers: { 'retry-after': String(retryAfterSeconds), connection: 'close' },
    })
  }

  #onConnection(socket: Socket): void {
    socket.on('close', () => this.#remove(socket))
    if (this.#admit(socket)) return
    const timer = setTimeout(() => socket.destroy(), overLimitTimeoutMs)
    timer.unref()
    this.#overLimit.set(socket, timer)
  }

  #admit(socket: Socket): boolean {
    const holder = socket.remoteAddress === undefined ? undefined : this.#holderOf(socket.remoteAddress)
    const release = socket.destroyed ? undefined : this.#shares.take(holder === undefined ? [] : [holder])
    if (release === undefined) return false
    this.#admitted.set(socket, release)
    this.#clearTimeout(socket)
    return true
  }

  #remove(socket: Socket): void {
    this.#admitted.get(socket)?.()
    this.#admitted.delete(socket)
    this.#clearTimeout(socket)
  }

  #clearTimeout(socket: Socket): void {
    clearTimeout(this.#overLimit.get(socket))
    this.#overLimit.delete(socket)
  }
}
