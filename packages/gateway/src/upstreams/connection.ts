import type { CallOptions, Connection } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'

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
  Partial<Pick<Connection, 'request' | 'subscribe' | 'unsubscribe' | 'received' | 'adopt'>> & {
    /** Restarts a server that another replica runs. */
    restart?(): Promise<void>
  }

/** Reads tools together with other replicas. */
export interface ListReads {
  /** Returns a list that was read after the change. `changedMs`: how long ago this replica learned of it. */
  read(
    server: string,
    connection: UpstreamConnection,
    options: { readonly changedMs: number; readonly signal: AbortSignal | undefined },
  ): Promise<readonly Tool[]>
}

export interface UpstreamCall
  extends Pick<CallOptions, 'signal' | 'onProgress' | 'timeoutMs' | 'maxTimeoutMs' | 'relay' | 'meta'> {
  /** Client whose share of the server's slots and queue the call takes, outermost first. Default: limited only by the total. */
  readonly caller?: readonly string[]
  /** False if clients can no longer use the tool. Asked right before the call is sent. */
  readonly isServed?: () => boolean
}
