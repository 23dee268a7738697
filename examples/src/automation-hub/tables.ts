import { ToolError } from '@unfold-mcp/server'
import { z } from 'zod'
import { type Column, columnOf, compared, fitting, positionOf, type Table, tableSchema, type Value } from './columns.ts'
import { matches, type Where } from './where.ts'

/** Content of the database, as written to disk. */
export const databaseSchema = z.object({ tables: z.array(tableSchema) })

export type Database = z.infer<typeof databaseSchema>
export type Row = { readonly [column: string]: Value }

/** The changed database, and the result for the caller. */
export interface Changed<T> {
  readonly next: Database
  readonly result: T
}

export const emptyDatabase: Database = { tables: [] }

const maxTables = 50
const maxRows = 10_000
const idColumn: Column = { name: 'id', type: 'integer', required: true }

/** Adds a table; its rows get an `id`. */
export function withTable(database: Database, name: string, columns: readonly Column[]): Changed<string> {
  if (database.tables.some((table) => table.name === name)) {
    throw new ToolError(`Table "${name}" already exists. Insert into it, or choose another name.`)
  }
  if (database.tables.length >= maxTables)
    throw new ToolError(`The limit of ${maxTables} tables is reached. Use an existing table.`)
  const names = [idColumn, ...columns].map((column) => column.name)
  const duplicate = names.find((each, index) => names.indexOf(each) !== index)
  if (duplicate === 'id') throw new ToolError('Every table already has a column "id". Omit it.')
  if (duplicate !== undefined) throw new ToolError(`Duplicate column "${duplicate}". Rename one.`)
  const table: Table = { name, columns: [idColumn, ...columns], nextId: 1, rows: [] }
  return { next: { tables: [...database.tables, table] }, result: `Made table ${name}: ${names.join(', ')}.` }
}

/** Inserts rows and returns their ids. */
export function withRows(database: Database, name: string, rows: readonly Row[]): Changed<{ ids: number[] }> {
  const table = tableOf(database, name)
  const { nextId, columns } = table
  if (table.rows.length + rows.length > maxRows) {
    throw new ToolError(`Table "${name}" has ${table.rows.length} rows (limit: ${maxRows}). Use another table.`)
  }
  const made = rows.map((row, index) => {
    for (const column of Object.keys(row)) settable(table, column)
    const given = new Map(Object.entries(row)).set('id', nextId + index)
    return columns.map((column) => fitting(column, given.get(column.name) ?? null))
  })
  const next = replaced(database, { ...table, nextId: nextId + rows.length, rows: [...table.rows, ...made] })
  return { next, result: { ids: rows.map((_, index) => nextId + index) } }
}

/** Updates all matching rows and returns their number. */
export function withUpdate(
  database: Database,
  { table: name, set, where }: { table: string; set: Row; where: Where },
): Changed<{ updated: number }> {
  const table = tableOf(database, name)
  const changes = new Map(
    Object.entries(set).map(([column, value]) => [positionOf(table, column), fitting(settable(table, column), value)]),
  )
  const chosen = matches(table, where)
  const rows = table.rows.map((row) =>
    chosen(row) ? row.map((value, at) => (changes.has(at) ? (changes.get(at) ?? null) : value)) : row,
  )
  const updated = rows.filter((row, index) => row !== table.rows[index]).length
  return { next: replaced(database, { ...table, rows }), result: { updated } }
}

export interface Query {
  readonly table: string
  readonly columns?: readonly string[] | undefined
  readonly where: Where
  readonly orderBy?: string | undefined
  readonly descending: boolean
  readonly limit: number
}

/** Returns the matching rows, and their number without the limit. */
export function queried(database: Database, query: Query): { rows: Row[]; total: number } {
  const table = tableOf(database, query.table)
  const shown = (query.columns ?? table.columns.map((column) => column.name)).map(
    (name) => [name, positionOf(table, name)] as const,
  )
  const found = table.rows.filter(matches(table, query.where))
  if (query.orderBy !== undefined) {
    const at = positionOf(table, query.orderBy)
    found.sort((a, b) => (query.descending ? -1 : 1) * compared(a[at] ?? null, b[at] ?? null))
  }
  const rows = found.slice(0, query.limit).map((row) => Object.fromEntries(shown.map(([name, at]) => [name, row[at] ?? null])))
  return { rows, total: found.length }
}

function tableOf({ tables }: Database, name: string): Table {
  const found = tables.find((table) => table.name === name)
  if (found !== undefined) return found
  const known = tables.map((table) => table.name).join(', ')
  throw new ToolError(`Unknown table "${name}". ${known === '' ? 'Create one with create_table.' : `Tables: ${known}.`}`)
}

function settable(table: Table, name: string): Column {
  if (name === 'id') throw new ToolError('The database assigns the column "id". Omit it.')
  return columnOf(table, name)
}

const replaced = ({ tables }: Database, table: Table): Database => ({
  tables: tables.map((each) => (each.name === table.name ? table : each)),
})
