import type { JsonSchema } from '../tool/tool.ts'
import { FormBuilder } from './form/builder.ts'
import { type Field, fieldsIn } from './form/field.ts'

export { type Branch, type Choice, type Constraints, type Field, type FieldKind, fieldsIn } from './form/field.ts'

/** What there is to fill in for a schema. */
export interface Form {
  readonly root: Field
  /** The top fields in order; for a schema of several shapes, the fields of all of them. */
  readonly fields: readonly Field[]
  /** Whether a part was too deep, too large, circular or unreadable and is a `json` field, or left out past the limit. */
  readonly isCut: boolean
}

/** How much of a schema is read: schemas come from strangers. */
export interface FormBudget {
  readonly fields?: number
  readonly depth?: number
  readonly steps?: number
}

/** The form for a schema. Pure, bounded by its budget, and total: what it does not understand becomes a `json` field. */
export function formOf(schema: JsonSchema, budget: FormBudget = {}): Form {
  const builder = new FormBuilder(schema, { ...defaultBudget, ...budget })
  const root = builder.root()
  return { root, fields: fieldsIn(root), isCut: builder.isCut }
}

const defaultBudget = { fields: 20_000, depth: 16, steps: 500_000 }
