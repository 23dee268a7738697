import { isRecord } from '../base/record.ts'
import { Exhausted, Meter } from './meter.ts'
import { References, startsDocument } from './references.ts'

export interface CostOptions {
  /** `quadratic` for validators that compare every item with every other. */
  readonly uniqueItems: 'linear' | 'quadratic'
}

/** Place where the validation of a value becomes too expensive. */
export interface Excess {
  /** Names and indexes, from the root. */
  readonly path: readonly string[]
  /** Keyword that takes most of the steps. */
  readonly keyword: string
}

type SchemaObject = Readonly<Record<string, unknown>>

/** Schemas that apply to the value itself. */
const inPlace = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'] as const
/** Schemas of all members or items. */
const ofMembers = ['additionalProperties', 'unevaluatedProperties', 'propertyNames'] as const
const ofItems = ['items', 'additionalItems', 'unevaluatedItems', 'contains', 'prefixItems'] as const
/** Schemas by name. */
const named = ['properties', 'patternProperties', 'dependentSchemas', 'dependencies'] as const

/** A larger schema is treated like a recursive one. */
const maxExpandedSize = 1_000_000
const maxSchemaDepth = 1_000
/** A problem takes longer than a check, in a validator that reports all of them. */
const stepsPerProblem = 10
/** Characters that are checked in one step. */
const charactersPerStep = 100

/**
 * Estimates how many steps a validator takes for a value, without validating it. A validator takes time that is not proportional to the
 * value where alternatives repeat in a recursive schema, where items are compared with each other, and where lists in the schema are
 * long. Estimates are upper bounds: all alternatives count.
 */
export class ValidationCost {
  readonly #schema: unknown
  readonly #hasQuadraticItems: boolean
  /** Number of schemas after all references were replaced by their targets; infinite if they are recursive. */
  readonly #expandedSize: number

  constructor(schema: unknown, { uniqueItems }: CostOptions) {
    this.#schema = schema
    const analysis = new Analysis(schema)
    this.#expandedSize = analysis.expandedSize
    this.#hasQuadraticItems = uniqueItems === 'quadratic' && analysis.hasUniqueItems
  }

  /** True if a validator that reports all problems takes at most about `steps`. Most values are so small that their size says it. */
  isWithin(value: unknown, steps: number): boolean {
    return this.#isSmall(value, steps) || this.#walk(value, steps, stepsPerProblem) === undefined
  }

  #isSmall(value: unknown, steps: number): boolean {
    if (this.#expandedSize > steps) return false
    const maxSize = steps / this.#expandedSize
    const size = sizeOf(value, maxSize)
    return size <= maxSize && (!this.#hasQuadraticItems || size * size <= steps)
  }

  /** Returns where a validator that stops at the first problem would exceed `steps`. Takes at most about as many steps itself. */
  excess(value: unknown, steps: number): Excess | undefined {
    return this.#walk(value, steps, 1)
  }

  #walk(value: unknown, steps: number, perProblem: number): Excess | undefined {
    return new Walk(this.#schema, { steps, perProblem, hasQuadraticItems: this.#hasQuadraticItems }).run(value)
  }
}

/** Counts elements and text of a value, up to a limit. */
function sizeOf(value: unknown, limit: number): number {
  let size = 0
  const pending: unknown[] = [value]
  while (pending.length > 0 && size <= limit) {
    const node = pending.pop()
    size += typeof node === 'string' ? 1 + node.length / charactersPerStep : 1
    if (typeof node !== 'object' || node === null) continue
    const members: readonly unknown[] = Array.isArray(node) ? node : Object.values(node)
    if (size + pending.length + members.length > limit) return limit + 1
    for (const member of members) pending.push(member)
  }
  return size
}

/** What a schema says about its cost, independent of a value. */
class Analysis {
  readonly expandedSize: number
  hasUniqueItems = false
  readonly #references: References
  readonly #sizes = new Map<object, number>()
  readonly #open = new Set<object>()

  constructor(schema: unknown) {
    this.#references = new References(schema, new Meter({ steps: maxExpandedSize, depth: maxSchemaDepth }))
    this.expandedSize = this.#expand(schema)
  }

  #expand(schema: unknown): number {
    try {
      return this.#size(schema, schema)
    } catch (error) {
      if (!(error instanceof Exhausted) && !(error instanceof RangeError)) throw error
      this.hasUniqueItems = true
      return Number.POSITIVE_INFINITY
    }
  }

  #size(schema: unknown, root: unknown): number {
    if (!isRecord(schema)) return 1
    const known = this.#sizes.get(schema)
    if (known !== undefined) return known
    if (this.#open.has(schema)) return Number.POSITIVE_INFINITY
    this.#open.add(schema)
    if (schema.uniqueItems === true) this.hasUniqueItems = true
    let size = 1 + literalSize(schema)
    for (const { schema: each, root: from } of subschemas(schema, startsDocument(schema) ? schema : root, this.#references))
      size += this.#size(each, from)
    this.#open.delete(schema)
    const bounded = size > maxExpandedSize ? Number.POSITIVE_INFINITY : size
    this.#sizes.set(schema, bounded)
    return bounded
  }
}

function* subschemas(
  schema: SchemaObject,
  root: unknown,
  references: References,
): Generator<{ readonly schema: unknown; readonly root: unknown }> {
  for (const keyword of [...inPlace, ...ofMembers, ...ofItems]) {
    for (const each of listOf(schema[keyword])) yield { schema: each, root }
  }
  for (const keyword of named) {
    const inner = schema[keyword]
    if (isRecord(inner)) for (const each of Object.values(inner)) yield { schema: each, root }
  }
  for (const target of targetsOf(schema, root, references)) yield target
}

function targetsOf(schema: SchemaObject, root: unknown, references: References) {
  return [schema.$ref, schema.$dynamicRef, schema.$recursiveRef].flatMap((ref) =>
    typeof ref === 'string' ? (references.resolve(ref, root) ?? []) : [],
  )
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value])

/** Size of the values in a schema that a value is compared with. */
function literalSize({ enum: allowed, const: only }: SchemaObject): number {
  const listed = Array.isArray(allowed) ? sizeOf(allowed, maxExpandedSize) : 0
  return listed + (only === undefined ? 0 : sizeOf(only, maxExpandedSize))
}

/** The way to a part of a value. */
interface Place {
  readonly parent: Place | undefined
  readonly part: string
}

/** What a walk reads of a schema for every value. */
interface Plan {
  /** Schemas that apply to the value itself. */
  readonly inPlace: readonly Applied[]
  readonly enumLength: number
  readonly literalSize: number
  readonly properties: SchemaObject
  readonly propertyCount: number
  readonly patterns: readonly unknown[]
  readonly required: readonly string[]
  readonly items: unknown
  readonly firstItems: readonly unknown[]
  readonly root: unknown
}

interface Applied {
  readonly keyword: string
  readonly schema: unknown
  readonly root: unknown
}

interface WalkOptions {
  readonly steps: number
  /** Steps for something that is certainly a problem. */
  readonly perProblem: number
  readonly hasQuadraticItems: boolean
}

/** Visits every pair of schema and value that a validator would visit. */
class Walk {
  readonly #schema: unknown
  readonly #hasQuadraticItems: boolean
  readonly #perProblem: number
  readonly #references: References
  readonly #plans = new Map<object, Plan>()
  /** Steps by keyword. */
  readonly #spent = new Map<string, { steps: number }>()
  #steps: number
  #place: Place | undefined

  constructor(schema: unknown, { steps, perProblem, hasQuadraticItems }: WalkOptions) {
    this.#schema = schema
    this.#steps = steps
    this.#perProblem = perProblem
    this.#hasQuadraticItems = hasQuadraticItems
    this.#references = new References(schema, new Meter({ steps, depth: maxSchemaDepth }))
  }

  run(value: unknown): Excess | undefined {
    try {
      this.#visit(this.#schema, value, this.#schema)
      return undefined
    } catch (error) {
      if (!(error instanceof Exhausted) && !(error instanceof RangeError)) throw error
      const [[keyword] = ['$ref']] = [...this.#spent].sort(([, a], [, b]) => b.steps - a.steps)
      return { path: pathTo(this.#place), keyword }
    }
  }

  #spend(keyword: string, steps = 1): void {
    const spent = this.#spent.get(keyword)
    if (spent === undefined) this.#spent.set(keyword, { steps })
    else spent.steps += steps
    this.#steps -= steps
    if (this.#steps < 0) throw new Exhausted('the value requires too many checks')
  }

  #planOf(schema: SchemaObject, from: unknown): Plan {
    const known = this.#plans.get(schema)
    if (known !== undefined) return known
    const root = startsDocument(schema) ? schema : from
    const { properties, patternProperties, prefixItems, items, required } = schema
    const declared = isRecord(properties) ? properties : {}
    const plan: Plan = {
      root,
      inPlace: [
        ...targetsOf(schema, root, this.#references).map((target) => ({ keyword: '$ref', ...target })),
        ...inPlace.flatMap((keyword) => listOf(schema[keyword]).map((each) => ({ keyword, schema: each, root }))),
      ],
      enumLength: Array.isArray(schema.enum) ? schema.enum.length : schema.const === undefined ? 0 : 1,
      literalSize: literalSize(schema),
      properties: declared,
      propertyCount: Object.keys(declared).length,
      patterns: isRecord(patternProperties) ? Object.values(patternProperties) : [],
      required: Array.isArray(required) ? required.map(String) : [],
      items: Array.isArray(items) ? undefined : items,
      firstItems: Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [],
    }
    this.#plans.set(schema, plan)
    return plan
  }

  #visit(schema: unknown, value: unknown, from: unknown): void {
    if (!isRecord(schema)) return
    const plan = this.#planOf(schema, from)
    // Values of different kinds differ at once; only structures are compared in depth.
    if (plan.enumLength > 0)
      this.#spend(
        schema.enum === undefined ? 'const' : 'enum',
        typeof value === 'object' && value !== null ? plan.literalSize : plan.enumLength,
      )
    if (typeof value === 'string' && value.length > charactersPerStep) this.#spend('pattern', value.length / charactersPerStep)
    for (const applied of plan.inPlace) {
      this.#spend(applied.keyword)
      this.#visit(applied.schema, value, applied.root)
    }
    if (Array.isArray(value)) this.#array(schema, plan, value)
    else if (isRecord(value)) this.#object(schema, plan, value)
  }

  #array(schema: SchemaObject, { firstItems, items: rest, root }: Plan, items: readonly unknown[]): void {
    if (schema.uniqueItems === true) this.#unique(schema, items)
    const first = Math.min(firstItems.length, items.length)
    for (let index = 0; index < first; index++) this.#part('prefixItems', String(index), firstItems[index], items[index], root)
    if (schema.contains !== undefined) this.#items('contains', schema.contains, items, 0, root)
    if (rest !== undefined) this.#items('items', rest, items, first, root)
    if (schema.additionalItems !== undefined) this.#items('additionalItems', schema.additionalItems, items, first, root)
    if (schema.unevaluatedItems !== undefined) this.#items('unevaluatedItems', schema.unevaluatedItems, items, first, root)
  }

  #items(keyword: string, schema: unknown, items: readonly unknown[], from: number, root: unknown): void {
    if (schema === false) this.#spend(keyword, this.#perProblem * Math.max(0, items.length - from))
    for (let index = from; index < items.length; index++) this.#part(keyword, String(index), schema, items[index], root)
  }

  #unique(schema: SchemaObject, items: readonly unknown[]): void {
    if (!this.#hasQuadraticItems || hasScalarItems(schema)) this.#spend('uniqueItems', sizeOf(items, this.#steps + 1))
    else this.#spend('uniqueItems', (items.length * (items.length - 1)) / 2)
  }

  #object(schema: SchemaObject, { properties, patterns, required, root, ...plan }: Plan, members: SchemaObject): void {
    const names = Object.keys(members)
    if (plan.propertyCount > 0) this.#spend('properties', plan.propertyCount)
    for (const name of required) this.#spend('required', Object.hasOwn(members, name) ? 1 : this.#perProblem)
    for (const name of names) {
      const isDeclared = Object.hasOwn(properties, name)
      if (isDeclared) this.#part('properties', name, properties[name], members[name], root)
      for (const each of patterns) this.#part('patternProperties', name, each, members[name], root)
      if (schema.propertyNames !== undefined) this.#part('propertyNames', name, schema.propertyNames, name, root)
      if (isDeclared) continue
      this.#undeclared('additionalProperties', schema, name, members[name], root)
      this.#undeclared('unevaluatedProperties', schema, name, members[name], root)
    }
    for (const keyword of ['dependentSchemas', 'dependencies'] as const) {
      const dependents = schema[keyword]
      if (!isRecord(dependents)) continue
      for (const [name, each] of Object.entries(dependents)) {
        if (!Object.hasOwn(members, name)) continue
        this.#spend(keyword)
        this.#visit(each, members, root)
      }
    }
  }

  #undeclared(
    keyword: 'additionalProperties' | 'unevaluatedProperties',
    schema: SchemaObject,
    name: string,
    value: unknown,
    root: unknown,
  ): void {
    const inner = schema[keyword]
    if (inner === undefined) return
    if (inner === false) this.#spend(keyword, this.#perProblem)
    this.#part(keyword, name, inner, value, root)
  }

  #part(keyword: string, part: string, schema: unknown, value: unknown, root: unknown): void {
    const parent = this.#place
    this.#place = { parent, part }
    this.#spend(keyword)
    this.#visit(schema, value, root)
    this.#place = parent
  }
}

/** True if the schema says that all items are texts, numbers and the like, which validators put into a table. */
function hasScalarItems({ items }: SchemaObject): boolean {
  if (!isRecord(items)) return false
  const types = Array.isArray(items.type) ? items.type : items.type === undefined ? [] : [items.type]
  return types.length > 0 && !types.includes('object') && !types.includes('array')
}

function pathTo(place: Place | undefined): readonly string[] {
  const path: string[] = []
  for (let at = place; at !== undefined; at = at.parent) path.unshift(at.part)
  return path
}
