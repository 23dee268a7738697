import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { isFailure, printable } from '@unfold-mcp/core'
import { type StdioClient, serveStdio } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import { isSameToken, presentedToken } from '../access/admin-token.ts'
import { type ClientStatus, holder } from '../access/clients.ts'
import { errorMessage } from '../base/error-message.ts'
import type { Log } from '../base/log.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { bridgeAuthority, bridgeHeaders, endingNotice } from './bridge-protocol.ts'

export interface BridgesOptions {
  readonly gateway: Gateway
  /** What lets a client in. */
  readonly token: string
  readonly isDraining: () => boolean
  /** Done when every server has been tried once. */
  readonly ready: Promise<unknown>
  readonly log: Log
}

// A client that is connected in this way may never list again, so it waits a little for what is about to come.
const firstToolsMs = 5_000

interface Bridge {
  readonly socket: Duplex
  readonly client: Client
  readonly since: number
  last: number
  said: StdioClient | undefined
  close(): Promise<void>
}

/**
 * Serves stdio clients of whoever runs the gateway: `unfold serve --stdio` passes their lines on. Each is served as it would be
 * by a gateway of its own, and sees what a local client without a token sees: whoever can read the run file could start one.
 */
export class Bridges {
  readonly #options: BridgesOptions
  readonly #open = new Set<Bridge>()

  constructor(server: Server, options: BridgesOptions) {
    this.#options = options
    server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // A client that vanishes is not a failure of the gateway.
      socket.on('error', () => undefined)
      void this.#answer(request, socket, head).catch((error: unknown) => {
        options.log.error({ error }, 'A stdio client could not be served.')
        socket.destroy()
      })
    })
  }

  statuses(): readonly ClientStatus[] {
    const now = performance.now()
    return [...this.#open].map(({ client, since, last, said }) => ({
      era: said?.era ?? 'session',
      transport: 'stdio',
      ...(said?.name !== undefined && { name: printable(said.name) }),
      ...(said?.version !== undefined && { version: printable(said.version) }),
      ...holder(client),
      sinceMs: Math.round(now - since),
      idleMs: Math.round(now - last),
      isListening: true,
    }))
  }

  /** Tells the clients that the gateway is about to end. What they asked before is still answered. */
  drain(): void {
    for (const { socket } of this.#open)
      if (!socket.destroyed) socket.write(`${JSON.stringify({ jsonrpc: '2.0', method: endingNotice })}\n`)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((bridge) => bridge.close()))
  }

  async #answer(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { token, isDraining, gateway, ready } = this.#options
    if (request.url !== bridgeAuthority) return refuse(socket, 405, 'This is not a proxy.')
    const presented = presentedToken(headerOf(request, 'authorization'))
    // No browser can send this, and none is meant.
    const isBrowser = headerOf(request, 'origin') !== undefined
    if (isBrowser || presented === undefined || !isSameToken(presented, token)) return refuse(socket, 401, 'The token is wrong.')
    if (isDraining()) return refuse(socket, 503, 'The gateway is about to end.')
    const profile = headerOf(request, bridgeHeaders.profile)
    const view = headerOf(request, bridgeHeaders.view)
    await Promise.race([ready, pause(firstToolsMs, undefined, { ref: false })])
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
    const bridge: Bridge = { socket, client, since: now, last: now, said: undefined, close: () => Promise.resolve() }
    const serving = serveStdio(gateway.toolbox, {
      principal: client,
      streams: { input: socket, output: socket },
      ...(view !== undefined && { view }),
      onClient: (said) => {
        bridge.said = said
        // Not before it is read: what nobody else listens to would be lost.
        socket.on('data', () => {
          bridge.last = performance.now()
        })
      },
      onerror: (error) => log.debug({ error }, 'A message of a stdio client could not be answered.'),
    })
    bridge.close = async () => {
      this.#open.delete(bridge)
      await serving.close()
      await ended(socket)
    }
    this.#open.add(bridge)
    socket.once('close', () => this.#open.delete(bridge))
    // Sockets of an HTTP server stay open for writing when the other end is gone.
    socket.once('end', () => void bridge.close())
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (head.length > 0) socket.unshift(head)
  }
}

const lingerMs = 1_000

/** Ends a socket once what was written is sent; one that nobody reads is cut off. */
async function ended(socket: Duplex): Promise<void> {
  if (socket.destroyed) return
  const late = setTimeout(() => socket.destroy(), lingerMs)
  await new Promise<void>((resolve) => {
    socket.once('close', resolve)
    // The other end may have more to say, to which nobody listens any more.
    socket.end(() => socket.destroy())
  })
  clearTimeout(late)
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
  // One that is not read does not notice that the other end is gone.
  socket.resume()
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  void ended(socket)
}
