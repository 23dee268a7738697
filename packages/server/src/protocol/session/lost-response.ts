import type { RequestId } from '@modelcontextprotocol/server'
import { Failure } from '@unfold-mcp/core'

/** The response to a request whose own response cannot be had. */
export function lostResponse(id: RequestId, message: string): string {
  const { reason, details } = new Failure('state_unavailable', message, { what: 'response' })
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message, data: { reason, ...details } } })
}
