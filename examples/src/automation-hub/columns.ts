import { ToolError } from '@unfold-mcp/server'
import { z } from 'zod'

export const nameSchema = z
  .string()
  .regex(/^[a-z]\w{0,39}$/iu, 'must be a letter followed by up to 39 letters, digits and underscores')

export const columnSchema = z.object({
  name: nameSchema,
  type: z.enum(['text', 'integer', 'real', 'boolean']),
  required: z.boolean().default(false).describe('Whether every row must have a value'),
})

export const valueSchema = z.union([z.string().max(10_000), z.number(), z.boolean(), z.null()])

export const tableSchema = z.object({
  name: nameSchema,
  columns: z.array(columnSchema),
  nextId: z.int().min(1),
  /** One value per column, in order. */
  rows: z.array(z.array(valueSchema)),
})

export type Column = z.infer<typeof columnSchema>
export type Value = z.infer<typeof valueSchema>
export type Table = z.infer<typeof tableSchema>

/** Returns the column with this name; the error lists the known ones. */
export function columnOf({ name: table, columns }: Table, name: string): Column {
  const found = columns.find((column) => column.name === name)
  if (found !== undefined) return found
  const known = columns.map((column) => `${column.name} (${column.type})`).join(', ')
  throw new ToolError(`Table "${table}" has no column "${name}". It has: ${known}.`)
}

export const positionOf = (table: Table, name: string): number => table.columns.indexOf(columnOf(table, name))

/** Returns the value if it fits the column. */
export function fitting(column: Column, value: Value): Value {
  if (value === null && column.required) throw new ToolError(`The column "${column.name}" is required. Provide a value.`)
  if (value === null || isOfType(column, value)) return value
  throw new ToolError(`${JSON.stringify(value)} does not fit the column "${column.name}", which holds ${column.type}.`)
}

export const isOfType = ({ type }: Column, value: Value): boolean => checks[type](value)

const checks: { readonly [type in Column['type']]: (value: Value) => boolean } = {
  text: (value) => typeof value === 'string',
  integer: (value) => Number.isInteger(value),
  real: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
}

/** Compares two values; null sorts first. */
export function compared(a: Value, b: Value): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? -1 : 1
  return a < b ? -1 : 1
}
