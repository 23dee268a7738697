import { type JSONRPCMessage, type JSONRPCRequest, parseJSONRPCMessage } from '@modelcontextprotocol/server'
import { hasEnvelope } from '../protocol/envelope.ts'
import { statelessRevision } from '../protocol/sdk-host.ts'
import type { RequestHead } from './exchange.ts'

/** The JSON-RPC message that a value is, or `undefined`. Most are requests, and those are found here at less cost than by the SDK. */
export function messageOf(value: unknown): JSONRPCMessage | undefined {
  if (isRequest(value)) return value
  try {
    return parseJSONRPCMessage(value)
  } catch {
    return undefined
  }
}

/** Whether a request belongs to a session beyond doubt: it names one, and nothing of it is of 2026-07-28. */
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

function isRequest(value: unknown): value is JSONRPCRequest {
  if (!isObject(value)) return false
  const { jsonrpc, id, method, params, ...rest } = value
  if (jsonrpc !== '2.0' || typeof method !== 'string' || Object.keys(rest).length > 0) return false
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return false
  if (params === undefined) return true
  if (!isObject(params)) return false
  const { _meta: meta } = params
  if (meta === undefined) return true
  if (!isObject(meta)) return false
  const { progressToken: token } = meta
  return token === undefined || typeof token === 'string' || Number.isSafeInteger(token)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
