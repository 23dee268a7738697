import type { Tool } from '@unfold-mcp/core'
import { headerProblem, isRecord } from '@unfold-mcp/core'
import { hasHiddenCharacters, stripHiddenCharacters } from '../base/visible-text.ts'
import { schemaProblem, slowPattern } from './schema-budget.ts'

const maxNameLength = 256
const maxCharacters = 262_144

export type SanitizedTool = { readonly tool: Tool; readonly notes: readonly string[] } | { readonly problem: string }

/** Validates a definition from a server: known fields only, within the limits, without hidden characters. `text` is its JSON. */
export function sanitizeTool(definition: Tool, text: string): SanitizedTool {
  const notes: string[] = []
  const { name, title, description, inputSchema, outputSchema, annotations, icons, execution, _meta } = loose(definition)
  if (typeof name !== 'string' || name === '') return { problem: 'it has no name' }
  if (name.length > maxNameLength) return { problem: `its name is longer than ${maxNameLength} characters` }
  if (text.length > maxCharacters) return { problem: `its definition is longer than ${maxCharacters} characters` }
  if (!isRecord(inputSchema)) return { problem: 'its input schema is not an object' }
  if (inputSchema.type !== undefined && inputSchema.type !== 'object')
    return { problem: 'the type of its input schema is not "object"' }
  for (const [field, value] of Object.entries({ title, description }))
    if (value !== undefined && typeof value !== 'string') return { problem: `its ${field} is not a string` }
  const inputProblem = schemaProblem(inputSchema) ?? headerProblem(inputSchema)
  if (inputProblem !== undefined) return { problem: `its input schema is not accepted: ${inputProblem}` }
  if (isRecord(execution) && execution.taskSupport === 'required') return { problem: 'it requires task execution' }
  const outputProblem = isRecord(outputSchema) ? schemaProblem(outputSchema) : undefined
  if (outputSchema !== undefined && !isRecord(outputSchema)) notes.push('its output schema is not an object and was removed')
  else if (outputProblem !== undefined) notes.push(`its output schema was removed: ${outputProblem}`)
  const slow = slowPattern(inputSchema)
  if (slow !== undefined) notes.push(`a pattern in its schema may be subject to catastrophic backtracking: ${slow}`)
  const safeIcons = Array.isArray(icons) ? icons.filter(isIcon) : []
  const tool: Tool = {
    name,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    inputSchema: { ...inputSchema, type: 'object' },
    ...(isRecord(outputSchema) && outputProblem === undefined && { outputSchema }),
    ...(isRecord(annotations) && { annotations }),
    ...(safeIcons.length > 0 && { icons: safeIcons }),
    ...(isRecord(_meta) && { _meta }),
  }
  if (!hasHiddenCharacters(text) && !/\\u[0-9a-f]{4}/iu.test(text)) return { tool, notes }
  const cleaned = clean(tool) as Tool
  if (JSON.stringify(cleaned) === JSON.stringify(tool)) return { tool, notes }
  return { tool: { ...cleaned, name }, notes: [...notes, 'hidden characters were removed from its text'] }
}

const loose = (tool: Tool): { readonly [K in keyof Tool]?: unknown } => tool

// Keys that hold prose at any level. Everything else is data and stays unchanged.
const proseKeys = new Set(['title', 'description', '$comment', 'markdownDescription'])

// Recursion is safe: the schema check bounds the depth.
function clean(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return proseKeys.has(key) ? stripHiddenCharacters(value) : value
  if (Array.isArray(value)) return value.map((item) => clean(item))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, clean(item, name)]))
}

type Icon = NonNullable<Tool['icons']>[number]

// Other schemes could run code (SVG), or reveal who views the tool (http).
const isIcon = (icon: unknown): icon is Icon =>
  isRecord(icon) && typeof icon.src === 'string' && /^(?:https:|data:image\/(?:png|jpeg|gif|webp)[;,])/iu.test(icon.src)
