/** Types of the values observed in one position, without the values. Merging is idempotent and commutative. */
export interface Shape {
  /** In the order of `scalars`; `number` includes `integer`. */
  readonly scalars: readonly Scalar[]
  /** Common format of all observed strings. */
  readonly format?: Format
  readonly object?: ObjectShape
  /** `emptyShape` until an element is observed. */
  readonly items?: Shape
}

export interface ObjectShape {
  readonly fields: ReadonlyMap<string, Field>
  /** Values under keys that are data, such as ids. */
  readonly keyed?: Shape
  /** Not all fields are kept. */
  readonly isCut: boolean
}

interface Field {
  readonly shape: Shape
  readonly isOptional: boolean
}

type Scalar = 'null' | 'boolean' | 'integer' | 'number' | 'string'
type Format = 'date-time' | 'date' | 'uuid' | 'email' | 'uri'

const scalars = ['null', 'boolean', 'integer', 'number', 'string'] as const satisfies readonly Scalar[]

/** No observed value. */
export const emptyShape: Shape = { scalars: [] }

/** Deeper objects have no fields. */
export const maxLevels = 8
/** Of more fields, the first by name are kept, so that the order of observation does not matter. */
export const maxFields = 100
/** A shape with more nodes loses its deepest levels. */
const maxNodes = 2_000

const maxNameLength = 64
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const formats: readonly (readonly [Format, RegExp])[] = [
  ['date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/],
  ['date', /^\d{4}-\d\d-\d\d$/],
  ['uuid', uuid],
  ['email', /^[^\s@]{1,64}@[^\s@]{1,190}\.[^\s@.]{2,60}$/],
  ['uri', /^https?:\/\/[^\s]{1,2000}$/],
]

// Shared objects for the common cases make merging cheap.
const plain: { readonly [S in Scalar]: Shape } = {
  null: { scalars: ['null'] },
  boolean: { scalars: ['boolean'] },
  integer: { scalars: ['integer'] },
  number: { scalars: ['number'] },
  string: { scalars: ['string'] },
}
const formatted: { readonly [F in Format]: Shape } = {
  'date-time': { scalars: ['string'], format: 'date-time' },
  date: { scalars: ['string'], format: 'date' },
  uuid: { scalars: ['string'], format: 'uuid' },
  email: { scalars: ['string'], format: 'email' },
  uri: { scalars: ['string'], format: 'uri' },
}

export function shapeOf(value: unknown, level = 0): Shape {
  if (value === null) return plain.null
  if (typeof value === 'boolean') return plain.boolean
  if (typeof value === 'number') return Number.isInteger(value) ? plain.integer : plain.number
  if (typeof value === 'string') return textShape(value)
  if (typeof value !== 'object') return emptyShape
  const isDeepest = level >= maxLevels
  if (Array.isArray(value)) {
    if (isDeepest) return { scalars: [], items: emptyShape }
    return { scalars: [], items: value.reduce<Shape>((shape, item) => join(shape, shapeOf(item, level + 1)), emptyShape) }
  }
  if (isDeepest) return { scalars: [], object: { fields: new Map(), isCut: Object.keys(value).length > 0 } }
  return objectShape(Object.entries(value).map(([name, each]) => [name, shapeOf(each, level + 1)]))
}

export function objectShape(entries: readonly (readonly [name: string, shape: Shape])[]): Shape {
  const fields = new Map<string, Field>()
  let keyed: Shape | undefined
  for (const [name, shape] of entries) {
    if (isData(name)) keyed = join(keyed ?? emptyShape, shape)
    else fields.set(name, { shape: join(fields.get(name)?.shape ?? emptyShape, shape), isOptional: false })
  }
  return { scalars: [], object: { ...limitFields(fields, false), ...(keyed !== undefined && { keyed }) } }
}

/** Shape of a value given as text, as in a query, where `42` is a number. */
export function plainTextShape(text: string): Shape {
  if (text === 'true' || text === 'false') return plain.boolean
  if (/^-?(?:0|[1-9]\d{0,14})$/.test(text)) return plain.integer
  if (/^-?(?:0|[1-9]\d{0,14})\.\d{1,15}$/.test(text)) return plain.number
  return textShape(text)
}

/** Merges two shapes; returns `a` itself if `b` adds nothing. */
export function join(a: Shape, b: Shape): Shape {
  if (a === b || b === emptyShape) return a
  if (a === emptyShape) return b
  const joined = joinScalars(a.scalars, b.scalars)
  const format = joinFormats(a, b)
  const object = joinObjects(a.object, b.object)
  const items = a.items !== undefined && b.items !== undefined ? join(a.items, b.items) : (a.items ?? b.items)
  if (joined === a.scalars && format === a.format && object === a.object && items === a.items) return a
  return {
    scalars: joined,
    ...(format !== undefined && { format }),
    ...(object !== undefined && { object }),
    ...(items !== undefined && { items }),
  }
}

export function countNodes(shape: Shape): number {
  let places = 0
  for (const count of levelsOf(shape)) places += count
  return places
}

/** Removes the deepest levels of a shape with too many nodes; otherwise returns the same object. */
export function limitNodes(shape: Shape, max = maxNodes): Shape {
  let places = 0
  for (const [level, count] of levelsOf(shape).entries()) {
    places += count
    if (places > max) return withLevels(shape, level - 1)
  }
  return shape
}

/** True for a name that is data: an id, a URL, a date. Such names are never kept. */
export function isData(name: string): boolean {
  if (name.length > maxNameLength || name.includes('@') || name.includes('[redacted]')) return true
  if (/^\d+$/.test(name) || /^\d{4}-\d\d/.test(name) || uuid.test(name)) return true
  if (/^[0-9a-f]{8,}$/i.test(name)) return /\d/.test(name) || name.length >= 24
  if (/^[a-z]{1,20}[-_:]\d{3,}$/i.test(name)) return true
  // Random strings alternate between letters and digits more often than words with a number.
  return name.length >= 16 && /^[\w-]+$/.test(name) && (name.match(/\d(?=[a-z])|[a-z_-](?=\d)/gi)?.length ?? 0) >= 3
}

function textShape(text: string): Shape {
  const isPlain = text.length > 2_048 || !/^\d{4}-|^https?:|@|^.{8}-/i.test(text)
  const format = isPlain ? undefined : formats.find(([, pattern]) => pattern.test(text))?.[0]
  return format === undefined ? plain.string : formatted[format]
}

function joinScalars(a: readonly Scalar[], b: readonly Scalar[]): readonly Scalar[] {
  const both = scalars.filter((each) => a.includes(each) || b.includes(each))
  const joined = both.includes('number') ? both.filter((each) => each !== 'integer') : both
  return joined.length === a.length && joined.every((each) => a.includes(each)) ? a : joined
}

function joinFormats(a: Shape, b: Shape): Format | undefined {
  if (!a.scalars.includes('string')) return b.format
  if (!b.scalars.includes('string')) return a.format
  return a.format === b.format ? a.format : undefined
}

function joinObjects(a: ObjectShape | undefined, b: ObjectShape | undefined): ObjectShape | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b
  const keyed = a.keyed !== undefined && b.keyed !== undefined ? join(a.keyed, b.keyed) : (a.keyed ?? b.keyed)
  const { fields, isCut } = joinFields(a, b)
  if (fields === a.fields && isCut === a.isCut && keyed === a.keyed) return a
  return { fields, isCut, ...(keyed !== undefined && { keyed }) }
}

function joinFields(a: ObjectShape, b: ObjectShape): Pick<ObjectShape, 'fields' | 'isCut'> {
  const changed = new Map<string, Field>()
  for (const [name, field] of a.fields) {
    const other = b.fields.get(name)
    const shape = other === undefined ? field.shape : join(field.shape, other.shape)
    const isOptional = field.isOptional || (other?.isOptional ?? true)
    if (shape !== field.shape || isOptional !== field.isOptional) changed.set(name, { shape, isOptional })
  }
  for (const [name, field] of b.fields) if (!a.fields.has(name)) changed.set(name, { ...field, isOptional: true })
  const isCut = a.isCut || b.isCut
  if (changed.size === 0) return { fields: a.fields, isCut }
  const joined = limitFields(new Map([...a.fields, ...changed]), isCut)
  // A new field may be one that is not kept.
  const isSame = joined.fields.size === a.fields.size && [...joined.fields].every(([name, field]) => a.fields.get(name) === field)
  return isSame ? { fields: a.fields, isCut: joined.isCut } : joined
}

function limitFields(fields: ReadonlyMap<string, Field>, isCut: boolean): Pick<ObjectShape, 'fields' | 'isCut'> {
  if (fields.size <= maxFields) return { fields, isCut }
  const names = [...fields.keys()].sort().slice(0, maxFields)
  return { fields: new Map(names.map((name) => [name, fields.get(name) as Field])), isCut: true }
}

function inside({ object, items }: Shape): readonly Shape[] {
  return [
    ...(object === undefined ? [] : [...object.fields.values()].map(({ shape }) => shape)),
    ...(object?.keyed === undefined ? [] : [object.keyed]),
    ...(items === undefined ? [] : [items]),
  ]
}

function levelsOf(shape: Shape): readonly number[] {
  const counts: number[] = []
  for (let level: readonly Shape[] = [shape]; level.length > 0; level = level.flatMap(inside)) counts.push(level.length)
  return counts
}

function withLevels(shape: Shape, levels: number): Shape {
  const { object, items, ...rest } = shape
  const isLast = levels <= 0
  return {
    ...rest,
    ...(object !== undefined && { object: isLast ? { fields: new Map(), isCut: true } : shallower(object, levels - 1) }),
    ...(items !== undefined && { items: isLast ? emptyShape : withLevels(items, levels - 1) }),
  }
}

function shallower({ fields, keyed, isCut }: ObjectShape, levels: number): ObjectShape {
  return {
    fields: new Map([...fields].map(([name, field]) => [name, { ...field, shape: withLevels(field.shape, levels) }])),
    isCut,
    ...(keyed !== undefined && { keyed: withLevels(keyed, levels) }),
  }
}
