import { isRecord } from '../../base/record.ts'
import { truncate } from '../../base/truncate.ts'
import type { JsonSchema } from '../../tool/tool.ts'
import type { Choice, Constraints, Field, FieldProperties } from './field.ts'
import { listOf, typesIn } from './reader.ts'

export interface FieldLocation {
  readonly name: string
  readonly path: readonly string[]
  readonly required: boolean
  readonly depth: number
  readonly order: number
}

const maxLabelLength = 200
const maxDescriptionLength = 4_000

/** Returns the choices of an enumeration, labelled by `enumNames`. */
export function choicesOf(values: readonly unknown[], schema: JsonSchema): readonly Choice[] {
  const labels = listOf(schema.enumNames ?? schema['x-enumNames'])
  return values.map((value, index) => {
    const label = labels[index]
    return { value, label: truncate(typeof label === 'string' ? label : valueText(value), maxLabelLength) }
  })
}

/** Returns the choices of a branch; a single constant takes the title and description of its branch. */
export function titledChoices({
  choices,
  schema,
}: {
  readonly choices: readonly Choice[]
  readonly schema: JsonSchema
}): readonly Choice[] {
  const { title, description } = schema
  if (choices.length !== 1) return choices
  return choices.map((choice) => ({
    ...choice,
    ...(typeof title === 'string' ? { label: truncate(title, maxLabelLength) } : {}),
    ...(typeof description === 'string' ? { description: truncate(description, maxDescriptionLength) } : {}),
  }))
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null'))

/** Returns the properties that every kind of field has. */
export function fieldProperties(schema: JsonSchema, { name, path, required, order }: FieldLocation): FieldProperties {
  const { title, description } = schema
  return {
    name,
    path,
    label: truncate(typeof title === 'string' ? title : name, maxLabelLength),
    ...(typeof description === 'string' ? { description: truncate(description, maxDescriptionLength) } : {}),
    required,
    nullable: schema.nullable === true,
    secret: typesIn(schema.type).includes('string') && isSecret(name, schema),
    order,
    ...('default' in schema ? { default: schema.default } : {}),
    constraints: constraintsOf(schema),
    schema,
  }
}

/** Creates a field that is edited as JSON. */
export const jsonField = (schema: JsonSchema, location: FieldLocation): Field => ({
  ...fieldProperties(schema, location),
  kind: 'json',
  ...namedTypes(schema),
})

export function namedTypes({ type }: JsonSchema): { readonly types?: readonly string[] } {
  const types = typesIn(type)
  return types.length === 0 ? {} : { types }
}

/** Infers the type of a schema without `type`. */
export function guessedType(schema: JsonSchema): string | undefined {
  if (isRecord(schema.properties) || isRecord(schema.additionalProperties)) return 'object'
  return schema.items === undefined && schema.prefixItems === undefined ? undefined : 'array'
}

const limits = ['multipleOf', 'minLength', 'maxLength', 'minItems', 'maxItems', 'exclusiveMinimum', 'exclusiveMaximum'] as const

function constraintsOf(schema: JsonSchema): Constraints {
  const { minimum, maximum, pattern, format, uniqueItems } = schema
  // Draft 4: `exclusiveMinimum: true` next to `minimum`.
  const low = schema.exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum'
  const high = schema.exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum'
  return {
    ...Object.fromEntries(limits.flatMap((name) => (typeof schema[name] === 'number' ? [[name, schema[name]]] : []))),
    ...(typeof minimum === 'number' ? { [low]: minimum } : {}),
    ...(typeof maximum === 'number' ? { [high]: maximum } : {}),
    ...(typeof pattern === 'string' ? { pattern } : {}),
    ...(typeof format === 'string' ? { format: truncate(format, maxLabelLength) } : {}),
    ...(uniqueItems === true ? { uniqueItems } : {}),
  }
}

/** Sorts names by `x-order` (a list on the object, or a number on each property); others keep their order. */
export function orderedNames(schema: JsonSchema, properties: JsonSchema): readonly string[] {
  const names = Object.keys(properties)
  const listed = new Map(listOf(schema['x-order']).map((name, index) => [name, index]))
  const placeOf = (name: string): number => {
    const inner = properties[name]
    const own = isRecord(inner) ? inner['x-order'] : undefined
    return listed.get(name) ?? (typeof own === 'number' && !Number.isNaN(own) ? own : Number.POSITIVE_INFINITY)
  }
  const places = new Map(names.map((name) => [name, placeOf(name)]))
  const before = (a: string, b: string): number => {
    const [first = 0, second = 0] = [places.get(a), places.get(b)]
    return first === second ? 0 : first - second
  }
  return names.sort(before)
}

// Matches words, so that `apiKey`, `api_key` and `API-KEY` are equal, and `max_tokens` is not a token.
const secretWords =
  /(?:^|_)(?:password|passwd|passphrase|secret|token|api_?key|private_key|access_key|secret_key|credentials?|pin_code|otp)$/u
// Pagination tokens are not secret.
const placeWords = /(?:^|_)(?:page|next|continuation|sync|cursor)_token$/u

function isSecret(name: string, { format, writeOnly }: JsonSchema): boolean {
  if (format === 'password' || writeOnly === true) return true
  const words = asWords(name)
  return secretWords.test(words) && !placeWords.test(words)
}

const longTextNames = new Set(['body', 'comment', 'content', 'description', 'markdown', 'message', 'notes', 'prompt', 'text'])
const longTextFormats = new Set(['html', 'markdown', 'multiline', 'textarea'])
// Longer texts get a multi-line field.
const longText = 500

export function isLongText(name: string, { format, maxLength, contentMediaType, enum: values }: JsonSchema): boolean {
  if (values !== undefined) return false
  if (typeof format === 'string') return longTextFormats.has(format)
  if (typeof contentMediaType === 'string') return contentMediaType.startsWith('text/')
  if (typeof maxLength === 'number') return maxLength > longText
  return longTextNames.has(asWords(name))
}

const fileFormats = new Set(['binary', 'byte'])

export function isFileText({ format, contentEncoding }: JsonSchema): boolean {
  return (typeof format === 'string' && fileFormats.has(format)) || contentEncoding === 'base64'
}

const asWords = (name: string): string =>
  name
    .slice(0, 200)
    .replaceAll(/([a-z0-9])([A-Z])/gu, '$1_$2')
    .replaceAll(/[\s.-]/gu, '_')
    .toLowerCase()
