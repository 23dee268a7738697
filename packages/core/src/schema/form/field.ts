import type { JsonSchema } from '../../tool/tool.ts'

/** Value with its label. */
export interface Choice {
  readonly value: unknown
  readonly label: string
  readonly description?: string
}

/** Alternative shape of a value. */
export interface Branch {
  readonly label: string
  readonly field: Field
}

/** Constraints of a value. `pattern` is untrusted: run it with a timeout or not at all. */
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

/** Properties of every kind of field. */
export interface FieldProperties {
  /** Name of the property; empty for a list item and for a branch. */
  readonly name: string
  /** Path from the root; a list item has the path of its list. */
  readonly path: readonly string[]
  readonly label: string
  readonly description?: string
  readonly required: boolean
  /** Null is allowed. */
  readonly nullable: boolean
  /** Hide the input. */
  readonly secret: boolean
  /** Position among its siblings. */
  readonly order: number
  /** Present if the schema has a default, even null. */
  readonly default?: unknown
  readonly constraints: Constraints
  /** Source schema, with references resolved on this level. */
  readonly schema: JsonSchema
}

/** Kind of input. */
export type Shape =
  | { readonly kind: 'text' | 'multiline' | 'file' | 'number' | 'integer' | 'boolean' }
  | { readonly kind: 'choice'; readonly choices: readonly Choice[] }
  | { readonly kind: 'multichoice'; readonly choices: readonly Choice[] }
  | { readonly kind: 'list'; readonly item: Field }
  /** `extra`: schema of additional properties, if they are expected. */
  | { readonly kind: 'object'; readonly fields: readonly Field[]; readonly extra?: Field }
  | { readonly kind: 'union'; readonly branches: readonly Branch[] }
  /** Edited as JSON. `types` are the allowed JSON types; without it, any. */
  | { readonly kind: 'json'; readonly types?: readonly string[] }

/** Field of a form. */
export type Field = FieldProperties & Shape

export type FieldKind = Field['kind']

/** Returns the fields of an object, or the merged fields of all branches of a union. */
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

/** Merges fields of the same name from several branches into the least restrictive one. */
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

export function distinct(choices: readonly Choice[]): readonly Choice[] {
  const seen = new Set<unknown>()
  return choices.filter(({ value }) => !seen.has(value) && seen.add(value))
}

/** Labels a branch by its title, its discriminator constant, or its kind. */
export function branchLabel(field: Field): string {
  if (typeof field.schema.title === 'string') return field.label
  const marks = fieldsIn(field).flatMap((inner) => (inner.kind === 'choice' && inner.choices.length === 1 ? inner.choices : []))
  if (marks[0] !== undefined) return marks[0].label
  return field.kind === 'list' ? `list of ${branchLabel(field.item)}` : field.kind
}
