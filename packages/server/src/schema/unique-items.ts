import { canonicalJson } from '@unfold-mcp/core'
import type { FuncKeywordDefinition, SchemaValidateFunction } from 'ajv/dist/types/index.js'

/** Compares items by their canonical JSON. The keyword of Ajv compares each item with every other: 26 s for 24,000 objects. */
const validate: SchemaValidateFunction = (isRequired: boolean, items: readonly unknown[]) => {
  if (!isRequired) return true
  const values = new Map<unknown, number>()
  const structures = new Map<unknown, number>()
  for (const [index, item] of items.entries()) {
    const isStructure = typeof item === 'object' && item !== null
    const known = isStructure ? structures : values
    const key = isStructure ? textOf(item) : item
    const other = known.get(key)
    known.set(key, index)
    if (other === undefined) continue
    const message = `must NOT have duplicate items (items ## ${other} and ${index} are identical)`
    validate.errors = [{ keyword: 'uniqueItems', message, params: { i: index, j: other } }]
    return false
  }
  return true
}

export const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  errors: true,
  validate,
}

function textOf(item: object): unknown {
  try {
    return canonicalJson(item)
  } catch {
    // Not JSON, such as an object with a number that is not finite: equal only to itself.
    return item
  }
}
