import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import { columnSchema, nameSchema, valueSchema } from './columns.ts'
import type { DatabaseFile } from './database-file.ts'
import { queried, withRows, withTable, withUpdate } from './tables.ts'
import { whereSchema } from './where.ts'

const tableSchema = z.string().describe('The table’s name')
const rowSchema = z.record(z.string(), valueSchema)

export function addDatabaseTools(hub: Toolbox<'database'>, database: DatabaseFile): void {
  hub.tool(
    'create_table',
    {
      group: 'database',
      about: 'Make a table. Every row gets an id by itself.',
      input: z.object({ table: nameSchema, columns: z.array(columnSchema).min(1).max(50) }),
      destructive: false,
      openWorld: false,
    },
    ({ table, columns }) => database.change((before) => withTable(before, table, columns)),
  )

  hub.tool(
    'insert',
    {
      group: 'database',
      about: 'Add rows to a table.',
      input: z.object({
        table: tableSchema,
        rows: z.array(rowSchema).min(1).max(500).describe('Each an object with a value a column'),
      }),
      output: z.object({ ids: z.array(z.int()) }),
      destructive: false,
      openWorld: false,
    },
    ({ table, rows }) => database.change((before) => withRows(before, table, rows)),
  )

  hub.tool(
    'query',
    {
      group: 'database',
      about: 'Find rows of a table.',
      input: z.object({
        table: tableSchema,
        columns: z.array(z.string()).min(1).optional().describe('All when left out'),
        where: whereSchema.default([]),
        orderBy: z.string().optional(),
        descending: z.boolean().default(false),
        limit: z.int().min(1).max(500).default(50),
      }),
      output: z.object({ rows: z.array(rowSchema), total: z.int().describe('How many match without the limit') }),
      readOnly: true,
      openWorld: false,
    },
    async (query) => queried(await database.read(), query),
  )

  hub.tool(
    'update',
    {
      group: 'database',
      about: 'Change values in the rows that match. For every row, use the condition id > 0.',
      input: z.object({
        table: tableSchema,
        set: rowSchema.refine((set) => Object.keys(set).length > 0, 'must name a column'),
        where: whereSchema.min(1),
      }),
      output: z.object({ updated: z.int() }),
      destructive: true,
      idempotent: true,
      openWorld: false,
    },
    (change) => database.change((before) => withUpdate(before, change)),
  )
}
