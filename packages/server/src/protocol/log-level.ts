import type { JSONRPCRequest } from '@modelcontextprotocol/server'
import type { Scope } from '../scope/scope.ts'
import { isLoggingLevel } from '../tool/client-port.ts'

/** Records the level that a session-era client sets. The SDK responds to the request. */
export function recordLogLevel(scope: Scope, { method, params }: JSONRPCRequest): void {
  if (method === 'logging/setLevel' && isLoggingLevel(params?.level)) scope.logLevel = params.level
}
