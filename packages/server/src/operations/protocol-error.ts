import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { type Failure, reasons } from '@unfold-mcp/core'

/** The JSON-RPC error for a failure: a standard code, with the reason and details as data. */
export function protocolError(failure: Failure): ProtocolError {
  const code = reasons[failure.reason] === 'operator' ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams
  return new ProtocolError(code, failure.message, { reason: failure.reason, ...failure.details })
}
