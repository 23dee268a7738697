import type { Server as HttpServer, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Failure } from '@unfold-mcp/core'
import { failureReply } from '../wire/errors.ts'
import type { WholeReply } from '../wire/exchange.ts'

// Long enough to send one request and hear that there is no room.
const silentMs = 3_000
const retryAfterSeconds = 5

/**
 * Keeps the connections of a server to a number. Whoever comes beyond it is told so when it asks something, and let go; those
 * that were there go on.
 */
export class Connections {
  readonly #most: number
  readonly #admitted = new Set<Socket>()
  readonly #waiting = new Map<Socket, NodeJS.Timeout>()

  constructor(server: HttpServer, most: number) {
    this.#most = most
    // Even to say no takes a socket: with more than these they are dropped unheard.
    server.maxConnections = most + Math.min(256, Math.max(16, Math.ceil(most / 4)))
    server.on('connection', (socket) => this.#came(socket))
  }

  /** What to answer instead, where a request came over a connection for which there is no room. */
  refusal({ socket }: IncomingMessage): WholeReply | undefined {
    if (this.#admitted.has(socket) || this.#admits(socket)) return undefined
    const limit = this.#most
    const message = `As many connections are open as this server takes (${limit}). Nothing was done; close those that you do not need, and try again in ${retryAfterSeconds} seconds.`
    return failureReply(503, new Failure('connection_limit', message, { limit }), {
      code: -32000,
      headers: { 'retry-after': String(retryAfterSeconds), connection: 'close' },
    })
  }

  #came(socket: Socket): void {
    socket.once('close', () => this.#left(socket))
    if (this.#admits(socket)) return
    const late = setTimeout(() => socket.destroy(), silentMs)
    late.unref()
    this.#waiting.set(socket, late)
  }

  #admits(socket: Socket): boolean {
    if (socket.destroyed || this.#admitted.size >= this.#most) return false
    this.#admitted.add(socket)
    this.#forget(socket)
    return true
  }

  #left(socket: Socket): void {
    this.#admitted.delete(socket)
    this.#forget(socket)
  }

  #forget(socket: Socket): void {
    clearTimeout(this.#waiting.get(socket))
    this.#waiting.delete(socket)
  }
}
