import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Distributes requests over several ports in turn, as a load balancer without sticky sessions does. */
export interface Balancer extends AsyncDisposable {
  readonly url: string
  /** Ports that get requests. */
  ports: readonly number[]
  /** Breaks all connections of clients. */
  disconnect(): void
}

/** Starts a balancer. A request that a port does not accept goes to the next one; any other failure closes the connection. */
export async function balance(ports: readonly number[]): Promise<Balancer> {
  let next = 0
  const balancer = { ports, disconnect: () => server.closeAllConnections() }
  const server = createServer((incoming, outgoing) => {
    const order = balancer.ports.map((_, index) => balancer.ports[(next + index) % balancer.ports.length] ?? 0)
    next++
    void forward(incoming, outgoing, order)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(balancer, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}

async function forward(incoming: IncomingMessage, outgoing: ServerResponse, ports: readonly number[]): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  for (const port of ports) if (await send(incoming, outgoing, { port, body })) return
  if (!outgoing.headersSent) outgoing.writeHead(502).end()
}

/** Resolves to false if nothing listens on the port. */
function send(
  { method, url, headers }: IncomingMessage,
  outgoing: ServerResponse,
  { port, body }: { readonly port: number; readonly body: Buffer },
): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, method, path: url, headers: { ...headers, host: `127.0.0.1:${port}` } })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') resolve(false)
      else {
        outgoing.destroy()
        resolve(true)
      }
    })
    sent.on('response', (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(outgoing)
      reply.on('error', () => outgoing.destroy())
      reply.on('close', () => !reply.complete && outgoing.destroy())
      resolve(true)
    })
    outgoing.on('close', () => sent.destroy())
    sent.end(body)
  })
}
