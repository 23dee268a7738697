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
      description: 'Make a table. Every row gets an id by itself.',
      inputSchema: z.object({ table: nameSchema, columns: z.array(columnSchema).min(1).max(50) }),
      destructive: false,
      openWorld: false,
    },
    ({ table, columns }) => database.change((before) => withTable(before, table, columns)),
  )

  hub.tool(
    'insert',
    {
      group: 'database',
      description: 'Add rows to a table.',
      inputSchema: z.object({
        table: tableSchema,
        rows: z.array(rowSchema).min(1).max(500).describe('Each an object with a value a column'),
      }),
      outputSchema: z.object({ ids: z.array(z.int()) }),
      destructive: false,
      openWorld: false,
    },
    ({ table, rows }) => database.change((before) => withRows(before, table, rows)),
  )

  hub.tool(
    'query',
    {
      group: 'database',
      description: 'Find rows of a table.',
      inputSchema: z.object({
        table: tableSchema,
        columns: z.array(z.string()).min(1).optional().describe('All when left out'),
        where: whereSchema.default([]),
        orderBy: z.string().optional(),
        descending: z.boolean().default(false),
        limit: z.int().min(1).max(500).default(50),
      }),
      outputSchema: z.object({ rows: z.array(rowSchema), total: z.int().describe('How many match without the limit') }),
      readOnly: true,
      openWorld: false,
    },
    async (query) => queried(await database.read(), query),
  )

  hub.tool(
    'update',
    {
      group: 'database',
      description: 'Change values in the rows that match. For every row, use the condition id > 0.',
      inputSchema: z.object({
        table: tableSchema,
        set: rowSchema.refine((set) => Object.keys(set).length > 0, 'must name a column'),
        where: whereSchema.min(1),
      }),
      outputSchema: z.object({ updated: z.int() }),
      destructive: true,
      idempotent: true,
      openWorld: false,
    },
    (change) => database.change((before) => withUpdate(before, change)),
  )
}
