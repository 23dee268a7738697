import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import { isFailure, isRecord, signature, type Tool } from '@unfold-mcp/core'
import { checkSize } from '../../catalog/message-limits.ts'
import { discoverable } from '../../runtime/discoverable.ts'
import type { CallOutcome, ScriptCall } from '../../scripts/engine.ts'
import type { ScriptCaller } from '../../tool/context.ts'
import { errorMessage } from '../../tool/report.ts'
import { failureResult } from '../../tool/result.ts'
import { resultValue } from '../../tool/result-value.ts'
import { type Call, noEffects } from '../calling/call.ts'
import { replyData } from '../calling/discovery-result.ts'
import type { Answers } from '../calling/input-required.ts'
import { reasonIn, reportRejection } from '../calling/rejection.ts'
import { callByName } from '../discovery/call-tool.ts'
import type { DiscoveryCall } from '../discovery/discovery-call.ts'
import { type SearchRequest, searchTools } from '../discovery/search-tools.ts'

/** A tool call of a script, ready to be made. */
export interface InnerCall {
  readonly tool: string
  readonly arguments: Record<string, unknown>
  readonly script: ScriptCaller
  readonly answers: Answers
  readonly grants: Call['grants']
}

/** Makes a call for a script like one of the client itself: admission, permission, slots, policy and records apply. */
export async function makeCall(
  { runtime, scope, call, effects }: DiscoveryCall,
  { tool, arguments: args, script, answers, grants }: InnerCall,
  signal: AbortSignal,
): Promise<CallToolResult | InputRequiredResult> {
  const { declaration } = runtime
  const inner: Call = {
    name: tool,
    arguments: args,
    id: call.id,
    ...innerMeta(call.meta),
    envelope: call.envelope,
    client: call.client,
    http: call.http,
    signal,
    script,
    scriptDepth: (call.scriptDepth ?? 0) + 1,
    grants,
    ...answers,
  }
  const own = noEffects()
  try {
    checkSize(args, declaration.messageLimits)
    await declaration.admit?.({
      tool,
      scope: scope.state.key,
      principal: scope.settings.principal,
      share: scope.settings.share,
    })
    const result = await callByName({ name: tool, arguments: args }, { runtime, scope, call: inner, effects: own })
    if (!own.hasRun && 'isError' in result && result.isError === true) reportRejection(runtime, scope, inner, reasonIn(result))
    return result
  } catch (error) {
    if (!own.hasRun) reportRejection(runtime, scope, inner, isFailure(error) ? error.reason : 'failed')
    if (isFailure(error)) {
      const { reason, message } = error
      if (reason === 'invalid_result' || reason === 'hook_failed') declaration.report({ reason, message, error: error.cause })
      return failureResult(reason, message)
    }
    return failureResult('tool_failed', errorMessage(error))
  } finally {
    own.isOpen = false
    effects.transitions.push(...own.transitions)
    effects.reveals.push(...own.reveals)
  }
}

// Progress of a call would be taken for that of the script.
function innerMeta(meta: Call['meta']): Pick<Call, 'meta'> {
  if (meta === undefined) return {}
  const { progressToken: _, ...rest } = meta
  return { meta: rest }
}

/** How a call ended, for the script. */
export function outcomeOf(id: number, result: CallToolResult, line?: number): CallOutcome {
  if (result.isError !== true) return { id, value: resultValue(result) }
  const text = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  const reason = reasonIn(result, 'tool_failed')
  const where = line === undefined || reason !== 'invalid_arguments' ? '' : `Line ${line}: `
  const data = replyData(result)
  return { id, error: { message: `${where}${text}`, reason, ...(isRecord(data) && { data }) } }
}

/** `search` and `describe` of a script, which return data. */
export async function lookUp(
  discovery: DiscoveryCall,
  { id, kind, arguments: given }: ScriptCall,
  signal: AbortSignal,
): Promise<CallOutcome> {
  try {
    const args = isRecord(given) ? given : {}
    return { id, value: kind === 'search' ? await found(discovery, args, signal) : described(discovery, args) }
  } catch (error) {
    if (!isFailure(error)) throw error
    return { id, error: { message: error.message, reason: error.reason } }
  }
}

async function found({ runtime, scope }: DiscoveryCall, args: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
  const request: SearchRequest = {
    query: typeof args.query === 'string' ? args.query : '',
    ...(typeof args.limit === 'number' && { limit: args.limit }),
    ...(typeof args.group === 'string' && { group: args.group }),
    ...(typeof args.readOnly === 'boolean' && { readOnly: args.readOnly }),
  }
  const data = replyData(await searchTools(runtime, scope, request, signal))
  const known = toolsByName(discoverable(runtime, scope).tools)
  const names = isRecord(data) && Array.isArray(data.names) ? data.names : [...known.keys()]
  return names.flatMap((name: string) => {
    const tool = known.get(name)
    return tool === undefined
      ? []
      : [{ name, signature: signature(tool), ...(tool.description !== undefined && { description: tool.description }) }]
  })
}

function described({ runtime, scope }: DiscoveryCall, args: Record<string, unknown>): unknown {
  const known = toolsByName(discoverable(runtime, scope).tools)
  const names = Array.isArray(args.names) ? args.names.map(String) : []
  return names.flatMap((name) => known.get(name) ?? [])
}

export const toolsByName = (tools: readonly Tool[]): ReadonlyMap<string, Tool> => new Map(tools.map((tool) => [tool.name, tool]))
