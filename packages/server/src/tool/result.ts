import { type CallToolResult, type ContentBlock, type InputRequiredResult, specTypeSchemas } from '@modelcontextprotocol/server'
import { Failure, metaKeys, type Reason } from '@unfold-mcp/core'
import { errorMessage } from './report.ts'

export { ToolError, type ToolErrorOptions } from './tool-error.ts'

/**
 * Values that a handler may return: text, a number or boolean (sent as text), content blocks, a plain object (structured content),
 * nothing, or a complete result: any object with a `content` array, or the SDK's `inputRequired(…)`.
 */
export type HandlerResult =
  | string
  | number
  | boolean
  | readonly ContentBlock[]
  | CallToolResult
  | InputRequiredResult
  | object
  | null
  | undefined
  | void

/** Turns a handler's return value into a result; throws `invalid_result` for values that no client can read. */
export function resultOf(tool: string, given: unknown): CallToolResult | InputRequiredResult {
  if (given === undefined || given === null) return { content: [] }
  if (typeof given === 'string') return { content: [{ type: 'text', text: given }] }
  if (typeof given === 'number' || typeof given === 'boolean') return { content: [{ type: 'text', text: String(given) }] }
  if (typeof given !== 'object') throw invalidResult(tool, `it returned a ${typeof given}`)
  if (Array.isArray(given)) {
    if (!given.every(isBlock)) throw invalidResult(tool, 'it returned an array that is not made of content blocks')
    return usable(tool, { content: given })
  }
  if (isInputRequired(given)) return writable(tool, given)
  if ('content' in given && Array.isArray(given.content)) {
    if (!given.content.every(isBlock)) throw invalidResult(tool, 'its result has content that is not made of content blocks')
    return usable(tool, given as CallToolResult)
  }
  const foreign = classOf(given)
  if (foreign !== undefined) throw foreignResult(tool, foreign)
  const text = textOf(tool, given)
  return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) as Record<string, unknown> }
}

/** A result with `isError` and the reason in `_meta`. */
export function failureResult(reason: Reason, text: string, more?: Partial<CallToolResult>): CallToolResult {
  return { ...more, content: [{ type: 'text', text }], isError: true, _meta: { ...more?._meta, [metaKeys.reason]: reason } }
}

export function isInputRequired(value: object): value is InputRequiredResult {
  return 'resultType' in value && value.resultType === 'input_required'
}

function isBlock(value: unknown): value is ContentBlock {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** Throws for a result that clients cannot read. The SDK would blame the caller for it, or never send it. */
function usable(tool: string, result: CallToolResult): CallToolResult {
  if (isPlainText(result)) return result
  const checked = specTypeSchemas.CallToolResult['~standard'].validate(result)
  const [issue] = checked.issues ?? []
  if (issue === undefined) return writable(tool, result)
  const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
  throw invalidResult(tool, `its result is not one that MCP knows (${path}: ${issue.message})`)
}

// The most common results need no further check.
const isPlainText = (result: CallToolResult): boolean =>
  Object.keys(result).length === 1 &&
  result.content.every((block) => block.type === 'text' && typeof block.text === 'string' && Object.keys(block).length === 2)

// Long texts are always valid; leaving them out makes the check fast.
const withoutTexts = (_key: string, value: unknown): unknown => (typeof value === 'string' ? '' : value)

function writable<T extends object>(tool: string, result: T): T {
  try {
    JSON.stringify(result, withoutTexts)
    return result
  } catch (error) {
    throw invalidResult(tool, `its result holds something that JSON cannot (${errorMessage(error)})`)
  }
}

/** The class of an object that is neither plain nor has `toJSON`; JSON would drop its contents. */
function classOf(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  // Object.prototype has no prototype, not even that of another realm.
  if (prototype === null || Object.getPrototypeOf(prototype) === null || 'toJSON' in value) return undefined
  const { name } = Object(value.constructor) as { readonly name?: unknown }
  return typeof name === 'string' && name !== '' ? name : 'an anonymous class'
}

const advice: { readonly [name: string]: string } = {
  Map: 'Return Object.fromEntries(map)',
  Set: 'Return { values: [...set] }',
}

export function foreignResult(tool: string, name: string): Failure {
  const next = advice[name] ?? (name.endsWith('Error') ? 'Throw it' : 'Return a plain object with the fields to send')
  return invalidResult(tool, `it returned an instance of ${name}, and JSON keeps only plain objects. ${next}`)
}

/** Rejects collections inside an object, which JSON would turn into `{}`. */
function refuseCollections(key: string, value: unknown): unknown {
  if (value instanceof Map || value instanceof Set)
    throw new TypeError(`"${key}" is an instance of ${value.constructor.name}; use an object or an array`)
  return value
}

/** The object as JSON represents it, so that the checked value is the one that is sent. */
function textOf(tool: string, given: object): string {
  let text: string | undefined
  try {
    text = JSON.stringify(given, refuseCollections)
  } catch (error) {
    throw invalidResult(tool, `it returned an object that JSON cannot hold (${errorMessage(error)})`)
  }
  if (text?.startsWith('{') !== true) throw invalidResult(tool, 'it returned an object that JSON turns into something else')
  return text
}

export function invalidResult(tool: string, problem: string): Failure {
  return new Failure(
    'invalid_result',
    `Tool "${tool}" returned an invalid result: ${problem}. Its author must fix this; retrying does not help.`,
    {
      tool,
      problem,
    },
  )
}
