import type { JsonSchema, Tool } from '@unfold-mcp/core'
import { isRecord } from '@unfold-mcp/core'

const wrapper = '#/properties/result'
const wrapperKeys = new Set(['$schema', 'type', 'properties', 'required'])

/**
 * Returns a tool with the output schema its author declared. Session-era clients accept only object schemas, so servers wrap
 * others in `result` for them. Unwrapping makes the identity equal in both eras.
 */
export function unwrapOutputSchema(tool: Tool): Tool {
  const inner = wrappedSchema(tool.outputSchema)
  return inner === undefined ? tool : { ...tool, outputSchema: inner }
}

function wrappedSchema(schema: JsonSchema | undefined): JsonSchema | undefined {
  if (schema === undefined) return undefined
  const { type, properties, required } = schema
  if (type !== 'object' || !isRecord(properties) || Object.keys(schema).some((key) => !wrapperKeys.has(key))) return undefined
  const { result, ...others } = properties
  if (!isRecord(result) || result.type === 'object' || Object.keys(others).length > 0) return undefined
  if (!Array.isArray(required) || required.length !== 1 || required[0] !== 'result') return undefined
  return rebaseReferences(result)
}

function rebaseReferences(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema, (key, value: unknown) => {
    if ((key !== '$ref' && key !== '$dynamicRef') || typeof value !== 'string' || !value.startsWith(wrapper)) return value
    return `#${value.slice(wrapper.length)}`
  })
  return JSON.parse(text) as JsonSchema
}
