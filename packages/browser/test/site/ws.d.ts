// The few parts of `ws` that the site uses; the package has no types.
declare module 'ws' {
  import type { IncomingMessage } from 'node:http'
  import type { Duplex } from 'node:stream'

  export interface Connection {
    on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): void
    on(event: 'error', listener: (error: Error) => void): void
    send(data: Buffer, options: { readonly binary: boolean }): void
    close(code?: number, reason?: string): void
    terminate(): void
  }

  export class WebSocketServer {
    constructor(options: { readonly noServer: true; readonly maxPayload: number })
    readonly clients: Set<Connection>
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, done: (connection: Connection) => void): void
    close(): void
  }
}
