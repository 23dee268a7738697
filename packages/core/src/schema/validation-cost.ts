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
/** An error takes longer than a check. */
const stepsPerError = 10
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

  /** True if a validator takes at most about `steps`. Most values are so small that their size says it. */
  isWithin(value: unknown, steps: number): boolean {
    return this.#isSmall(value, steps) || this.excess(value, steps) === undefined
  }

  #isSmall(value: unknown, steps: number): boolean {
    if (this.#expandedSize > steps) return false
    const maxSize = steps / this.#expandedSize
    const size = sizeOf(value, maxSize)
    return size <= maxSize && (!this.#hasQuadraticItems || size * size <= steps)
  }

  /** Returns where a validator would exceed `steps`. Takes at most about as many steps itself. */
  excess(value: unknown, steps: number): Excess | undefined {
    return new Walk(this.#schema, steps, this.#hasQuadraticItems).run(value)
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
    const inner = schema[keyword]
    for (const each of Array.isArray(inner) ? inner : inner === undefined ? [] : [inner]) yield { schema: each, root }
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

/** Visits every pair of schema and value that a validator would visit. */
class Walk {
  readonly #schema: unknown
  readonly #hasQuadraticItems: boolean
  readonly #references: References
  readonly #spent = new Map<string, number>()
  readonly #literalSizes = new Map<object, number>()
  #steps: number
  #place: Place | undefined

  constructor(schema: unknown, steps: number, hasQuadraticItems: boolean) {
    this.#schema = schema
    this.#steps = steps
    this.#hasQuadraticItems = hasQuadraticItems
    this.#references = new References(schema, new Meter({ steps, depth: maxSchemaDepth }))
  }

  run(value: unknown): Excess | undefined {
    try {
      this.#visit(this.#schema, value, this.#schema)
      return undefined
    } catch (error) {
      if (!(error instanceof Exhausted) && !(error instanceof RangeError)) throw error
      const [[keyword] = ['$ref']] = [...this.#spent].sort(([, a], [, b]) => b - a)
      return { path: pathTo(this.#place), keyword }
    }
  }

  #spend(keyword: string, steps = 1): void {
    this.#spent.set(keyword, (this.#spent.get(keyword) ?? 0) + steps)
    this.#steps -= steps
    if (this.#steps < 0) throw new Exhausted('the value requires too many checks')
  }

  #visit(schema: unknown, value: unknown, from: unknown): void {
    if (!isRecord(schema)) return
    const root = startsDocument(schema) ? schema : from
    if (schema.enum !== undefined || schema.const !== undefined) this.#literals(schema, value)
    if (typeof value === 'string') this.#spend('pattern', value.length / charactersPerStep)
    for (const { schema: target, root: targetRoot } of targetsOf(schema, root, this.#references)) {
      this.#spend('$ref')
      this.#visit(target, value, targetRoot)
    }
    for (const keyword of inPlace) this.#each(keyword, schema[keyword], value, root)
    if (Array.isArray(value)) this.#array(schema, value, root)
    else if (isRecord(value)) this.#object(schema, value, root)
  }

  #each(keyword: string, schemas: unknown, value: unknown, root: unknown): void {
    if (schemas === undefined) return
    for (const schema of Array.isArray(schemas) ? schemas : [schemas]) {
      this.#spend(keyword)
      this.#visit(schema, value, root)
    }
  }

  #literals(schema: SchemaObject, value: unknown): void {
    const keyword = schema.enum === undefined ? 'const' : 'enum'
    // Values of different kinds differ at once; only structures are compared in depth.
    if (typeof value !== 'object' || value === null) {
      this.#spend(keyword, Array.isArray(schema.enum) ? schema.enum.length : 1)
      return
    }
    const size = this.#literalSizes.get(schema) ?? literalSize(schema)
    this.#literalSizes.set(schema, size)
    this.#spend(keyword, size)
  }

  #array(schema: SchemaObject, items: readonly unknown[], root: unknown): void {
    if (schema.uniqueItems === true) this.#unique(schema, items)
    const { prefixItems, contains } = schema
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(schema.items) ? schema.items : []
    for (const [index, each] of first.entries())
      if (index < items.length) this.#part('prefixItems', String(index), each, items[index], root)
    if (contains !== undefined) this.#items('contains', contains, items, 0, root)
    if (!Array.isArray(schema.items) && schema.items !== undefined) this.#items('items', schema.items, items, first.length, root)
    if (schema.additionalItems !== undefined) this.#items('additionalItems', schema.additionalItems, items, first.length, root)
    if (schema.unevaluatedItems !== undefined) this.#items('unevaluatedItems', schema.unevaluatedItems, items, first.length, root)
  }

  #items(keyword: string, schema: unknown, items: readonly unknown[], from: number, root: unknown): void {
    if (schema === false) this.#spend(keyword, stepsPerError * Math.max(0, items.length - from))
    for (let index = from; index < items.length; index++) this.#part(keyword, String(index), schema, items[index], root)
  }

  #unique(schema: SchemaObject, items: readonly unknown[]): void {
    if (!this.#hasQuadraticItems || hasScalarItems(schema)) this.#spend('uniqueItems', sizeOf(items, this.#steps + 1))
    else this.#spend('uniqueItems', (items.length * (items.length - 1)) / 2)
  }

  #object(schema: SchemaObject, members: Readonly<Record<string, unknown>>, root: unknown): void {
    const names = Object.keys(members)
    const declared = isRecord(schema.properties) ? schema.properties : {}
    const patterns = isRecord(schema.patternProperties) ? Object.entries(schema.patternProperties) : []
    this.#spend('properties', Object.keys(declared).length)
    this.#spend('patternProperties', names.length * patterns.length)
    for (const name of Array.isArray(schema.required) ? schema.required : [])
      this.#spend('required', Object.hasOwn(members, String(name)) ? 1 : stepsPerError)
    for (const name of names) {
      if (Object.hasOwn(declared, name)) this.#part('properties', name, declared[name], members[name], root)
      for (const [, each] of patterns) this.#part('patternProperties', name, each, members[name], root)
      if (schema.propertyNames !== undefined) this.#part('propertyNames', name, schema.propertyNames, name, root)
      for (const keyword of ['additionalProperties', 'unevaluatedProperties'] as const) {
        if (schema[keyword] === undefined || Object.hasOwn(declared, name)) continue
        this.#spend(keyword, schema[keyword] === false ? stepsPerError : 1)
        this.#part(keyword, name, schema[keyword], members[name], root)
      }
    }
    for (const keyword of ['dependentSchemas', 'dependencies'] as const) {
      const dependents = schema[keyword]
      if (!isRecord(dependents)) continue
      for (const [name, each] of Object.entries(dependents))
        if (Object.hasOwn(members, name)) this.#each(keyword, each, members, root)
    }
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
