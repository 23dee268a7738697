import type { JSONRPCRequest } from '@modelcontextprotocol/server'
import type { Scope } from '../scope/scope.ts'
import { isLoggingLevel } from '../tool/client-port.ts'

/** Notes the level that a client of the session era sets. The SDK answers that request, for what `extend` registered. */
export function noteLogLevel(scope: Scope, { method, params }: JSONRPCRequest): void {
  if (method === 'logging/setLevel' && isLoggingLevel(params?.level)) scope.logLevel = params.level
}
