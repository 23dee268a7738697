import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Connection, connect } from '@unfold-mcp/client'
import { startGateway } from '@unfold-mcp/gateway'
import { noteFiles } from './workflows/real.ts'

/** A gateway with our servers and servers from npm, and the files that they read. */
export interface Stage extends AsyncDisposable {
  readonly folder: string
  readonly client: (exposure: string) => Promise<Connection>
}

const require = createRequire(import.meta.url)
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const fromNpm = (name: string): string => require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`)
const node = (...args: readonly string[]) => ({ command: process.execPath, args })

export async function openStage(): Promise<Stage> {
  const home = await mkdtemp(join(tmpdir(), 'unfold-code-'))
  const folder = join(home, 'files')
  await writeFiles(folder)
  const file = join(home, 'unfold.json')
  const mcpServers = {
    office: node(here('servers/office.js')),
    devops: node(here('../../../examples/dist/devops-hub/main.js')),
    catalog: node(here('../../../examples/dist/big-catalog/main.js')),
    files: node(fromNpm('filesystem'), folder),
    memory: { ...node(fromNpm('memory')), env: { MEMORY_FILE_PATH: join(home, 'memory.jsonl') } },
    everything: node(fromNpm('everything')),
  }
  await writeFile(join(home, 'memory.jsonl'), graph())
  await writeFile(file, JSON.stringify({ mcpServers, limits: { callsPerMinute: 1_000_000 } }))
  const silent = () => undefined
  const log = { debug: silent, info: silent, warn: silent, error: (_: object, message: string) => console.error(message) }
  const running = await startGateway({ file, environment: {}, home, log, port: 0 })
  const { url = '' } = running
  const client: Stage['client'] = (exposure) => connect({ url: `${url}?exposure=${exposure}` }, { elicit: async () => confirmed })
  await listed(client, Object.keys(mcpServers))
  return {
    folder,
    client,
    async [Symbol.asyncDispose]() {
      await running.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

const longestStartMs = 60_000

/** Waits until the tools of all servers are listed. */
async function listed(client: Stage['client'], servers: readonly string[]): Promise<void> {
  const deadline = Date.now() + longestStartMs
  for (;;) {
    await using whole = await client('everything')
    const tools = await whole.tools()
    const missing = servers.filter((server) => !tools.some(({ name }) => name.startsWith(`${server}__`)))
    if (missing.length === 0) return
    if (Date.now() > deadline) throw new Error(`No tools of ${missing.join(', ')} after ${longestStartMs / 1000} s.`)
    await pause(200)
  }
}

// A person who approves: the cost of confirmations in tokens is zero, since the model does not see them.
const confirmed = { action: 'accept', content: { decision: 'Run these calls' } } as const

async function writeFiles(folder: string): Promise<void> {
  const notes = join(folder, 'notes')
  await mkdir(notes, { recursive: true })
  const write = (path: string, lines: readonly string[]): Promise<void> => writeFile(path, `${lines.join('\n')}\n`)
  const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)
  for (const [index, name] of noteFiles.entries()) {
    const line = (row: number): string =>
      row % (index + 4) === 0 ? `TODO: check step ${row} of the plan` : `Step ${row} of the plan was discussed with the team.`
    await write(join(notes, name), numbers(40).map(line))
  }
  const categories = ['books', 'music', 'garden', 'tools', 'games']
  const sale = (row: number): string =>
    `${row + 1},${categories[(row * 7) % 5]},${(row * 7919) % 9_000},2026-0${(row % 8) + 1}-15`
  await write(join(folder, 'sales.csv'), ['id,category,cents,date', ...numbers(300).map(sale)])
  const cities = ['Berlin', 'Lyon', 'Turin']
  const person = (row: number): string => `Person ${row + 1},${row % 4 === 0 ? 'lead' : 'engineer'},${cities[row % 3]}`
  await write(join(folder, 'people.csv'), ['name,role,city', ...numbers(30).map(person)])
}

/** A knowledge graph of services in the format of the memory server. */
function graph(): string {
  const names = Array.from({ length: 60 }, (_, index) => `service-${index}`)
  const entities = names.map((name, index) => ({
    type: 'entity',
    name,
    entityType: 'service',
    observations: [`owned by team ${index % 7}`, `runs in zone ${index % 3}`],
  }))
  const relations = names.flatMap((from, index) => [
    { type: 'relation', from, to: `service-${(index * 11) % 60}`, relationType: 'depends on' },
    ...(index % 3 === 0 ? [{ type: 'relation', from, to: 'service-7', relationType: 'depends on' }] : []),
  ])
  return [...entities, ...relations].map((line) => JSON.stringify(line)).join('\n')
}
