import { canonicalJson } from '@unfold-mcp/core'
import type { Check, Location, SchemaObject } from '../check.ts'
import type { Evaluated } from '../evaluated.ts'
import { checkCount } from './count.ts'

type Items = readonly unknown[]

export function checkArray(check: Check, schema: SchemaObject, value: Items, at: Location): Evaluated {
  const { minItems: min, maxItems: max, uniqueItems, items, prefixItems, contains } = schema
  checkCount(check, at, value.length, { min, max, one: 'item' })
  if (uniqueItems === true) checkUnique(check, value, at)
  const evaluated = new Set<number>()
  const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
  for (const [index, each] of first.entries()) {
    if (index >= value.length) break
    evaluated.add(index)
    check.descend(each, value[index], at, String(index))
  }
  if (contains !== undefined) for (const index of checkContains(check, schema, value, at)) evaluated.add(index)
  const rest = Array.isArray(items) ? schema.additionalItems : items
  if (rest === undefined) return { properties: new Set(), items: evaluated }
  for (const [index, item] of value.entries()) if (index >= first.length) check.descend(rest, item, at, String(index))
  return { properties: new Set(), items: 'all' }
}

function checkUnique(check: Check, value: Items, at: Location): void {
  const known = new Map<string, number>()
  for (const [index, item] of value.entries()) {
    check.meter.spend()
    const text = canonicalJson(item)
    const other = known.get(text)
    if (other !== undefined) check.fail(at, `duplicates item ${other}`, String(index))
    known.set(text, index)
  }
}

/** Returns the indices of matching items. */
function checkContains(check: Check, schema: SchemaObject, value: Items, at: Location): readonly number[] {
  const { contains, minContains: min = 1, maxContains } = schema
  const before = check.uncheckedCount
  const matching = value.flatMap((item, index) => (check.attempt(contains, item, at).evaluated === undefined ? [] : [index]))
  // Items that could not be checked may not match.
  const max = check.uncheckedCount === before ? maxContains : undefined
  checkCount(check, at, matching.length, { min, max, one: 'matching item', verb: 'contain' })
  return matching
}

export function checkUnevaluatedItems(
  check: Check,
  { unevaluatedItems: rest }: SchemaObject,
  value: Items,
  at: Location,
  evaluated: Evaluated,
): Evaluated {
  if (rest === undefined || evaluated.items === 'all') return evaluated
  for (const [index, item] of value.entries()) if (!evaluated.items.has(index)) check.descend(rest, item, at, String(index))
  return { ...evaluated, items: 'all' }
}
