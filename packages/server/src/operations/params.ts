import { isInitializeRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server'
import { Failure } from '@unfold-mcp/core'

/** What is wrong with the params of a greeting, or of a request for tools before any tool is looked for, if anything is. */
export function malformedRequest(message: unknown): Failure<'invalid_params'> | undefined {
  if (!isObject(message)) return undefined
  if (message.method === 'tools/list') return malformedList(message.params)
  if (message.method === 'tools/call') return malformedCall(message.params)
  return message.method === 'initialize' ? malformedGreeting(message) : undefined
}

function malformedGreeting(message: Record<string, unknown>): Failure<'invalid_params'> | undefined {
  if (isInitializeRequest(message)) return undefined
  // On 2026-07-28 there is no such method, whatever its params are.
  if (isObject(message.params) && isObject(message.params._meta) && PROTOCOL_VERSION_META_KEY in message.params._meta)
    return undefined
  return malformedAs('initialize')('Send "protocolVersion", "capabilities", and "clientInfo" with a name and a version.')
}

/** What is wrong with the params of a `tools/call`, if anything is. */
export function malformedCall(params: unknown): Failure<'invalid_params'> | undefined {
  const malformed = malformedAs('tools/call')
  if (!isObject(params)) return malformed('"params" is missing. Send { "name": "<tool>", "arguments": { … } }.')
  if (typeof params.name !== 'string') return malformed('"name" is missing or no text. Name the tool to call in params.name.')
  if (params.arguments !== undefined && !isObject(params.arguments))
    return malformed('"arguments" must be an object. Leave it out for none.')
  if (params._meta !== undefined && !isObject(params._meta)) return malformed('"_meta" must be an object.')
  const token = params._meta?.progressToken
  if (token !== undefined && typeof token !== 'string' && !Number.isInteger(token))
    return malformed('"_meta.progressToken" must be text or a whole number.')
  return undefined
}

/** What is wrong with the params of a `tools/list`, if anything is. */
export function malformedList(params: unknown): Failure<'invalid_params'> | undefined {
  if (!isObject(params) || params.cursor === undefined || typeof params.cursor === 'string') return undefined
  return malformedAs('tools/list')('"cursor" must be the text that a list ended with. Leave it out for the first page.')
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const malformedAs =
  (method: string) =>
  (problem: string): Failure<'invalid_params'> =>
    new Failure('invalid_params', `This ${method} cannot be read: ${problem}`, { problem })
