import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy on 127.0.0.1. */
export interface HttpProxy extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly origin: string
  /** Breaks all connections of clients. */
  disconnect(): void
}

/** Starts a proxy. `handle` gets each request with its complete body. */
export async function httpProxy(
  handle: (incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer) => Promise<unknown>,
): Promise<HttpProxy> {
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
      await handle(incoming, outgoing, Buffer.concat(chunks))
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const disconnect = (): void => server.closeAllConnections()
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    disconnect,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      disconnect()
      await closed
    },
  }
}

interface Forwarded {
  readonly port: number
  readonly body: Buffer
  readonly headers?: IncomingMessage['headers']
}

/** Sends a request with these headers and this body to a port, and its reply back. Resolves to false if nothing listens there. */
export function forward(
  { method, url, headers }: IncomingMessage,
  outgoing: ServerResponse,
  { port, body, headers: changed = {} }: Forwarded,
): Promise<boolean> {
  return new Promise((resolve) => {
    const all = { ...headers, host: `127.0.0.1:${port}`, ...changed }
    const sent = request({ host: '127.0.0.1', port, method, path: url, headers: all })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') resolve(false)
      else {
        outgoing.destroy()
        resolve(true)
      }
    })
    sent.on('response', (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      // An event stream may not have an event for a long time.
      outgoing.flushHeaders()
      reply.pipe(outgoing)
      reply.on('error', () => outgoing.destroy())
      reply.on('close', () => !reply.complete && outgoing.destroy())
      resolve(true)
    })
    outgoing.on('close', () => sent.destroy())
    sent.end(body)
  })
}
