import { isRecord } from '../../base/record.ts'
import type { JsonSchema } from '../../tool/tool.ts'
import { branchLabel, distinct, type Field, type FieldProperties, type Shape } from './field.ts'
import {
  choicesOf,
  type FieldLocation,
  fieldProperties,
  guessedType,
  isFileText,
  isLongText,
  jsonField,
  namedTypes,
  orderedNames,
  titledChoices,
} from './field-properties.ts'
import { listOf, type ReadSchema, SchemaReader, type Trail, typesIn } from './reader.ts'

/** Builds the fields of one schema. */
export class FormBuilder {
  readonly #schema: JsonSchema
  readonly #reader: SchemaReader
  readonly #maxDepth: number
  #left: number
  #isCut = false

  constructor(schema: JsonSchema, { fields, depth, steps }: { fields: number; depth: number; steps: number }) {
    this.#schema = schema
    this.#reader = new SchemaReader(schema, steps)
    this.#maxDepth = depth
    // The root field is not counted.
    this.#left = fields + 1
  }

  /** True if a part was omitted or became a JSON field. */
  get isCut(): boolean {
    return this.#isCut || this.#reader.isPartial
  }

  root(): Field {
    const location: FieldLocation = { name: '', path: [], required: true, depth: 0, order: 0 }
    return this.#field(this.#schema, new Set([this.#schema]), location) ?? jsonField({}, location)
  }

  /** `undefined` if the schema allows no value, or the budget is used up. */
  #field(raw: unknown, trail: Trail, location: FieldLocation): Field | undefined {
    const read = this.#reader.read(raw, trail)
    if (read === undefined) return undefined
    if (this.#left-- <= 0) return this.#cut()
    if (!read.isCut && location.depth <= this.#maxDepth) return this.#read(read, location)
    this.#cut()
    return jsonField(read.schema, location)
  }

  #cut(): undefined {
    this.#isCut = true
    return undefined
  }

  #read(read: ReadSchema, location: FieldLocation): Field {
    const { schema } = read
    const properties = fieldProperties(schema, location)
    const values = 'const' in schema ? [schema.const] : listOf(schema.enum)
    if (values.length > 0) return this.#choice(values, schema, properties)
    const branches = [schema.anyOf, schema.oneOf].map(listOf).find((list) => list.length > 0)
    if (branches !== undefined) return this.#branched(branches, read, location, properties)
    return this.#typed(read, location, properties)
  }

  #choice(values: readonly unknown[], schema: JsonSchema, properties: FieldProperties): Field {
    if (!this.#reader.spend(values.length)) {
      this.#cut()
      return { ...properties, kind: 'json', ...namedTypes(schema) }
    }
    const choices = distinct(choicesOf(values, schema))
    return { ...properties, nullable: properties.nullable || values.includes(null), kind: 'choice', choices }
  }

  #branched(raws: readonly unknown[], read: ReadSchema, location: FieldLocation, properties: FieldProperties): Field {
    const { anyOf: _any, oneOf: _one, ...base } = read.schema
    // `anyOf: [{ required: ['a'] }, { required: ['b'] }]` restricts combinations; the shape is that of the outer schema.
    const isShaped = base.type !== undefined || base.properties !== undefined
    if (isShaped && raws.every((raw) => isRecord(raw) && !shaping.some((keyword) => keyword in raw))) {
      return this.#typed({ ...read, schema: base }, location, properties)
    }
    const around = withoutAnnotations(base)
    const all = raws.flatMap((raw) => {
      const schema = isShaped && isRecord(raw) ? { allOf: [raw, around] } : raw
      return this.#field(schema, read.trail, deeper(location)) ?? []
    })
    const isNullable = properties.nullable || all.some((field) => field.nullable || isNull(field))
    return mergeFields(
      all.filter((field) => !isNull(field)),
      { ...properties, nullable: isNullable },
    )
  }

  #typed(read: ReadSchema, location: FieldLocation, properties: FieldProperties): Field {
    const types = typesIn(read.schema.type)
    const others = types.filter((type) => type !== 'null')
    const nullable = properties.nullable || (others.length > 0 && others.length < types.length)
    if (others.length > 1) {
      const around = withoutAnnotations(read.schema)
      const all = others.flatMap((type) => this.#field({ ...around, type }, read.trail, deeper(location)) ?? [])
      return mergeFields(all, { ...properties, nullable })
    }
    return { ...properties, nullable, ...this.#shape(others[0] ?? types[0] ?? guessedType(read.schema), read, location) }
  }

  #shape(type: string | undefined, read: ReadSchema, location: FieldLocation): Shape {
    const { schema } = read
    switch (type) {
      case 'string':
        if (isFileText(schema)) return { kind: 'file' }
        return { kind: isLongText(location.name, schema) ? 'multiline' : 'text' }
      case 'number':
      case 'integer':
      case 'boolean':
        return { kind: type }
      case 'array':
        return this.#list(read, location)
      case 'object':
        return this.#object(read, location)
      default:
        return { kind: 'json', ...(type === undefined ? {} : { types: [type] }) }
    }
  }

  #list({ schema, trail }: ReadSchema, location: FieldLocation): Shape {
    const isTuple = Array.isArray(schema.items) || Array.isArray(schema.prefixItems)
    const item = isTuple ? undefined : this.#field(schema.items, trail, { ...within(location), name: '', path: location.path })
    if (item === undefined) return { kind: 'json', types: ['array'] }
    return item.kind === 'choice' ? { kind: 'multichoice', choices: item.choices } : { kind: 'list', item }
  }

  #object({ schema, trail }: ReadSchema, location: FieldLocation): Shape {
    const properties = isRecord(schema.properties) ? schema.properties : {}
    const names = orderedNames(schema, properties)
    if (!this.#reader.spend(names.length)) {
      this.#cut()
      return { kind: 'json', types: ['object'] }
    }
    const required = new Set(listOf(schema.required))
    const fields: Field[] = []
    for (const name of names) {
      const inner = {
        ...within(location),
        name,
        path: [...location.path, name],
        required: required.has(name),
        order: fields.length,
      }
      const field = this.#field(properties[name], trail, inner)
      if (field !== undefined) fields.push(field)
      // The budget is used up, and a schema may have millions of properties.
      else if (this.#left < 0) break
    }
    const extra = this.#extra(schema, fields.length === 0, trail, location)
    return { kind: 'object', fields, ...(extra === undefined ? {} : { extra }) }
  }

  #extra(schema: JsonSchema, isEmpty: boolean, trail: Trail, location: FieldLocation): Field | undefined {
    const { additionalProperties, patternProperties } = schema
    const isForeseen = additionalProperties !== undefined || patternProperties !== undefined || isEmpty
    if (!isForeseen) return undefined
    const raw = patternProperties === undefined ? additionalProperties : true
    return this.#field(raw, trail, { ...within(location), name: '', path: location.path })
  }
}

const deeper = (location: FieldLocation): FieldLocation => ({ ...location, depth: location.depth + 1 })

const within = (location: FieldLocation): FieldLocation => ({ ...deeper(location), required: false, order: 0 })

/** Keywords that define the shape of a value. */
const shaping = ['$ref', 'allOf', 'anyOf', 'const', 'enum', 'items', 'oneOf', 'properties', 'type'] as const

function withoutAnnotations({ title: _title, description: _description, default: _default, ...rest }: JsonSchema): JsonSchema {
  return rest
}

const isNull = (field: Field): boolean => {
  if (field.kind === 'choice') return field.choices.every(({ value }) => value === null)
  return field.kind === 'json' && field.types?.length === 1 && field.types[0] === 'null'
}

/** Merges fields: a single one as it is, choices into one choice, anything else into a union. */
function mergeFields(all: readonly Field[], properties: FieldProperties): Field {
  const [only] = all
  if (only === undefined) return { ...properties, kind: 'json', types: ['null'] }
  if (all.length === 1) return withProperties(only, properties)
  const choices = all.flatMap((field) => (field.kind === 'choice' ? titledChoices(field) : []))
  if (all.every((field) => field.kind === 'choice')) return { ...properties, kind: 'choice', choices: distinct(choices) }
  return { ...properties, kind: 'union', branches: all.map((field) => ({ label: branchLabel(field), field })) }
}

/** Gives the only remaining branch the name and annotations of the outer field. */
function withProperties(only: Field, properties: FieldProperties): Field {
  const constraints = { ...only.constraints, ...properties.constraints }
  const { label: _label, ...outer } = properties
  const hasTitle = typeof properties.schema.title === 'string'
  return {
    ...only,
    ...outer,
    ...(hasTitle ? { label: properties.label } : {}),
    secret: only.secret || properties.secret,
    constraints,
    schema: only.schema,
  }
}
