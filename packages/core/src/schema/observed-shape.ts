import { isRecord } from '../base/record.ts'
import type { JsonSchema } from '../tool/tool.ts'

/** Structure of the values that a tool has returned: kinds and property names, never values. Immutable. */
export interface ObservedShape {
  readonly kinds: ReadonlySet<Primitive>
  /** Lists: the shape of all their items; without `item`, only empty lists were seen. */
  readonly list?: { readonly item?: ObservedShape } | undefined
  readonly object?: ObjectShape | undefined
  /** Something was too deep or too large to be looked at. */
  readonly isCut?: true
}

type Primitive = 'null' | 'boolean' | 'number' | 'string'

/** An object with known properties, or one whose keys are data: only the shape of its values is kept. */
type ObjectShape =
  | { readonly kind: 'properties'; readonly properties: ReadonlyMap<string, ObservedShape>; readonly always: ReadonlySet<string> }
  | { readonly kind: 'record'; readonly value?: ObservedShape }

/** Limits of a shape. */
export interface ShapeLimits {
  /** Objects with more properties are records. */
  readonly properties: number
  readonly depth: number
  /** Items of a list that are looked at. */
  readonly items: number
  /** Values that are looked at, and shapes that are kept. */
  readonly nodes: number
}

export const shapeLimits: ShapeLimits = { properties: 40, depth: 8, items: 20, nodes: 400 }

/** Learns the shape of a value. */
export function shapeOf(value: unknown, limits: ShapeLimits = shapeLimits): ObservedShape {
  return new Observer(limits).shape(value, 0)
}

/** The shape of values of either shape; `known` itself if the other adds nothing, or if both together are too large. */
export function mergedShapes(known: ObservedShape, other: ObservedShape, limits: ShapeLimits = shapeLimits): ObservedShape {
  const merged = new Merger(limits).merged(known, other, 0)
  return sizeOf(merged) > limits.nodes ? known : merged
}

/** Number of shapes within a shape. */
function sizeOf({ list, object }: ObservedShape): number {
  const inner = [...(list?.item === undefined ? [] : [list.item]), ...(object === undefined ? [] : valuesOf(object))]
  return inner.reduce((sum, shape) => sum + sizeOf(shape), 1)
}

/** The shape as a JSON Schema, without any limits: nothing is guaranteed. */
export function schemaOfShape({ kinds, list, object, isCut }: ObservedShape): JsonSchema {
  const schemas = [
    ...[...kinds].sort().map((type) => ({ type })),
    ...(list === undefined ? [] : [{ type: 'array', ...(list.item !== undefined && { items: schemaOfShape(list.item) }) }]),
    ...(object === undefined ? [] : [schemaOfObject(object)]),
    ...(isCut === true ? [{}] : []),
  ]
  return schemas.length === 1 ? (schemas[0] ?? {}) : { anyOf: schemas }
}

function schemaOfObject(object: ObjectShape): JsonSchema {
  if (object.kind === 'record')
    return { type: 'object', additionalProperties: object.value === undefined ? true : schemaOfShape(object.value) }
  const properties = [...object.properties].map(([name, shape]) => [name, schemaOfShape(shape)] as const)
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: [...object.always],
    ...(properties.length === 0 && { additionalProperties: true }),
  }
}

const none: ReadonlySet<Primitive> = new Set()
const cut: ObservedShape = { kinds: none, isCut: true }

// Keys such as addresses, paths, dates and identifiers are data, and data is not kept.
const fieldName = /^[A-Za-z_$@][A-Za-z_$-]*(?:\d{1,2}[A-Za-z_$-]*){0,2}$/
const longestName = 40
const isFieldName = (name: string): boolean => name.length <= longestName && fieldName.test(name)

const fewestObjects = 3
const fewestValues = 17

/** Whether properties look like the entries of a map: several objects with the same properties, or many values of one kind. */
function areValues(shapes: readonly ObservedShape[]): boolean {
  if (shapes.length < fewestObjects) return false
  const isMapOfObjects = shapes.every(({ object }) => object?.kind === 'properties' && object.properties.size > 0)
  if (!isMapOfObjects && shapes.length < fewestValues) return false
  return new Set(shapes.map((shape) => JSON.stringify(schemaOfShape(shape)))).size === 1
}

class Observer {
  readonly #limits: ShapeLimits
  readonly #merger: Merger
  #nodes: number

  constructor(limits: ShapeLimits) {
    this.#limits = limits
    this.#merger = new Merger(limits)
    this.#nodes = limits.nodes
  }

  shape(value: unknown, depth: number): ObservedShape {
    this.#nodes -= 1
    if (this.#nodes < 0 || depth > this.#limits.depth) return cut
    if (Array.isArray(value)) return { kinds: none, list: this.#list(value, depth) }
    if (isRecord(value)) return { kinds: none, object: this.#object(value, depth) }
    const kind = value === null ? 'null' : typeof value
    return kind === 'string' || kind === 'number' || kind === 'boolean' || kind === 'null' ? { kinds: new Set([kind]) } : cut
  }

  #list(values: readonly unknown[], depth: number): { readonly item?: ObservedShape } {
    const shapes = values.slice(0, this.#limits.items).map((value) => this.shape(value, depth + 1))
    return shapes.length === 0 ? {} : { item: this.#all(shapes, depth + 1) }
  }

  #object(value: Readonly<Record<string, unknown>>, depth: number): ObjectShape {
    const names: string[] = []
    let isRecordLike = false
    // Not Object.keys: an object may have a million of them.
    for (const name in value) {
      if (!Object.hasOwn(value, name)) continue
      isRecordLike ||= !isFieldName(name) || names.length >= this.#limits.properties
      if (isRecordLike && names.length >= this.#limits.items) break
      names.push(name)
    }
    const shapes = names.map((name) => this.shape(value[name], depth + 1))
    if (isRecordLike || areValues(shapes)) return { kind: 'record', value: this.#all(shapes, depth + 1) }
    const properties = new Map(names.map((name, index) => [name, shapes[index] ?? cut]))
    return { kind: 'properties', properties, always: new Set(names) }
  }

  #all(shapes: readonly ObservedShape[], depth: number): ObservedShape {
    return shapes.reduce((known, other) => this.#merger.merged(known, other, depth))
  }
}

class Merger {
  readonly #limits: ShapeLimits

  constructor(limits: ShapeLimits) {
    this.#limits = limits
  }

  merged(known: ObservedShape, other: ObservedShape, depth: number): ObservedShape {
    if (known === other) return known
    if (depth > this.#limits.depth) return cut
    const kinds = [...other.kinds].every((kind) => known.kinds.has(kind))
      ? known.kinds
      : new Set([...known.kinds, ...other.kinds])
    const list = this.#lists(known.list, other.list, depth)
    const object = this.#objects(known.object, other.object, depth)
    const isCut = known.isCut ?? other.isCut
    if (kinds === known.kinds && list === known.list && object === known.object && isCut === known.isCut) return known
    return {
      kinds,
      ...(list !== undefined && { list }),
      ...(object !== undefined && { object }),
      ...(isCut === true && { isCut }),
    }
  }

  #lists(known: ObservedShape['list'], other: ObservedShape['list'], depth: number): ObservedShape['list'] {
    if (known === undefined || other?.item === undefined) return known ?? other
    const item = known.item === undefined ? other.item : this.merged(known.item, other.item, depth + 1)
    return item === known.item ? known : { item }
  }

  #objects(known: ObjectShape | undefined, other: ObjectShape | undefined, depth: number): ObjectShape | undefined {
    if (known === undefined || other === undefined) return known ?? other
    if (known.kind === 'properties' && other.kind === 'properties') {
      const names = new Set([...known.properties.keys(), ...other.properties.keys()])
      if (names.size <= this.#limits.properties) return this.#properties(known, other, names, depth)
    }
    const first = recordValue(known)
    const value = [...(first === undefined ? valuesOf(known) : []), ...valuesOf(other)].reduce<ObservedShape | undefined>(
      (all, shape) => (all === undefined ? shape : this.merged(all, shape, depth + 1)),
      first,
    )
    if (known.kind === 'record' && value === known.value) return known
    return { kind: 'record', ...(value !== undefined && { value }) }
  }

  #properties(known: PropertiesShape, other: PropertiesShape, names: ReadonlySet<string>, depth: number): ObjectShape {
    let isChanged = false
    const properties = new Map<string, ObservedShape>()
    for (const name of names) {
      const ours = known.properties.get(name)
      const theirs = other.properties.get(name)
      const shape = ours === undefined ? theirs : theirs === undefined ? ours : this.merged(ours, theirs, depth + 1)
      if (shape === undefined) continue
      isChanged ||= shape !== ours
      properties.set(name, shape)
    }
    const always = [...known.always].filter((name) => other.always.has(name))
    if (!isChanged && always.length === known.always.size) return known
    return { kind: 'properties', properties, always: new Set(always) }
  }
}

type PropertiesShape = Extract<ObjectShape, { kind: 'properties' }>

const recordValue = (object: ObjectShape): ObservedShape | undefined => (object.kind === 'record' ? object.value : undefined)

const valuesOf = (object: ObjectShape): readonly ObservedShape[] =>
  object.kind === 'properties' ? [...object.properties.values()] : object.value === undefined ? [] : [object.value]
