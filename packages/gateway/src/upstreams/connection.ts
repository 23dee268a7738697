import type { CallOptions, Connection } from '@unfold-mcp/client'

/** One protocol session with an upstream. */
export type UpstreamConnection = Pick<
  Connection,
  | 'era'
  | 'protocolVersion'
  | 'server'
  | 'instructions'
  | 'capabilities'
  | 'pid'
  | 'refresh'
  | 'watch'
  | 'ping'
  | 'call'
  | 'close'
  | 'onClose'
> &
  Partial<Pick<Connection, 'request' | 'subscribe' | 'unsubscribe' | 'received'>> & {
    /** Restarts a server that another replica runs. */
    restart?(): Promise<void>
  }

export interface UpstreamCall
  extends Pick<CallOptions, 'signal' | 'onProgress' | 'timeoutMs' | 'maxTimeoutMs' | 'relay' | 'meta'> {
  /** Client whose share of the server's slots and queue the call takes, outermost first. Default: limited only by the total. */
  readonly caller?: readonly string[]
  /** False if clients can no longer use the tool. Asked right before the call is sent. */
  readonly isServed?: () => boolean
}
