import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server of one test, on loopback only. */
export interface Server extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string
}

/** Starts a server on a free port. */
export async function startServer(answer: RequestListener): Promise<Server> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
