import { isInitializeRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server'
import { Failure, isRecord } from '@unfold-mcp/core'

/** Returns the failure for malformed params of `initialize`, `tools/list` or `tools/call`. */
export function malformedRequest(message: unknown): Failure<'invalid_params'> | undefined {
  if (!isRecord(message)) return undefined
  if (message.method === 'tools/list') return malformedList(message.params)
  if (message.method === 'tools/call') return malformedCall(message.params)
  return message.method === 'initialize' ? malformedInitialize(message) : undefined
}

function malformedInitialize(message: Record<string, unknown>): Failure<'invalid_params'> | undefined {
  if (isInitializeRequest(message)) return undefined
  // 2026-07-28 has no such method, so its params do not matter.
  if (isRecord(message.params) && isRecord(message.params._meta) && PROTOCOL_VERSION_META_KEY in message.params._meta)
    return undefined
  return malformedAs('initialize')('Send "protocolVersion", "capabilities", and "clientInfo" with a name and a version.')
}

export function malformedCall(params: unknown): Failure<'invalid_params'> | undefined {
  const malformed = malformedAs('tools/call')
  if (!isRecord(params)) return malformed('"params" is missing. Send { "name": "<tool>", "arguments": { … } }.')
  if (typeof params.name !== 'string')
    return malformed('"name" is missing or not a string. Name the tool to call in params.name.')
  if (params.arguments !== undefined && !isRecord(params.arguments))
    return malformed('"arguments" must be an object. Leave it out for none.')
  if (params._meta !== undefined && !isRecord(params._meta)) return malformed('"_meta" must be an object.')
  const token = params._meta?.progressToken
  if (token !== undefined && typeof token !== 'string' && !Number.isSafeInteger(token))
    return malformed('"_meta.progressToken" must be text or a whole number.')
  return undefined
}

export function malformedList(params: unknown): Failure<'invalid_params'> | undefined {
  if (!isRecord(params) || params.cursor === undefined || typeof params.cursor === 'string') return undefined
  return malformedAs('tools/list')('"cursor" must be the text that a list ended with. Leave it out for the first page.')
}

const malformedAs =
  (method: string) =>
  (problem: string): Failure<'invalid_params'> =>
    new Failure('invalid_params', `Invalid ${method} request: ${problem}`, { problem })
