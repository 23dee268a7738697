import { Failure } from '@unfold-mcp/core'
import { isLoggingLevel } from '../protocol/client-port.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../runtime/scope.ts'
import type { OwnRequest } from './operation.ts'

/** `logging/setLevel`: the least severe messages that a client of the session era wants. */
export async function setLevel(_runtime: Runtime, scope: Scope, { params }: OwnRequest): Promise<object> {
  const { level } = params
  if (!isLoggingLevel(level)) {
    const problem = '"level" must be debug, info, notice, warning, error, critical, alert or emergency'
    throw new Failure('invalid_params', `This logging/setLevel cannot be read: ${problem}.`, { problem })
  }
  scope.logLevel = level
  return {}
}
