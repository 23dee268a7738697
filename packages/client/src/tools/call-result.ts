import { type CallToolResult, SdkError, SdkErrorCode, type StandardSchemaV1, specTypeSchemas } from '@modelcontextprotocol/client'
import { isRecord } from '@unfold-mcp/core'

const keys = new Set(['content', 'isError', 'structuredContent', '_meta'])

/**
 * Result of a call in the session era. A result of plain text, the usual case, is recognized here, because the SDK takes longer to
 * validate it than the rest of the call takes.
 */
export const callResult: StandardSchemaV1<unknown, CallToolResult> = {
  '~standard': {
    version: 1,
    vendor: 'unfold',
    validate(value) {
      if (isPlainResult(value)) return { value }
      if (isOtherResult(value)) return { issues: [{ message: 'The result has no content and is of another type.' }] }
      return specTypeSchemas.CallToolResult['~standard'].validate(value)
    },
  },
}

/** Validates a result that the SDK did not read, with the same outcome. */
export async function checkedResult({
  resultType: _resultType,
  ...value
}: Readonly<Record<string, unknown>>): Promise<CallToolResult> {
  const validated = await callResult['~standard'].validate(value)
  if (validated.issues === undefined) return validated.value
  const issues = validated.issues.map(({ path = [], message }) => {
    const where = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
    return where === '' ? message : `${where}: ${message}`
  })
  throw new SdkError(SdkErrorCode.InvalidResult, `Invalid result for tools/call: ${issues.join(', ')}`)
}

export function isPlainResult(value: unknown): value is CallToolResult {
  if (!isRecord(value) || !Array.isArray(value.content) || !value.content.every(isText)) return false
  const { isError, structuredContent, _meta } = value
  if (isError !== undefined && typeof isError !== 'boolean') return false
  if (structuredContent !== undefined && !isRecord(structuredContent)) return false
  return (_meta === undefined || isRecord(_meta)) && Object.keys(value).every((key) => keys.has(key))
}

// Without content, the SDK would accept it as the result of a tool that returned nothing.
const isOtherResult = (value: unknown): boolean =>
  isRecord(value) && value.content === undefined && ['task', 'inputRequests', 'requestState'].some((key) => key in value)

const isText = (block: unknown): boolean =>
  isRecord(block) && block.type === 'text' && typeof block.text === 'string' && Object.keys(block).length === 2
