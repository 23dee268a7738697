import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isRecord } from '@unfold-mcp/core'
import Database from 'libsql'
import { errorMessage } from '../base/error-message.ts'
import { type Connection, closeQuietly, numberOf, retryWhileBusy, rollBack, textIn } from '../stores/sqlite-connection.ts'
import {
  type Accepted,
  type AcceptedBy,
  type Blocked,
  emptyRecord,
  type ItemKind,
  isItemKind,
  type ServerRecord,
} from './record.ts'
import type { Run } from './run.ts'
import type { TrustStore } from './store.ts'

const applicationId = 0x75_6e_66_74
const version = 1

const tables = `
  CREATE TABLE servers (server TEXT PRIMARY KEY, baseline TEXT NOT NULL, run TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE items (
    id INTEGER PRIMARY KEY, server TEXT NOT NULL, state TEXT NOT NULL, kind TEXT NOT NULL, digest TEXT NOT NULL,
    name TEXT NOT NULL, definition TEXT NOT NULL, decider TEXT NOT NULL, at INTEGER NOT NULL,
    UNIQUE (server, state, kind, digest)
  );
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${version};
`

/** The file of decisions cannot be read or written. Unlike the catalogue, it is never replaced: that would forget every decision. */
export class TrustStoreError extends Error {
  override readonly name = 'TrustStoreError'
}

const pollMs = 1_000

/** Opens the decisions in an SQLite file. Throws `TrustStoreError` for a corrupt or foreign file. */
export async function sqliteTrustStore(file: string): Promise<TrustStore> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await checkOwner(file)
    // No timeout: waiting inside SQLite would block the event loop.
    const connection = new Database(file, { timeout: 0 })
    try {
      await retryWhileBusy(undefined, () => prepare(connection))
    } catch (error) {
      closeQuietly(connection)
      throw error
    }
    return new SqliteTrustStore(file, connection)
  } catch (error) {
    throw failure(file, error)
  }
}

/** Creates the file for its owner only. Whoever else could write to it could have approved anything. */
async function checkOwner(file: string): Promise<void> {
  const handle = await open(file, 'a', 0o600)
  try {
    const { mode } = await handle.stat()
    if (process.platform !== 'win32' && (mode & 0o022) !== 0)
      throw new Error(`other users can write to it. Check it with "unfold trust", then run: chmod 600 ${file}`)
  } finally {
    await handle.close()
  }
}

function prepare(connection: Connection): void {
  if (numberOf(connection, 'user_version') === 0 && isEmpty(connection)) {
    connection.exec('PRAGMA journal_mode = WAL')
    transaction(connection, () => {
      // Another process may have created the tables meanwhile.
      if (numberOf(connection, 'user_version') === 0) connection.exec(tables)
    })
  }
  if (numberOf(connection, 'application_id') !== applicationId) throw new Error('it is not a file of trust decisions')
  const format = numberOf(connection, 'user_version')
  if (format !== version) throw new Error(`it has format ${format}; this version supports ${version}`)
  connection.exec('PRAGMA journal_mode = WAL')
  // An acknowledged decision must survive a power failure.
  connection.exec('PRAGMA synchronous = FULL')
  const [check] = connection.prepare('PRAGMA quick_check(1)').all([])
  const verdict = textIn(check, 'quick_check')
  if (verdict !== 'ok') throw new Error(`it is corrupt (${verdict ?? 'unknown'})`)
}

function isEmpty(connection: Connection): boolean {
  const [contents] = connection.prepare('SELECT count(*) AS count FROM sqlite_schema').all([])
  return isRecord(contents) && contents.count === 0
}

class SqliteTrustStore implements TrustStore {
  readonly #file: string
  readonly #connection: Connection
  readonly #cached = new Map<string, ServerRecord>()
  /** Of the data, when the records were read. */
  #dataVersion: number | undefined
  #queue: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(file: string, connection: Connection) {
    this.#file = file
    this.#connection = connection
  }

  load(server: string): Promise<ServerRecord> {
    return this.#run(() => this.#read(server))
  }

  update(server: string, change: (record: ServerRecord) => ServerRecord): Promise<ServerRecord> {
    return this.#run(() => {
      const after = transaction(this.#connection, () => {
        const before = this.#read(server)
        const changed = change(before)
        write(this.#connection, server, before, changed)
        return changed
      })
      this.#cached.set(server, after)
      return after
    })
  }

  /** Reads a record, unless no other process has written since it was read last. */
  #read(server: string): ServerRecord {
    const dataVersion = numberOf(this.#connection, 'data_version')
    if (dataVersion !== this.#dataVersion) this.#cached.clear()
    this.#dataVersion = dataVersion
    const record = this.#cached.get(server) ?? read(this.#connection, server)
    this.#cached.set(server, record)
    return record
  }

  servers(): Promise<readonly string[]> {
    return this.#run(() =>
      this.#connection
        .prepare('SELECT server FROM servers ORDER BY server')
        .all([])
        .flatMap((row) => textIn(row, 'server') ?? []),
    )
  }

  watch(changed: () => void): () => void {
    let seen = numberOf(this.#connection, 'data_version')
    // Changes only with commits of other connections.
    this.#timer = setInterval(() => {
      try {
        const now = numberOf(this.#connection, 'data_version')
        if (now === seen) return
        seen = now
      } catch {
        return
      }
      changed()
    }, pollMs)
    this.#timer.unref()
    return () => clearInterval(this.#timer)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#timer)
    await this.#queue.catch(() => undefined)
    closeQuietly(this.#connection)
  }

  #run<T>(work: () => T): Promise<T> {
    if (this.#isClosed) return Promise.reject(new TrustStoreError(`${this.#file} is closed.`))
    const result = this.#queue.then(async () => {
      try {
        return await retryWhileBusy(undefined, work)
      } catch (error) {
        this.#cached.clear()
        throw failure(this.#file, error)
      }
    })
    this.#queue = result.catch(() => undefined)
    return result
  }
}

function transaction<T>(connection: Connection, work: () => T): T {
  connection.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    connection.exec('COMMIT')
    return result
  } catch (error) {
    rollBack(connection)
    throw error
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

function failure(file: string, error: unknown): TrustStoreError {
  if (error instanceof TrustStoreError) return error
  return new TrustStoreError(`${file} cannot be used: ${errorMessage(error)}.`, { cause: error })
}
