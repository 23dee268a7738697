import { isRecord } from '../../base/record.ts'
import type { JsonSchema } from '../../tool/tool.ts'

/** References followed on the way to a schema, to detect cycles. */
export type Trail = ReadonlySet<JsonSchema>

/** Schema with references resolved and `allOf` merged. `isCut`: a part could not be read. */
export interface ReadSchema {
  readonly schema: JsonSchema
  readonly trail: Trail
  readonly isCut: boolean
}

/** Resolves schemas of one root: only local references, no cycles, with a limited number of steps. */
export class SchemaReader {
  readonly #root: JsonSchema
  readonly #sizes = new WeakMap<JsonSchema, number>()
  #steps: number
  /** A part of an `allOf` could not be read and was omitted. */
  isPartial = false

  constructor(root: JsonSchema, steps: number) {
    this.#root = root
    this.#steps = steps
  }

  /** Uses up `count` steps; returns false if not enough are left. */
  spend(count: number): boolean {
    this.#steps -= count
    return this.#steps >= 0
  }

  /** Resolves a schema; `undefined` if it allows no value. */
  read(raw: unknown, trail: Trail, depth = 0): ReadSchema | undefined {
    if (raw === true || raw === undefined) return { schema: {}, trail, isCut: false }
    if (!isRecord(raw)) return undefined
    if (depth > maxFoldDepth || !this.spend(1 + this.#sizeOf(raw))) return { schema: annotationsOnly(raw), trail, isCut: true }
    const followed = this.#follow(raw, trail)
    if (followed.isCut || !Array.isArray(followed.schema.allOf)) return followed
    const { allOf, ...rest } = followed.schema
    return this.#fold({ ...followed, schema: rest }, listOf(allOf), depth)
  }

  #follow(raw: JsonSchema, start: Trail): ReadSchema {
    let schema = raw
    let trail = start
    while (typeof schema.$ref === 'string') {
      const { $ref: _reference, ...beside } = schema
      const target = this.#target(schema.$ref)
      if (target === undefined) return { schema: beside, trail, isCut: true }
      const isCycle = trail.has(target)
      if (isCycle || !this.spend(this.#sizeOf(target)))
        return { schema: mergeSchemas(beside, annotationsOnly(target)), trail, isCut: true }
      trail = new Set([...trail, target])
      schema = Object.keys(beside).length === 0 ? target : mergeSchemas(beside, target)
    }
    return { schema, trail, isCut: false }
  }

  #fold(start: ReadSchema, parts: readonly unknown[], depth: number): ReadSchema {
    let { schema, trail } = start
    for (const part of parts) {
      const read = this.read(part, start.trail, depth + 1)
      if (read === undefined) continue
      if (!this.spend(this.#sizeOf(read.schema))) return { schema, trail, isCut: true }
      schema = mergeSchemas(schema, read.schema)
      trail = new Set([...trail, ...read.trail])
      this.isPartial ||= read.isCut
    }
    return { schema, trail, isCut: false }
  }

  /** Cost of copying a schema. Cached, because one schema may be read thousands of times. */
  #sizeOf(schema: JsonSchema): number {
    const known = this.#sizes.get(schema)
    if (known !== undefined) return known
    const size = Object.keys(schema).length + (isRecord(schema.properties) ? Object.keys(schema.properties).length : 0)
    this.#sizes.set(schema, size)
    return size
  }

  /** Resolves a JSON pointer such as `#/$defs/user`. */
  #target(reference: string): JsonSchema | undefined {
    if (reference === '#') return this.#root
    if (!reference.startsWith('#/')) return undefined
    let value: unknown = this.#root
    for (const step of reference.slice(2).split('/')) {
      const key = keyOf(step)
      if (typeof value !== 'object' || value === null || key === undefined || !Object.hasOwn(value, key)) return undefined
      value = (value as { readonly [key: string]: unknown })[key]
    }
    return isRecord(value) ? value : undefined
  }
}

const maxFoldDepth = 16

function keyOf(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}

function annotationsOnly({ title, description, type }: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries({ title, description, type }).filter(([, value]) => value !== undefined))
}

/** Intersects two schemas as far as a form needs it; annotations come from the first that has any. */
function mergeSchemas(first: JsonSchema, second: JsonSchema): JsonSchema {
  const result = new Map(Object.entries(first))
  for (const [keyword, theirs] of Object.entries(second)) {
    const ours = result.get(keyword)
    const combine = Object.hasOwn(combiners, keyword) ? combiners[keyword] : undefined
    result.set(keyword, ours === undefined ? theirs : (combine?.(ours, theirs) ?? ours))
  }
  return Object.fromEntries(result)
}

const tighter =
  (pick: (...values: number[]) => number) =>
  (ours: unknown, theirs: unknown): unknown =>
    typeof ours === 'number' && typeof theirs === 'number' ? pick(ours, theirs) : ours

const combiners: { readonly [keyword: string]: (ours: unknown, theirs: unknown) => unknown } = {
  properties: (ours, theirs) => (isRecord(ours) && isRecord(theirs) ? mergedProperties(ours, theirs) : ours),
  allOf: (ours, theirs) => [...listOf(ours), ...listOf(theirs)],
  required: (ours, theirs) => [...new Set([...listOf(ours), ...listOf(theirs)])],
  enum: (ours, theirs) => listOf(ours).filter((value) => listOf(theirs).includes(value)),
  type: (ours, theirs) => commonTypes(typesIn(ours), typesIn(theirs)),
  additionalProperties: (ours, theirs) => (theirs === false ? false : ours),
  minimum: tighter(Math.max),
  exclusiveMinimum: tighter(Math.max),
  minLength: tighter(Math.max),
  minItems: tighter(Math.max),
  maximum: tighter(Math.min),
  exclusiveMaximum: tighter(Math.min),
  maxLength: tighter(Math.min),
  maxItems: tighter(Math.min),
}

function mergedProperties(ours: JsonSchema, theirs: JsonSchema): JsonSchema {
  const result = new Map(Object.entries(ours))
  for (const [name, schema] of Object.entries(theirs)) {
    result.set(name, result.has(name) ? { allOf: [result.get(name), schema] } : schema)
  }
  return Object.fromEntries(result)
}

function commonTypes(ours: readonly string[], theirs: readonly string[]): readonly string[] {
  return ours.flatMap((type) => {
    if (theirs.includes(type)) return [type]
    if (type === 'integer' && theirs.includes('number')) return ['integer']
    return type === 'number' && theirs.includes('integer') ? ['integer'] : []
  })
}

export function typesIn(type: unknown): readonly string[] {
  return (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string')
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
