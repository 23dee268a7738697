import type { JsonSchema, Tool } from '@unfold-mcp/core'
import { isRecord } from '@unfold-mcp/core'

const wrapper = '#/properties/result'
const wrapperKeys = new Set(['$schema', 'type', 'properties', 'required'])

/**
 * The tool as its author declared it. Session-era clients cannot read an output schema whose root is no object, so servers
 * put such a one under `result` for them; what it is, and so its identity, is the same in both eras.
 */
export function unwrapped(tool: Tool): Tool {
  const inner = wrappedIn(tool.outputSchema)
  return inner === undefined ? tool : { ...tool, outputSchema: inner }
}

function wrappedIn(schema: JsonSchema | undefined): JsonSchema | undefined {
  if (schema === undefined) return undefined
  const { type, properties, required } = schema
  if (type !== 'object' || !isRecord(properties) || Object.keys(schema).some((key) => !wrapperKeys.has(key))) return undefined
  const { result, ...others } = properties
  if (!isRecord(result) || result.type === 'object' || Object.keys(others).length > 0) return undefined
  if (!Array.isArray(required) || required.length !== 1 || required[0] !== 'result') return undefined
  return withoutPrefix(result)
}

/** References inside it lead to its own root again. */
function withoutPrefix(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema, (key, value: unknown) => {
    if ((key !== '$ref' && key !== '$dynamicRef') || typeof value !== 'string' || !value.startsWith(wrapper)) return value
    return `#${value.slice(wrapper.length)}`
  })
  return JSON.parse(text) as JsonSchema
}
