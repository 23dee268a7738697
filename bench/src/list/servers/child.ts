// Runs a server in a separate process: reports its port, measures its memory on request, and exits with its parent.
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type FromChild = { readonly port: number } | { readonly memory: number }
export type ToChild = 'weigh' | { readonly answers: { readonly [path: string]: string } }

/** Serves on a loopback port until the parent exits. */
export function serveAsChild(server: Server): void {
  server.keepAliveTimeout = 60_000
  const tellPort = (): void => tell({ port: (server.address() as AddressInfo).port })
  if (server.listening) tellPort()
  else server.listen(0, '127.0.0.1', tellPort)
  process.on('disconnect', () => process.exit(0))
  // The parent may have exited while this process was starting.
  if (!process.connected) process.exit(0)
  process.on('message', (message: ToChild) => {
    if (message === 'weigh') tell({ memory: weigh() })
  })
}

/** Returns the memory in use after garbage collection. */
function weigh(): number {
  for (let i = 0; i < 4; i++) globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function tell(message: FromChild): void {
  process.send?.(message)
}
