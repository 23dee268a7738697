import { forward, httpProxy } from '../http-proxy.ts'

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
  const proxy = await httpProxy(async (incoming, outgoing, body) => {
    const order = balancer.ports.map((_, index) => balancer.ports[(next + index) % balancer.ports.length] ?? 0)
    next++
    for (const port of order) if (await forward(incoming, outgoing, { port, body })) return
    if (!outgoing.headersSent) outgoing.writeHead(502).end()
  })
  const balancer: Balancer = { ...proxy, ports, url: `${proxy.origin}/mcp` }
  return balancer
}
