import type { RequestHead } from '../wire/exchange.ts'
import { isRequest } from '../wire/message.ts'
import { hasEnvelope } from './envelope.ts'
import { statelessRevision } from './sdk-host.ts'

/** Whether a request certainly belongs to a session: it names one, and has no header or `_meta` key of 2026-07-28. */
export function isOfSession(head: RequestHead, body: unknown): boolean {
  const revision = head.header('mcp-protocol-version')
  return (
    head.header('mcp-session-id') !== undefined &&
    head.header('mcp-method') === undefined &&
    (revision === undefined || revision < statelessRevision) &&
    isRequest(body) &&
    !hasEnvelope(body.params ?? {})
  )
}
