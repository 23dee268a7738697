import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server'
import { isRecord } from '@unfold-mcp/core'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import { isInputRequired } from '../tool/result.ts'
import type { Call } from './calling/call.ts'
import { callTool } from './calling/call-tool.ts'
import { type Answers, checkInputRequests, completed, inputResponsesIn } from './calling/input-required.ts'
import type { OwnRequest } from './operation.ts'
import { outputSchemaOf } from './output-schema.ts'
import { malformedCall } from './params.ts'

/** `tools/call`. */
export async function call(runtime: Runtime, scope: Scope, request: OwnRequest): Promise<object> {
  const { params, client, controller } = request
  const malformed = malformedCall(params)
  if (malformed !== undefined) throw malformed
  const made = callOf(request)
  const first = await callTool(runtime, scope, made)
  if (scope.settings.era === 'stateless') {
    if (isInputRequired(first)) checkInputRequests(first, client.capabilities)
    return isInputRequired(first) ? first : withText(first)
  }
  const again = (answers: Answers): Promise<CallToolResult | InputRequiredResult> =>
    callTool(runtime, scope, { ...made, ...answers })
  const result = await completed(first, client, controller.signal, again)
  return forSession(result, outputSchemaOf(runtime, scope, String(params.name)))
}

/** What a client states about itself with every request of 2026-07-28. */
const envelopeKeys: ReadonlySet<string> = new Set([
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
])

function callOf({ id, params, client, controller, http }: OwnRequest): Call {
  const { name, arguments: args, _meta, inputResponses, requestState } = params
  const entries = Object.entries(_meta ?? {})
  const meta = entries.filter(([key]) => !envelopeKeys.has(key))
  const envelope = entries.filter(([key]) => envelopeKeys.has(key))
  return {
    id,
    name: String(name),
    ...(args !== undefined && { arguments: args }),
    ...(meta.length > 0 && { meta: Object.fromEntries(meta) }),
    ...(envelope.length > 0 && { envelope: Object.fromEntries(envelope) }),
    inputResponses: inputResponsesIn(inputResponses),
    requestState: typeof requestState === 'string' ? requestState : undefined,
    client,
    controller,
    http,
  }
}

/** The result as the session era has it: structured content is an object there, so any other value is its property `result`. */
function forSession(given: CallToolResult, outputSchema: { readonly type?: unknown } | undefined): CallToolResult {
  const result = withText(given)
  const { structuredContent: value } = result
  if (value === undefined) return result
  const isWrapped = !isRecord(value) || (outputSchema !== undefined && outputSchema.type !== 'object')
  return isWrapped ? { ...result, structuredContent: { result: value } } : result
}

/** Structured content that is not an object is also sent as text, unless there is text: many clients read nothing else. */
function withText(result: CallToolResult): CallToolResult {
  const { structuredContent: value, content } = result
  if (value === undefined || isRecord(value) || content.some(({ type }) => type === 'text')) return result
  return { ...result, content: [...content, { type: 'text', text: JSON.stringify(value) }] }
}
