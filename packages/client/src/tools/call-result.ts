import { type CallToolResult, SdkError, SdkErrorCode, type StandardSchemaV1, specTypeSchemas } from '@modelcontextprotocol/client'
import { isRecord } from '@unfold-mcp/core'

const keys = new Set(['content', 'isError', 'structuredContent', '_meta'])

/**
 * What a server of the session era answers to a call. Text alone, which is what most answer, is seen to be in order at a glance;
 * the SDK, which looks at everything else, takes longer for it than the whole rest of a call.
 */
export const callResult: StandardSchemaV1<unknown, CallToolResult> = {
  '~standard': {
    version: 1,
    vendor: 'unfold',
    validate(value) {
      if (isPlainResult(value)) return { value }
      if (isOfAnotherKind(value)) return { issues: [{ message: 'The answer has no content, and is of another kind.' }] }
      return specTypeSchemas.CallToolResult['~standard'].validate(value)
    },
  },
}

/** The same for one that the SDK did not read: it is what the SDK would have made of it, or fails as that would. */
export async function checkedResult({
  resultType: _resultType,
  ...value
}: Readonly<Record<string, unknown>>): Promise<CallToolResult> {
  const found = await callResult['~standard'].validate(value)
  if (found.issues === undefined) return found.value
  const words = found.issues.map(({ path = [], message }) => {
    const where = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
    return where === '' ? message : `${where}: ${message}`
  })
  throw new SdkError(SdkErrorCode.InvalidResult, `Invalid result for tools/call: ${words.join(', ')}`)
}

/** Whether it is a result of text alone. */
export function isPlainResult(value: unknown): value is CallToolResult {
  if (!isRecord(value) || !Array.isArray(value.content) || !value.content.every(isText)) return false
  const { isError, structuredContent, _meta } = value
  if (isError !== undefined && typeof isError !== 'boolean') return false
  if (structuredContent !== undefined && !isRecord(structuredContent)) return false
  return (_meta === undefined || isRecord(_meta)) && Object.keys(value).every((key) => keys.has(key))
}

// Without content it would pass for the result of a tool that had nothing to say.
const isOfAnotherKind = (value: unknown): boolean =>
  isRecord(value) && value.content === undefined && ['task', 'inputRequests', 'requestState'].some((key) => key in value)

const isText = (block: unknown): boolean =>
  isRecord(block) && block.type === 'text' && typeof block.text === 'string' && Object.keys(block).length === 2
