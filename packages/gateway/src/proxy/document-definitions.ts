import type { Prompt, Resource, ResourceTemplateType } from '@modelcontextprotocol/server'
import { isRecord } from '@unfold-mcp/core'
import { hasHiddenCharacters, stripHiddenCharacters } from '../base/visible-text.ts'

const maxNameLength = 1_024
const maxCharacters = 65_536

/** A prompt as a server listed it; `undefined` for what is none, or too much. */
export function sanitizePrompt(given: unknown): Prompt | undefined {
  const found = taken(given)
  if (found === undefined || !isName(found.name)) return undefined
  const { name } = found
  const args = Array.isArray(found.arguments) ? found.arguments.filter((each) => isName(record(each)?.name)) : []
  return kept(found, { ...described(found), name, ...(args.length > 0 && { arguments: args.map(argument) }) })
}

/** A resource as a server listed it; `undefined` for what is none, or too much. */
export function sanitizeResource(given: unknown): Resource | undefined {
  const found = taken(given)
  if (found === undefined || !isName(found.uri) || !isName(found.name)) return undefined
  const { uri, name, mimeType, size, annotations } = found
  return kept(found, {
    ...described(found),
    uri,
    name,
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(typeof size === 'number' && { size }),
    ...(record(annotations) !== undefined && { annotations: record(annotations) }),
  })
}

/** A template as a server listed it; `undefined` for what is none, or too much. */
export function sanitizeTemplate(given: unknown): ResourceTemplateType | undefined {
  const found = taken(given)
  if (found === undefined || !isName(found.uriTemplate) || !isName(found.name)) return undefined
  const { uriTemplate, name, mimeType } = found
  return kept(found, { ...described(found), uriTemplate, name, ...(typeof mimeType === 'string' && { mimeType }) })
}

/** What a server said where it was not taken as it came: something that nobody sees was in it. */
const said = new WeakMap<object, object>()

/** What was taken, as the server said it. */
export const originalOf = (found: object): object => said.get(found) ?? found

function kept<T extends object>(given: Loose, found: T): T {
  if (hasHiddenCharacters(JSON.stringify(given))) said.set(found, given)
  return found
}

type Loose = Readonly<Record<string, unknown>>

const record = (value: unknown): Loose | undefined => (isRecord(value) ? value : undefined)

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= maxNameLength

function taken(given: unknown): Loose | undefined {
  const found = record(given)
  if (found === undefined) return undefined
  try {
    return JSON.stringify(found).length <= maxCharacters ? found : undefined
  } catch {
    // Nested too deeply to be written.
    return undefined
  }
}

/** What readers see of it, without what nobody sees. Icons are left out: they could tell somebody who looks at what. */
function described({ title, description, _meta }: Loose): {
  title?: string
  description?: string
  _meta?: Record<string, unknown>
} {
  const meta = record(_meta)
  return {
    ...(typeof title === 'string' && { title: stripHiddenCharacters(title) }),
    ...(typeof description === 'string' && { description: stripHiddenCharacters(description) }),
    ...(meta !== undefined && { _meta: { ...meta } }),
  }
}

function argument(given: unknown): NonNullable<Prompt['arguments']>[number] {
  const { name, required, ...rest } = record(given) ?? {}
  const { title, description } = described(rest)
  return {
    name: String(name),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(typeof required === 'boolean' && { required }),
  }
}
