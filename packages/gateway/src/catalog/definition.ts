import type { Tool } from '@unfold-mcp/core'
import { headerProblem, isRecord } from '@unfold-mcp/core'
import { hasHiddenCharacters, stripHiddenCharacters } from '../base/visible-text.ts'
import { schemaProblem, slowPattern } from './schema-budget.ts'

// How much of a definition is taken from a server.
const maxNameLength = 256
const maxCharacters = 262_144

/** A definition that can be served, with what was changed in it; or why it cannot. */
export type SanitizedTool = { readonly tool: Tool; readonly notes: readonly string[] } | { readonly problem: string }

/** Takes a definition from outside: only what is known of a tool, within the budget, and nothing that nobody can see. */
export function sanitizeTool(given: Tool, text: string): SanitizedTool {
  const notes: string[] = []
  const { name, title, description, inputSchema, outputSchema, annotations, icons, execution, _meta } = loose(given)
  if (typeof name !== 'string' || name === '') return { problem: 'it has no name' }
  if (name.length > maxNameLength) return { problem: `its name is longer than ${maxNameLength} characters` }
  if (text.length > maxCharacters) return { problem: `its definition is longer than ${maxCharacters} characters` }
  if (!isRecord(inputSchema)) return { problem: 'its input schema is no object' }
  if (inputSchema.type !== undefined && inputSchema.type !== 'object')
    return { problem: 'its input schema is not that of an object' }
  for (const [what, value] of Object.entries({ title, description }))
    if (value !== undefined && typeof value !== 'string') return { problem: `its ${what} is no text` }
  const wrong = schemaProblem(inputSchema) ?? headerProblem(inputSchema)
  if (wrong !== undefined) return { problem: `its input schema cannot be taken: ${wrong}` }
  if (isRecord(execution) && execution.taskSupport === 'required') return { problem: 'it can only be run as a task' }
  const output = isRecord(outputSchema) ? schemaProblem(outputSchema) : undefined
  if (outputSchema !== undefined && !isRecord(outputSchema)) notes.push('its output schema is no object and is left out')
  else if (output !== undefined) notes.push(`its output schema is left out: ${output}`)
  const slow = slowPattern(inputSchema)
  if (slow !== undefined) notes.push(`a pattern in its schema could take forever to run: ${slow}`)
  const images = Array.isArray(icons) ? icons.filter(isIcon) : []
  const tool: Tool = {
    name,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    inputSchema: { ...inputSchema, type: 'object' },
    ...(isRecord(outputSchema) && output === undefined && { outputSchema }),
    ...(isRecord(annotations) && { annotations }),
    ...(images.length > 0 && { icons: images }),
    ...(isRecord(_meta) && { _meta }),
  }
  if (!hasHiddenCharacters(text) && !/\\u[0-9a-f]{4}/iu.test(text)) return { tool, notes }
  const cleaned = clean(tool) as Tool
  if (JSON.stringify(cleaned) === JSON.stringify(tool)) return { tool, notes }
  return { tool: { ...cleaned, name }, notes: [...notes, 'characters that nobody sees were taken out of its texts'] }
}

const loose = (tool: Tool): { readonly [K in keyof Tool]?: unknown } => tool

// Under these keys stands text for readers, at any level; everywhere else it is data, and data stays as it is.
const readable = new Set(['title', 'description', '$comment', 'markdownDescription'])

/** The same value without hidden characters in its texts for readers. Its depth was found to be bounded. */
function clean(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return readable.has(key) ? stripHiddenCharacters(value) : value
  if (Array.isArray(value)) return value.map((item) => clean(item))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, clean(item, name)]))
}

type Icon = NonNullable<Tool['icons']>[number]

// Anything else could be run, or tell somebody who looks at what.
const isIcon = (icon: unknown): icon is Icon =>
  isRecord(icon) && typeof icon.src === 'string' && /^(?:https:|data:image\/(?:png|jpeg|gif|webp)[;,])/iu.test(icon.src)
