import { type JSONRPCMessage, type JSONRPCRequest, parseJSONRPCMessage } from '@modelcontextprotocol/server'
import { isRecord } from '@unfold-mcp/core'

/** Returns the value if it is a JSON-RPC message. */
export function parseMessage(value: unknown): JSONRPCMessage | undefined {
  if (isRequest(value)) return value
  try {
    return parseJSONRPCMessage(value)
  } catch {
    return undefined
  }
}

/** Checks for a request, faster than the SDK's check for any message. */
export function isRequest(value: unknown): value is JSONRPCRequest {
  if (!isRecord(value)) return false
  const { jsonrpc, id, method, params, ...rest } = value
  if (jsonrpc !== '2.0' || typeof method !== 'string' || Object.keys(rest).length > 0) return false
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return false
  if (params === undefined) return true
  if (!isRecord(params)) return false
  const { _meta: meta } = params
  if (meta === undefined) return true
  if (!isRecord(meta)) return false
  const { progressToken: token } = meta
  return token === undefined || typeof token === 'string' || Number.isSafeInteger(token)
}
