import type { Prompt, Resource, ResourceTemplateType } from '@modelcontextprotocol/server'
import { isRecord } from '@unfold-mcp/core'
import { hasHiddenCharacters, stripHiddenCharacters } from '../base/visible-text.ts'

const maxNameLength = 1_024
const maxCharacters = 65_536

/** Validates a listed prompt; `undefined` if it is invalid or too large. */
export function sanitizePrompt(input: unknown): Prompt | undefined {
  const record = validated(input)
  if (record === undefined || !isName(record.name)) return undefined
  const { name } = record
  const args = Array.isArray(record.arguments) ? record.arguments.filter((each) => isName(asRecord(each)?.name)) : []
  return withOriginal(record, { ...described(record), name, ...(args.length > 0 && { arguments: args.map(argument) }) })
}

/** Validates a listed resource; `undefined` if it is invalid or too large. */
export function sanitizeResource(input: unknown): Resource | undefined {
  const record = validated(input)
  if (record === undefined || !isName(record.uri) || !isName(record.name)) return undefined
  const { uri, name, mimeType, size, annotations } = record
  return withOriginal(record, {
    ...described(record),
    uri,
    name,
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(typeof size === 'number' && { size }),
    ...(asRecord(annotations) !== undefined && { annotations: asRecord(annotations) }),
  })
}

/** Validates a listed resource template; `undefined` if it is invalid or too large. */
export function sanitizeTemplate(input: unknown): ResourceTemplateType | undefined {
  const record = validated(input)
  if (record === undefined || !isName(record.uriTemplate) || !isName(record.name)) return undefined
  const { uriTemplate, name, mimeType } = record
  return withOriginal(record, { ...described(record), uriTemplate, name, ...(typeof mimeType === 'string' && { mimeType }) })
}

/** Original definitions of sanitized ones that contained hidden characters. */
const originals = new WeakMap<object, object>()

/** Returns the definition as the server sent it. */
export const originalOf = (record: object): object => originals.get(record) ?? record

function withOriginal<T extends object>(input: UnknownRecord, record: T): T {
  if (hasHiddenCharacters(JSON.stringify(input))) originals.set(record, input)
  return record
}

type UnknownRecord = Readonly<Record<string, unknown>>

const asRecord = (value: unknown): UnknownRecord | undefined => (isRecord(value) ? value : undefined)

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= maxNameLength

function validated(input: unknown): UnknownRecord | undefined {
  const record = asRecord(input)
  if (record === undefined) return undefined
  try {
    return JSON.stringify(record).length <= maxCharacters ? record : undefined
  } catch {
    // Nested too deeply to serialise.
    return undefined
  }
}

/** Descriptive fields without hidden characters. Icons are omitted because loading them would reveal the user's activity. */
function described({ title, description, _meta }: UnknownRecord): {
  title?: string
  description?: string
  _meta?: Record<string, unknown>
} {
  const meta = asRecord(_meta)
  return {
    ...(typeof title === 'string' && { title: stripHiddenCharacters(title) }),
    ...(typeof description === 'string' && { description: stripHiddenCharacters(description) }),
    ...(meta !== undefined && { _meta: { ...meta } }),
  }
}

function argument(input: unknown): NonNullable<Prompt['arguments']>[number] {
  const { name, required, ...rest } = asRecord(input) ?? {}
  const { title, description } = described(rest)
  return {
    name: String(name),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(typeof required === 'boolean' && { required }),
  }
}
