import { isRecord } from '@unfold-mcp/core'
import { DecisionFile, type DecisionFormat } from '../../stores/decision-file.ts'
import { type Connection, numberOf, textIn } from '../../stores/sqlite-connection.ts'
import type { Run } from '../run.ts'
import {
  type Accepted,
  type AcceptedBy,
  type Blocked,
  emptyRecord,
  type ItemKind,
  isItemKind,
  type ServerRecord,
} from './record.ts'
import type { TrustStore } from './store.ts'

export { DecisionFileError as TrustStoreError } from '../../stores/decision-file.ts'

const format: DecisionFormat = {
  holds: 'trust decisions',
  applicationId: 0x75_6e_66_74,
  version: 1,
  tables: `
    CREATE TABLE servers (server TEXT PRIMARY KEY, baseline TEXT NOT NULL, run TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE items (
      id INTEGER PRIMARY KEY, server TEXT NOT NULL, state TEXT NOT NULL, kind TEXT NOT NULL, digest TEXT NOT NULL,
      name TEXT NOT NULL, definition TEXT NOT NULL, decider TEXT NOT NULL, at INTEGER NOT NULL,
      UNIQUE (server, state, kind, digest)
    );
  `,
}

/** Opens the decisions in an SQLite file. Throws `TrustStoreError` for a corrupt or foreign file. */
export async function sqliteTrustStore(path: string): Promise<TrustStore> {
  const file = await DecisionFile.open(path, format)
  const records = new CachedRecords()
  return {
    load: (server) => file.read((connection) => records.read(connection, server)),
    update: (server, change) =>
      file.write(
        (connection) => {
          const before = records.read(connection, server)
          const after = change(before)
          write(connection, server, before, after)
          return after
        },
        (after) => records.set(server, after),
      ),
    servers: () =>
      file.read((connection) =>
        connection
          .prepare('SELECT server FROM servers ORDER BY server')
          .all([])
          .flatMap((row) => textIn(row, 'server') ?? []),
      ),
    watch: (changed) => file.watch(changed),
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  }
}

/** Records as they are in the file. They are read again after another process has written. */
class CachedRecords {
  readonly #records = new Map<string, ServerRecord>()
  #dataVersion: number | undefined

  read(connection: Connection, server: string): ServerRecord {
    const dataVersion = numberOf(connection, 'data_version')
    if (dataVersion !== this.#dataVersion) this.#records.clear()
    this.#dataVersion = dataVersion
    const record = this.#records.get(server) ?? read(connection, server)
    this.#records.set(server, record)
    return record
  }

  set(server: string, record: ServerRecord): void {
    this.#records.set(server, record)
  }
}

function read(connection: Connection, server: string): ServerRecord {
  const [row] = connection.prepare('SELECT baseline, run FROM servers WHERE server = ?').all([server])
  if (row === undefined) return emptyRecord
  const accepted: Accepted[] = []
  const blocked: Blocked[] = []
  for (const item of connection.prepare('SELECT * FROM items WHERE server = ? ORDER BY id').all([server])) {
    const fields = itemIn(item)
    const { state, digest, by, ...rest } = fields
    if (state === 'blocked') blocked.push({ ...rest, body: digest })
    else accepted.push({ ...rest, digest, by })
  }
  const run: unknown = JSON.parse(textIn(row, 'run') ?? '{}')
  return { baseline: (textIn(row, 'baseline') ?? '').split(' ').filter(isItemKind), accepted, blocked, run: run as Run }
}

interface StoredItem extends Omit<Accepted, 'definition'> {
  readonly state: string
  readonly definition: object
}

/** Throws for a damaged row: a decision must not be read wrongly. */
function itemIn(row: unknown): StoredItem {
  const text = (column: string): string => {
    const value = textIn(row, column)
    if (value === undefined) throw new Error(`a row has no ${column}`)
    return value
  }
  const definition: unknown = JSON.parse(text('definition'))
  if (!isRecord(definition)) throw new Error('a row has an invalid definition')
  return {
    state: text('state'),
    kind: itemKind(text('kind')),
    name: text('name'),
    digest: text('digest'),
    by: text('decider') as AcceptedBy,
    at: isRecord(row) && typeof row.at === 'number' ? row.at : 0,
    definition,
  }
}

function itemKind(text: string): ItemKind {
  if (!isItemKind(text)) throw new Error(`a row has the unknown kind ${text}`)
  return text
}

function write(connection: Connection, server: string, before: ServerRecord, after: ServerRecord): void {
  connection
    .prepare('INSERT OR REPLACE INTO servers VALUES (?, ?, ?)')
    .run([server, after.baseline.join(' '), JSON.stringify(after.run ?? {})])
  const [old, now] = [rowsOf(before), rowsOf(after)]
  const remove = connection.prepare('DELETE FROM items WHERE server = ? AND state = ? AND kind = ? AND digest = ?')
  for (const [key, { state, kind, digest }] of old) if (now.get(key) === undefined) remove.run([server, state, kind, digest])
  const insert = connection.prepare(
    'INSERT OR REPLACE INTO items (server, state, kind, digest, name, definition, decider, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  for (const [key, { state, kind, digest, name, definition, by, at }] of now) {
    const known = old.get(key)
    if (known !== undefined && known.at === at && known.by === by) continue
    insert.run([server, state, kind, digest, name, JSON.stringify(definition), by, at])
  }
}

function rowsOf({ accepted, blocked }: ServerRecord): ReadonlyMap<string, StoredItem> {
  const rows = [
    ...accepted.map((each): StoredItem => ({ ...each, state: 'accepted' })),
    ...blocked.map(({ body, ...rest }): StoredItem => ({ ...rest, digest: body, by: 'person', state: 'blocked' })),
  ]
  return new Map(rows.map((row) => [`${row.state} ${row.kind} ${row.digest}`, row]))
}
