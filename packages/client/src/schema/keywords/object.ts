import { isRecord, nearest, nearestHint, printable } from '@unfold-mcp/core'
import type { Check, Location, SchemaObject } from '../check.ts'
import { type Evaluated, mergeEvaluated, nothingEvaluated } from '../evaluated.ts'
import { checkCount } from './count.ts'
import { listOf } from './list-of.ts'

type Properties = Readonly<Record<string, unknown>>

export function checkObject(check: Check, schema: SchemaObject, value: Properties, at: Location): Evaluated {
  const { minProperties: min, maxProperties: max, propertyNames, additionalProperties: rest } = schema
  const names = Object.keys(value)
  check.meter.spend(names.length)
  checkCount(check, at, names.length, { min, max, one: 'property', many: 'properties' })
  const declared = declaredIn(schema)
  const patterns = isRecord(schema.patternProperties) ? Object.entries(schema.patternProperties) : []
  const evaluated = new Set<string>()
  const undeclared: string[] = []
  for (const name of names) {
    const known = Object.hasOwn(declared, name)
    if (known) check.descend(declared[name], value[name], at, name)
    let matched = false
    for (const [pattern, each] of patterns) {
      const matches = check.matches(pattern, name)
      if (matches === true) check.descend(each, value[name], at, name)
      // A pattern that could not be tested may match this property.
      if (matches !== false) matched = true
    }
    if (known || matched) evaluated.add(name)
    else undeclared.push(name)
  }
  checkRequired(check, schema, value, at, undeclared)
  const dependent = checkDependencies(check, schema, value, at)
  if (propertyNames !== undefined)
    for (const name of names)
      if (check.attempt(propertyNames, name, at).evaluated === undefined) check.fail(at, 'is not an allowed property name', name)
  if (rest === undefined) return mergeEvaluated({ properties: evaluated, items: new Set() }, dependent)
  for (const name of undeclared) checkRest(check, rest, value, at, { name, declared })
  return { properties: 'all', items: new Set() }
}

export function checkUnevaluatedProperties(
  check: Check,
  schema: SchemaObject,
  value: Properties,
  at: Location,
  evaluated: Evaluated,
): Evaluated {
  const { unevaluatedProperties: rest } = schema
  if (rest === undefined || evaluated.properties === 'all') return evaluated
  for (const name of Object.keys(value))
    if (!evaluated.properties.has(name)) checkRest(check, rest, value, at, { name, declared: declaredIn(schema) })
  return { ...evaluated, properties: 'all' }
}

const declaredIn = ({ properties }: SchemaObject): Properties => (isRecord(properties) ? properties : {})

function checkRequired(
  check: Check,
  { required }: SchemaObject,
  value: Properties,
  at: Location,
  undeclared: readonly string[],
): void {
  for (const name of listOf(required)) {
    check.meter.spend()
    if (typeof name !== 'string' || Object.hasOwn(value, name)) continue
    const [misspelled] = nearest(name, undeclared.slice(0, 100), 1)
    check.fail(at, `is required${misspelled === undefined ? '' : `; found "${printable(misspelled)}"`}`, name)
  }
}

function checkDependencies(check: Check, schema: SchemaObject, value: Properties, at: Location): Evaluated {
  let evaluated = nothingEvaluated
  for (const dependencies of [schema.dependentRequired, schema.dependentSchemas, schema.dependencies]) {
    if (!isRecord(dependencies)) continue
    for (const [name, needs] of Object.entries(dependencies)) {
      check.meter.spend()
      if (!Object.hasOwn(value, name)) continue
      if (!Array.isArray(needs)) evaluated = mergeEvaluated(evaluated, check.descend(needs, value, at))
      else
        for (const needed of needs)
          if (typeof needed === 'string' && !Object.hasOwn(value, needed))
            check.fail(at, `is required when "${printable(name)}" is present`, needed)
    }
  }
  return evaluated
}

/** Checks a property that no other keyword covers. */
function checkRest(
  check: Check,
  schema: unknown,
  value: Properties,
  at: Location,
  { name, declared }: { readonly name: string; readonly declared: Properties },
): void {
  if (schema !== false) {
    check.descend(schema, value[name], at, name)
    return
  }
  const names = Object.keys(declared).slice(0, 2_000)
  check.meter.spend(names.length)
  const hint = nearestHint(nearest(name, names).map((each) => printable(each)))
  check.fail(at, hint === '' ? 'is not a known property' : `is not a known property.${hint}`.slice(0, -1), name)
}
