import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Proxy that counts messages and can be cut. */
export interface Tap extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** Methods of all forwarded requests and notifications, in order. */
  methods(): readonly string[]
  /** Number of messages with this method. */
  count(method: string): number
  /** Bytes received from the server. */
  readonly received: number
  /** Number of open connections. */
  readonly open: number
  /** Cuts every open connection. */
  cut(): void
  /** Changes the upstream port. */
  leadTo(port: number): void
  /** Blocks or unblocks new connections. */
  refuse(isRefusing: boolean): void
}

/** Starts a proxy in front of a local port. */
export async function tap(target: number, path = '/mcp'): Promise<Tap> {
  const sockets = new Set<Socket>()
  const methods: string[] = []
  let to = target
  let received = 0
  let isRefusing = false
  const server = createServer((client) => {
    if (isRefusing) {
      client.destroy()
      return
    }
    const upstream = connect(to, '127.0.0.1')
    let buffered = ''
    client.on('data', (chunk: Buffer) => {
      buffered += chunk.toString('latin1')
      for (const match of buffered.matchAll(/"method":"([^"]+)"/gu)) methods.push(match[1] ?? '')
      // The rest may be the beginning of the next message.
      buffered = buffered.slice(Math.max(buffered.lastIndexOf('"method":"'), 0)).replace(/^"method":"[^"]+"/u, '')
    })
    upstream.on('data', (chunk: Buffer) => {
      received += chunk.length
    })
    for (const [from, into] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => into.destroy())
      from.on('close', () => {
        sockets.delete(from)
        into.destroy()
      })
      from.pipe(into)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    url: `http://127.0.0.1:${port}${path}`,
    methods: () => methods,
    count: (method) => methods.filter((each) => each === method).length,
    get received() {
      return received
    },
    get open() {
      return sockets.size / 2
    },
    cut,
    leadTo(next) {
      to = next
    },
    refuse(next) {
      isRefusing = next
    },
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
