import { Failure } from '@unfold-mcp/core'

/** What is wrong with a `tools/call` request before its tool is even looked for, if anything is. */
export function malformedCall(message: unknown): Failure<'invalid_params'> | undefined {
  if (typeof message !== 'object' || message === null || !('method' in message) || message.method !== 'tools/call')
    return undefined
  const params = 'params' in message ? message.params : undefined
  if (!isObject(params)) return malformed('"params" is missing. Send { "name": "<tool>", "arguments": { … } }.')
  if (typeof params.name !== 'string') return malformed('"name" is missing or no text. Name the tool to call in params.name.')
  if (params.arguments !== undefined && !isObject(params.arguments))
    return malformed('"arguments" must be an object. Leave it out for none.')
  return undefined
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function malformed(problem: string): Failure<'invalid_params'> {
  return new Failure('invalid_params', `This tools/call cannot be read: ${problem}`, { problem })
}
