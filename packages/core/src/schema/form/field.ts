import type { JsonSchema } from '../../tool/tool.ts'

/** One value that may be chosen, and how to call it. */
export interface Choice {
  readonly value: unknown
  readonly label: string
  readonly description?: string
}

/** One of several shapes that a value may have. */
export interface Branch {
  readonly label: string
  readonly field: Field
}

/** What a value must keep to. `pattern` is the text of an untrusted expression: run it under a limit of time or not at all. */
export interface Constraints {
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
}

/** What every field says of itself, whatever its kind. */
export interface FieldProperties {
  /** The property's own name; empty for an item of a list and for a branch. */
  readonly name: string
  /** The properties on the way from the top; an item of a list has the path of its list. */
  readonly path: readonly string[]
  readonly label: string
  readonly description?: string
  readonly required: boolean
  /** Whether null is allowed too. */
  readonly nullable: boolean
  /** Whether the text should be hidden while it is typed. */
  readonly secret: boolean
  /** The place among the fields beside it. */
  readonly order: number
  /** Present when the schema has one, even when it is null. */
  readonly default?: unknown
  readonly constraints: Constraints
  /** The schema the field was made from, with references followed on this level. */
  readonly schema: JsonSchema
}

/** What a field asks for. */
export type Shape =
  | { readonly kind: 'text' | 'multiline' | 'file' | 'number' | 'integer' | 'boolean' }
  | { readonly kind: 'choice'; readonly choices: readonly Choice[] }
  | { readonly kind: 'multichoice'; readonly choices: readonly Choice[] }
  | { readonly kind: 'list'; readonly item: Field }
  /** `extra` is what a property of any other name must be; without it, other names are not foreseen. */
  | { readonly kind: 'object'; readonly fields: readonly Field[]; readonly extra?: Field }
  | { readonly kind: 'union'; readonly branches: readonly Branch[] }
  /** What a form cannot show in parts. `types` are the JSON types allowed; without it, any. */
  | { readonly kind: 'json'; readonly types?: readonly string[] }

/** One thing to fill in. */
export type Field = FieldProperties & Shape

export type FieldKind = Field['kind']

/** The fields inside a field: those of an object; of a union of objects, those of every branch, with the same names made one. */
export function fieldsIn(field: Field): readonly Field[] {
  if (field.kind === 'object') return field.fields
  if (field.kind !== 'union') return []
  const objects = field.branches.map((branch) => fieldsIn(branch.field))
  const byName = new Map<string, [Field, ...Field[]]>()
  for (const inner of objects.flat()) {
    const same = byName.get(inner.name)
    if (same === undefined) byName.set(inner.name, [inner])
    else same.push(inner)
  }
  return Array.from(byName.values(), (same, order) => ({
    ...mergeNamesakes(same),
    required: same.length === objects.length && same.every(({ required }) => required),
    order,
  }))
}

/** Fields of one name from several branches as one field, which asks no more than each of them. */
function mergeNamesakes(same: readonly [Field, ...Field[]]): Field {
  const [first] = same
  if (same.length === 1) return first
  if (plainKinds.has(first.kind) && same.every((field) => field.kind === first.kind)) return { ...first, constraints: {} }
  const choices = same.flatMap((field) => (field.kind === 'choice' ? field.choices : []))
  if (same.every((field) => field.kind === 'choice')) return { ...first, kind: 'choice', choices: distinct(choices) }
  return { ...first, kind: 'union', branches: same.flatMap(branchesOf) }
}

const plainKinds = new Set<FieldKind>(['text', 'multiline', 'file', 'number', 'integer', 'boolean'])

const branchesOf = (field: Field): readonly Branch[] =>
  field.kind === 'union' ? field.branches : [{ label: branchLabel(field), field }]

/** Choices without those whose value was there before. */
export function distinct(choices: readonly Choice[]): readonly Choice[] {
  const seen = new Set<unknown>()
  return choices.filter(({ value }) => !seen.has(value) && seen.add(value))
}

/** A branch by its title, by the constant that marks it, or by its kind. */
export function branchLabel(field: Field): string {
  if (typeof field.schema.title === 'string') return field.label
  const marks = fieldsIn(field).flatMap((inner) => (inner.kind === 'choice' && inner.choices.length === 1 ? inner.choices : []))
  if (marks[0] !== undefined) return marks[0].label
  return field.kind === 'list' ? `list of ${branchLabel(field.item)}` : field.kind
}
