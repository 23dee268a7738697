import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { isFailure, printable } from '@unfold-mcp/core'
import { type StdioClient, serveStdio } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import { isSameToken, presentedToken } from '../access/admin-token.ts'
import { type ClientStatus, clientLabels } from '../access/clients.ts'
import type { RejectedTokens } from '../access/rejected-tokens.ts'
import { errorMessage } from '../base/error-message.ts'
import type { Log } from '../base/log.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { bridgeAuthority, bridgeHeaders, endingNotice } from './bridge-protocol.ts'

export interface BridgesOptions {
  readonly gateway: Gateway
  readonly token: string
  readonly rejected: RejectedTokens
  readonly isDraining: () => boolean
  /** Resolves when every server was tried once. */
  readonly ready: Promise<unknown>
  readonly log: Log
}

// stdio clients may never list again, so they wait for servers that are starting.
const startupWaitMs = 5_000

interface Bridge {
  readonly socket: Duplex
  readonly client: Client
  readonly since: number
  lastSeen: number
  info: StdioClient | undefined
  close(): Promise<void>
}

/**
 * Serves the user's stdio clients, whose messages `unfold serve --stdio` forwards. They have the permissions of a local client
 * without a token: anyone who can read the run file could also start a gateway.
 */
export class Bridges {
  readonly #options: BridgesOptions
  readonly #open = new Set<Bridge>()

  constructor(server: Server, options: BridgesOptions) {
    this.#options = options
    server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // A client that disconnects is not an error.
      socket.on('error', () => undefined)
      void this.#accept(request, socket, head).catch((error: unknown) => {
        options.log.error({ error }, 'stdio client failed')
        socket.destroy()
      })
    })
  }

  statuses(): readonly ClientStatus[] {
    const now = performance.now()
    return [...this.#open].map(({ client, since, lastSeen, info }) => ({
      era: info?.era ?? 'session',
      transport: 'stdio',
      ...(info?.name !== undefined && { name: printable(info.name) }),
      ...(info?.version !== undefined && { version: printable(info.version) }),
      ...clientLabels(client),
      sinceMs: Math.round(now - since),
      idleMs: Math.round(now - lastSeen),
      isListening: true,
    }))
  }

  /** Announces the shutdown. Pending requests are still answered. */
  drain(): void {
    for (const { socket } of this.#open)
      if (!socket.destroyed) socket.write(`${JSON.stringify({ jsonrpc: '2.0', method: endingNotice })}\n`)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((bridge) => bridge.close()))
  }

  async #accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { token, isDraining, gateway, ready } = this.#options
    if (request.url !== bridgeAuthority) return refuse(socket, 405, 'CONNECT is not supported for this authority.')
    const presented = presentedToken(headerOf(request, 'authorization'))
    // Browsers are not allowed.
    const isBrowser = headerOf(request, 'origin') !== undefined
    if (isBrowser || presented === undefined || !isSameToken(presented, token)) {
      this.#options.rejected.record({ address: request.socket.remoteAddress }, presented !== undefined)
      return refuse(socket, 401, 'Invalid token.')
    }
    if (isDraining()) return refuse(socket, 503, 'The gateway is shutting down.')
    const profile = headerOf(request, bridgeHeaders.profile)
    const view = headerOf(request, bridgeHeaders.view)
    await Promise.race([ready, pause(startupWaitMs, undefined, { ref: false })])
    if (socket.destroyed) return
    try {
      const client = gateway.access.client(undefined, profile === undefined ? undefined : decodeURIComponent(profile))
      this.#serve(socket, head, client, view)
    } catch (error) {
      if (!isFailure(error) && !(error instanceof URIError)) throw error
      refuse(socket, 400, errorMessage(error))
    }
  }

  #serve(socket: Duplex, head: Buffer, client: Client, view: string | undefined): void {
    const { gateway, log } = this.#options
    const now = performance.now()
    const bridge: Bridge = { socket, client, since: now, lastSeen: now, info: undefined, close: () => Promise.resolve() }
    const serving = serveStdio(gateway.toolbox, {
      principal: client,
      streams: { input: socket, output: socket },
      ...(view !== undefined && { view }),
      onClient: (info) => {
        bridge.info = info
        // An earlier listener would consume data before the server reads it.
        socket.on('data', () => {
          bridge.lastSeen = performance.now()
        })
      },
      onerror: (error) => log.debug({ error }, 'stdio client sent an invalid message'),
    })
    bridge.close = async () => {
      this.#open.delete(bridge)
      await serving.close()
      await endSocket(socket)
    }
    this.#open.add(bridge)
    socket.once('close', () => this.#open.delete(bridge))
    // Sockets of an HTTP server are half-open after the peer ends.
    socket.once('end', () => void bridge.close())
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (head.length > 0) socket.unshift(head)
  }
}

const lingerMs = 1_000

/** Ends a socket after flushing it; destroys it if the peer does not read. */
async function endSocket(socket: Duplex): Promise<void> {
  if (socket.destroyed) return
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  await new Promise<void>((resolve) => {
    socket.once('close', resolve)
    socket.end(() => socket.destroy())
  })
  clearTimeout(timer)
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

function refuse(socket: Duplex, status: number, problem: string): void {
  const lines = [
    `HTTP/1.1 ${status} Refused`,
    `${bridgeHeaders.problem}: ${encodeURIComponent(problem)}`,
    'content-length: 0',
    'connection: close',
  ]
  // A paused socket does not notice that the peer is gone.
  socket.resume()
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  void endSocket(socket)
}
