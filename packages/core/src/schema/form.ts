import type { JsonSchema } from '../tool/tool.ts'
import { FormBuilder } from './form/builder.ts'
import { type Field, fieldsIn } from './form/field.ts'

export { type Branch, type Choice, type Constraints, type Field, type FieldKind, fieldsIn } from './form/field.ts'

/** Input form of a schema. */
export interface Form {
  readonly root: Field
  /** Top-level fields in order; for a union, the fields of all branches. */
  readonly fields: readonly Field[]
  /** A part was too deep, too large, circular or unreadable, and became a `json` field or was omitted. */
  readonly isCut: boolean
}

/** Limits for reading an untrusted schema. */
export interface FormBudget {
  readonly fields?: number
  readonly depth?: number
  readonly steps?: number
}

/** Creates the form of a schema within a budget; unsupported parts become `json` fields. */
export function formOf(schema: JsonSchema, budget: FormBudget = {}): Form {
  const builder = new FormBuilder(schema, { ...defaultBudget, ...budget })
  const root = builder.root()
  return { root, fields: fieldsIn(root), isCut: builder.isCut }
}

const defaultBudget = { fields: 20_000, depth: 16, steps: 500_000 }
