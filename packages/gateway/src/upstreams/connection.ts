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
  Partial<Pick<Connection, 'request' | 'subscribe' | 'unsubscribe' | 'received'>>

export type UpstreamCall = Pick<CallOptions, 'signal' | 'onProgress' | 'timeoutMs' | 'maxTimeoutMs' | 'relay' | 'meta'>
