import type { CallToolResult } from '@modelcontextprotocol/server'
import { isRecord, metaKeys } from '@unfold-mcp/core'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Scope } from '../../scope/scope.ts'
import type { Call } from './call.ts'

/** The reason in the result of a failed call. */
export function reasonIn({ _meta = {} }: Pick<CallToolResult, '_meta'>, otherwise = 'failed'): string {
  const reason = _meta[metaKeys.reason]
  return typeof reason === 'string' ? reason : otherwise
}

/** Reports a call whose handler did not run. A call through `call_tool` counts as a call of the inner tool. */
export function reportRejection({ declaration }: Runtime, { settings, state }: Scope, call: Call, reason: string): void {
  const { name, arguments: inner } = isRecord(call.arguments) ? call.arguments : {}
  const isIndirect = typeof name === 'string' && /^call_tool(?:_read|_write|_destructive)?$/u.test(call.name)
  declaration.rejected?.({
    tool: isIndirect ? name : call.name,
    arguments: isIndirect ? (inner ?? {}) : (call.arguments ?? {}),
    reason,
    scope: state.key,
    era: settings.era,
    principal: settings.principal,
    client: call.client,
  })
}
