import type { JsonSchema, Tool } from '@unfold-mcp/core'

const wrapped = new WeakMap<Tool, Tool>()

/**
 * Adapts a tool for the session era, where the root of an output schema is an object: any other schema becomes its property
 * `result`, as does the structured content of results.
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

// The values of these keywords are data; those of the next are maps from names to schemas.
const dataKeywords = new Set(['const', 'enum', 'default', 'examples'])
const mapKeywords = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])

/** Moves references to the root of a schema. */
function moved(value: unknown, kind: 'schema' | 'map'): unknown {
  if (Array.isArray(value)) return value.map((each) => moved(each, kind))
  if (typeof value !== 'object' || value === null) return value
  // References below an `$id` are relative to it.
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
