import { ToolError } from '@unfold-mcp/server'
import { z } from 'zod'
import { type Column, columnOf, compared, isOfType, positionOf, type Table, type Value, valueSchema } from './columns.ts'

const operators = ['=', '!=', '<', '<=', '>', '>=', 'contains', 'in'] as const

const conditionSchema = z.object({
  column: z.string(),
  op: z.enum(operators),
  value: z.union([valueSchema, z.array(valueSchema).max(100)]).describe('Of the column’s type; a list of them for "in"'),
})

/** Conditions, all of which must match. */
export const whereSchema = z.array(conditionSchema).max(20).describe('Conditions that must all hold')

type Condition = z.infer<typeof conditionSchema>
type Operator = Condition['op']

export type Where = readonly Condition[]

/** Returns whether a row matches every condition. Throws for a condition that no row of this table can match. */
export function matches(table: Table, where: Where): (row: readonly Value[]) => boolean {
  const tests = where.map((condition) => {
    const at = positionOf(table, condition.column)
    const test = testOf(columnOf(table, condition.column), condition)
    return (row: readonly Value[]) => test(row[at] ?? null)
  })
  return (row) => tests.every((test) => test(row))
}

function testOf(column: Column, { op, value }: Condition): (found: Value) => boolean {
  if (op === 'in') {
    if (!Array.isArray(value)) throw new ToolError(`"in" compares "${column.name}" with a list. Put the values in [ ].`)
    for (const each of value) check(column, op, each)
    return (found) => value.includes(found)
  }
  if (Array.isArray(value)) throw new ToolError(`"${op}" compares "${column.name}" with one value. Use "in" for a list.`)
  check(column, op, value)
  if (op === 'contains') return (found) => typeof found === 'string' && found.toLowerCase().includes(String(value).toLowerCase())
  return (found) => (op === '=' || op === '!=' || found !== null) && holds[op](compared(found, value))
}

function check(column: Column, op: Operator, value: Value): void {
  if (op === 'contains' && column.type !== 'text')
    throw new ToolError(`"contains" works on text, but "${column.name}" is ${column.type}.`)
  if (value === null && (op === '=' || op === '!=' || op === 'in')) return
  if (value === null)
    throw new ToolError(`"${op}" needs a value. To find rows without one in "${column.name}", use "=" with null.`)
  const given = column.type === 'integer' && typeof value === 'number' ? Math.trunc(value) : value
  if (!isOfType(column, given)) throw new ToolError(`"${column.name}" is ${column.type}; ${JSON.stringify(value)} is not.`)
}

const holds: { readonly [op in Exclude<Operator, 'in' | 'contains'>]: (order: number) => boolean } = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
}
