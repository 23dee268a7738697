import type { JsonSchema, Tool } from '@unfold-mcp/core'

const wrapped = new WeakMap<Tool, Tool>()

/**
 * The tool as a client of the session era can read it: there the root of an output schema is an object, so any other schema moves
 * to its property `result`, as the structured content of results does.
 */
export function sessionTool(tool: Tool): Tool {
  const { outputSchema } = tool
  if (outputSchema === undefined || outputSchema.type === 'object') return tool
  const found = wrapped.get(tool)
  if (found !== undefined) return found
  const made: Tool = { ...tool, outputSchema: wrap(outputSchema) }
  wrapped.set(tool, made)
  return made
}

function wrap(schema: JsonSchema): JsonSchema {
  const root = { type: 'object', properties: { result: moved(schema, 'schema') }, required: ['result'] }
  return schema.$schema === undefined ? root : { $schema: schema.$schema, ...root }
}

// Values of these keywords are data, and those of the others are maps from names to schemas.
const dataKeywords = new Set(['const', 'enum', 'default', 'examples'])
const mapKeywords = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])

/** The schema with references to its own root pointing to where it is now. */
function moved(value: unknown, kind: 'schema' | 'map'): unknown {
  if (Array.isArray(value)) return value.map((each) => moved(each, kind))
  if (typeof value !== 'object' || value === null) return value
  // References below an `$id` of its own are relative to that.
  if (kind === 'schema' && '$id' in value && !(typeof value.$id === 'string' && value.$id.startsWith('#'))) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (kind === 'map') return [key, moved(member, 'schema')]
      if (dataKeywords.has(key)) return [key, member]
      if ((key === '$ref' || key === '$dynamicRef') && typeof member === 'string') return [key, movedReference(member)]
      return [key, moved(member, mapKeywords.has(key) ? 'map' : 'schema')]
    }),
  )
}

const movedReference = (reference: string): string =>
  reference === '#' || reference.startsWith('#/') ? `#/properties/result${reference.slice(1)}` : reference
