import { isRecord } from '../../base/record.ts'
import type { JsonSchema } from '../../tool/tool.ts'
import {
  choicesOf,
  factsOf,
  guessedType,
  isFileText,
  isLongText,
  jsonField,
  namedTypes,
  orderedNames,
  type Place,
  titled,
} from './facts.ts'
import { branchLabel, distinct, type Field, type FieldFacts, type Shape } from './field.ts'
import { listOf, type ReadSchema, SchemaReader, type Trail, typesIn } from './reader.ts'

/** Makes the fields of one schema, once. */
export class FormMaker {
  readonly #schema: JsonSchema
  readonly #reader: SchemaReader
  readonly #deepest: number
  #left: number
  #isCut = false

  constructor(schema: JsonSchema, { fields, depth, steps }: { fields: number; depth: number; steps: number }) {
    this.#schema = schema
    this.#reader = new SchemaReader(schema, steps)
    this.#deepest = depth
    // The field around them all is not counted.
    this.#left = fields + 1
  }

  /** Whether something was left out or could not be shown in parts. */
  get isCut(): boolean {
    return this.#isCut || this.#reader.isPartial
  }

  root(): Field {
    const place: Place = { name: '', path: [], required: true, depth: 0, order: 0 }
    return this.#field(this.#schema, new Set([this.#schema]), place) ?? jsonField({}, place)
  }

  /** Undefined when the schema allows no value, or when the budget is used up. */
  #field(raw: unknown, trail: Trail, place: Place): Field | undefined {
    const read = this.#reader.read(raw, trail)
    if (read === undefined) return undefined
    if (this.#left-- <= 0) return this.#cut()
    if (!read.isCut && place.depth <= this.#deepest) return this.#whole(read, place)
    this.#cut()
    return jsonField(read.schema, place)
  }

  #cut(): undefined {
    this.#isCut = true
    return undefined
  }

  #whole(read: ReadSchema, place: Place): Field {
    const { schema } = read
    const facts = factsOf(schema, place)
    const values = 'const' in schema ? [schema.const] : listOf(schema.enum)
    if (values.length > 0) return this.#choice(values, schema, facts)
    const branches = [schema.anyOf, schema.oneOf].map(listOf).find((list) => list.length > 0)
    if (branches !== undefined) return this.#branched(branches, read, place, facts)
    return this.#typed(read, place, facts)
  }

  #choice(values: readonly unknown[], schema: JsonSchema, facts: FieldFacts): Field {
    if (!this.#reader.spend(values.length)) {
      this.#cut()
      return { ...facts, kind: 'json', ...namedTypes(schema) }
    }
    const choices = distinct(choicesOf(values, schema))
    return { ...facts, nullable: facts.nullable || values.includes(null), kind: 'choice', choices }
  }

  #branched(raws: readonly unknown[], read: ReadSchema, place: Place, facts: FieldFacts): Field {
    const { anyOf: _any, oneOf: _one, ...base } = read.schema
    // `anyOf: [{ required: ['a'] }, { required: ['b'] }]` says which go together; the shape is that of the schema around it.
    const isShaped = base.type !== undefined || base.properties !== undefined
    if (isShaped && raws.every((raw) => isRecord(raw) && !shaping.some((keyword) => keyword in raw))) {
      return this.#typed({ ...read, schema: base }, place, facts)
    }
    const around = unworded(base)
    const all = raws.flatMap((raw) => {
      const schema = isShaped && isRecord(raw) ? { allOf: [raw, around] } : raw
      return this.#field(schema, read.trail, deeper(place)) ?? []
    })
    const isNullable = facts.nullable || all.some((field) => field.nullable || isNull(field))
    return united(
      all.filter((field) => !isNull(field)),
      { ...facts, nullable: isNullable },
    )
  }

  #typed(read: ReadSchema, place: Place, facts: FieldFacts): Field {
    const types = typesIn(read.schema.type)
    const others = types.filter((type) => type !== 'null')
    const nullable = facts.nullable || (others.length > 0 && others.length < types.length)
    if (others.length > 1) {
      const around = unworded(read.schema)
      const all = others.flatMap((type) => this.#field({ ...around, type }, read.trail, deeper(place)) ?? [])
      return united(all, { ...facts, nullable })
    }
    return { ...facts, nullable, ...this.#shape(others[0] ?? types[0] ?? guessedType(read.schema), read, place) }
  }

  #shape(type: string | undefined, read: ReadSchema, place: Place): Shape {
    const { schema } = read
    switch (type) {
      case 'string':
        if (isFileText(schema)) return { kind: 'file' }
        return { kind: isLongText(place.name, schema) ? 'multiline' : 'text' }
      case 'number':
      case 'integer':
      case 'boolean':
        return { kind: type }
      case 'array':
        return this.#list(read, place)
      case 'object':
        return this.#object(read, place)
      default:
        return { kind: 'json', ...(type === undefined ? {} : { types: [type] }) }
    }
  }

  #list({ schema, trail }: ReadSchema, place: Place): Shape {
    const isTuple = Array.isArray(schema.items) || Array.isArray(schema.prefixItems)
    const item = isTuple ? undefined : this.#field(schema.items, trail, { ...within(place), name: '', path: place.path })
    if (item === undefined) return { kind: 'json', types: ['array'] }
    return item.kind === 'choice' ? { kind: 'multichoice', choices: item.choices } : { kind: 'list', item }
  }

  #object({ schema, trail }: ReadSchema, place: Place): Shape {
    const properties = isRecord(schema.properties) ? schema.properties : {}
    const names = orderedNames(schema, properties)
    if (!this.#reader.spend(names.length)) {
      this.#cut()
      return { kind: 'json', types: ['object'] }
    }
    const required = new Set(listOf(schema.required))
    const fields: Field[] = []
    for (const name of names) {
      const inner = { ...within(place), name, path: [...place.path, name], required: required.has(name), order: fields.length }
      const field = this.#field(properties[name], trail, inner)
      if (field !== undefined) fields.push(field)
      // Past the budget nothing more can come, and a schema may name millions.
      else if (this.#left < 0) break
    }
    const extra = this.#extra(schema, fields.length === 0, trail, place)
    return { kind: 'object', fields, ...(extra === undefined ? {} : { extra }) }
  }

  #extra(schema: JsonSchema, isEmpty: boolean, trail: Trail, place: Place): Field | undefined {
    const { additionalProperties, patternProperties } = schema
    const isForeseen = additionalProperties !== undefined || patternProperties !== undefined || isEmpty
    if (!isForeseen) return undefined
    const raw = patternProperties === undefined ? additionalProperties : true
    return this.#field(raw, trail, { ...within(place), name: '', path: place.path })
  }
}

const deeper = (place: Place): Place => ({ ...place, depth: place.depth + 1 })

const within = (place: Place): Place => ({ ...deeper(place), required: false, order: 0 })

/** Keywords that say what a value is; a branch without any of them only says what goes together. */
const shaping = ['$ref', 'allOf', 'anyOf', 'const', 'enum', 'items', 'oneOf', 'properties', 'type'] as const

/** A schema without the words that belong to the whole of it. */
function unworded({ title: _title, description: _description, default: _default, ...rest }: JsonSchema): JsonSchema {
  return rest
}

const isNull = (field: Field): boolean => {
  if (field.kind === 'choice') return field.choices.every(({ value }) => value === null)
  return field.kind === 'json' && field.types?.length === 1 && field.types[0] === 'null'
}

/** One field for several: the only one itself, named choices as one choice, anything else as a union. */
function united(all: readonly Field[], facts: FieldFacts): Field {
  const [only] = all
  if (only === undefined) return { ...facts, kind: 'json', types: ['null'] }
  if (all.length === 1) return withFacts(only, facts)
  const choices = all.flatMap((field) => (field.kind === 'choice' ? titled(field) : []))
  if (all.every((field) => field.kind === 'choice')) return { ...facts, kind: 'choice', choices: distinct(choices) }
  return { ...facts, kind: 'union', branches: all.map((field) => ({ label: branchLabel(field), field })) }
}

/** The only branch that is left, under the name and words of the field around it. */
function withFacts(only: Field, facts: FieldFacts): Field {
  const constraints = { ...only.constraints, ...facts.constraints }
  const { label: _label, ...outer } = facts
  const hasTitle = typeof facts.schema.title === 'string'
  return {
    ...only,
    ...outer,
    ...(hasTitle ? { label: facts.label } : {}),
    secret: only.secret || facts.secret,
    constraints,
    schema: only.schema,
  }
}
