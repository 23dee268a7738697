import { isRecord } from '@unfold-mcp/core'

const schemaMaps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
const subschemas = new Set([
  ...['items', 'prefixItems', 'contains', 'additionalItems', 'unevaluatedItems'],
  ...['additionalProperties', 'propertyNames', 'unevaluatedProperties'],
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'],
])

/** JSON Schema keywords used at any depth, excluding property names. */
export function schemaKeywords(schema: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(schema)) for (const each of schema) schemaKeywords(each, found)
  if (!isRecord(schema)) return found
  for (const [keyword, value] of Object.entries(schema)) {
    found.add(keyword)
    if (subschemas.has(keyword)) schemaKeywords(value, found)
    else if (schemaMaps.has(keyword) && typeof value === 'object' && value !== null)
      for (const each of Object.values(value)) schemaKeywords(each, found)
  }
  return found
}
