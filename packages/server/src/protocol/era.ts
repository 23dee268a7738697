import type { RequestHead } from '../wire/exchange.ts'
import { isRequest } from '../wire/message.ts'
import { hasEnvelope } from './envelope.ts'
import { statelessRevision } from './sdk-host.ts'

/** True if a request has a session id, and no header or `_meta` key of 2026-07-28. */
export function isSessionRequest(head: RequestHead, body: unknown): boolean {
  const revision = head.header('mcp-protocol-version')
  return (
    head.header('mcp-session-id') !== undefined &&
    head.header('mcp-method') === undefined &&
    (revision === undefined || revision < statelessRevision) &&
    isRequest(body) &&
    !hasEnvelope(body.params ?? {})
  )
}
