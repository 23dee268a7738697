import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineToolbox, type Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'

const toolRow = z.object({
  server: z.string().nullish(),
  name: z.string(),
  description: z.string().nullish(),
  inputSchema: z.record(z.string(), z.unknown()).nullish(),
})

type ToolRow = z.infer<typeof toolRow>

/** A realistic catalogue with queries. */
export interface Catalogue {
  readonly name: string
  readonly toolbox: Toolbox
  readonly tools: number
  /** Servers of the tools; absent if many tools have no server. */
  readonly servers: readonly string[]
  readonly queries: readonly string[]
}

interface Rows {
  readonly name: string
  readonly rows: readonly ToolRow[]
  readonly queries: readonly string[]
}

const queryCount = 50
const maxTools = 5_000

/** Reads the catalogues in a folder, smallest first; the largest are reduced to some servers, because compiling their schemas takes minutes. */
export function cataloguesIn(folder: string, names: readonly string[]): readonly Catalogue[] {
  if (!existsSync(folder)) return []
  const present = readdirSync(folder)
  const sets = names.filter((name) => present.includes(`${name}.tools.json`)).map((name) => rowsOf(folder, name))
  const live = sets.find(({ name }) => name === 'livemcp')
  return [...(live === undefined ? [] : partsOf(live)), ...sets].map(catalogueOf).sort((a, b) => a.tools - b.tools)
}

function rowsOf(folder: string, name: string): Rows {
  const rows = z.array(toolRow).parse(JSON.parse(readFileSync(join(folder, `${name}.tools.json`), 'utf8')))
  const asked = join(folder, `${name}.queries.json`)
  const queries = existsSync(asked)
    ? z
        .array(z.object({ query: z.string() }))
        .parse(JSON.parse(readFileSync(asked, 'utf8')))
        .map(({ query }) => query)
    : []
  const kept = rows.length <= maxTools ? rows : wholeServers(rows)
  return { name: kept.length === rows.length ? name : `${name}, a part`, rows: kept, queries }
}

/** Selects servers evenly from the catalogue until there are enough tools. */
function wholeServers(rows: readonly ToolRow[]): readonly ToolRow[] {
  const servers = byServer(rows)
  const step = Math.ceil(rows.length / maxTools)
  return servers.filter((_, index) => index % step === 0).flat()
}

function byServer(rows: readonly ToolRow[]): readonly ToolRow[][] {
  const found = new Map<string, ToolRow[]>()
  for (const row of rows) {
    const known = found.get(serverOf(row))
    if (known === undefined) found.set(serverOf(row), [row])
    else known.push(row)
  }
  return [...found.values()]
}

/** Typical setups of one user: a medium-sized server, and seven servers of all sizes. */
function partsOf({ rows }: Rows): readonly Rows[] {
  const servers = byServer(rows).toSorted((a, b) => a.length - b.length)
  const middle = servers[Math.floor(servers.length / 2)] ?? []
  const seven = spread(servers, 7).flat()
  return [
    { name: '1 server of livemcp', rows: middle, queries: [] },
    { name: '7 servers of livemcp', rows: seven, queries: [] },
  ]
}

function catalogueOf({ name, rows, queries }: Rows): Catalogue {
  const servers = [...new Set(rows.map(serverOf))].filter((server) => server !== '')
  const toolbox = defineToolbox<string>({
    name: 'catalogue',
    version: '1.0.0',
    groups: Object.fromEntries(servers.map((server) => [server, { description: server }])),
    report: () => undefined,
  })
  const taken = new Set<string>()
  for (const row of rows) {
    const server = serverOf(row)
    const config = { description: row.description ?? '', ...(server !== '' && { group: server }) }
    const tool = uniqueName(row, taken)
    const input = { ...row.inputSchema, type: 'object' } as const
    try {
      toolbox.tool(tool, { ...config, inputSchema: input }, () => 'done')
    } catch {
      // An invalid published schema still costs tokens, so its text is kept in an ignored keyword.
      toolbox.tool(tool, { ...config, inputSchema: { type: 'object', description: JSON.stringify(input) } }, () => 'done')
    }
  }
  const alone = rows.filter((row) => serverOf(row) === '').length
  const isGrouped = alone < rows.length / 10
  return {
    name,
    toolbox,
    tools: rows.length,
    servers: isGrouped ? servers : [],
    queries: spread(queries.length > 0 ? queries : wordsOf(rows), queryCount),
  }
}

/** Returns a query for a tool: its server and the words of its name. */
const wordsOf = (rows: readonly ToolRow[]): readonly string[] =>
  rows.map((row) => `${serverOf(row)} ${row.name}`.replaceAll(/[_.-]+|(?<=[a-z])(?=[A-Z])/gu, ' ').trim())

function uniqueName(row: ToolRow, taken: Set<string>): string {
  const plain = row.name.replaceAll(/[^\w.-]+/gu, '_').slice(0, 100)
  const long = `${serverOf(row)}_${plain}`.slice(-120)
  let name = taken.has(plain) ? long : plain
  for (let again = 2; taken.has(name); again++) name = `${long}_${again}`
  taken.add(name)
  return name
}

const serverOf = ({ server }: ToolRow): string => (server ?? '').replaceAll(/[^\w.-]+/gu, '_').slice(0, 100)

/** Returns at most `count` items, evenly spread. */
export function spread<T>(all: readonly T[], count: number): readonly T[] {
  if (all.length <= count) return all
  return Array.from({ length: count }, (_, index) => all[Math.floor(((index + 0.5) * all.length) / count)] as T)
}
