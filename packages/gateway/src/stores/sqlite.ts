import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Tool } from '@unfold-mcp/core'
import Database from 'libsql'
import { type CatalogStore, isTool, type KnownUpstream } from './catalog.ts'
import { withLock } from './lock.ts'
import { memoryCatalog } from './memory.ts'

export interface SqliteCatalogOptions {
  /** Hears what happened to the file, and what was done about it. */
  readonly report: (message: string) => void
  /** How long to wait for another process that is writing. */
  readonly patienceMs?: number
}

type Connection = InstanceType<typeof Database>

// The first tells our files from those of others, the second one form of them from the next.
const applicationId = 0x75_6e_66_64
const version = 1

const tables = `
  CREATE TABLE upstreams (upstream TEXT PRIMARY KEY, instructions TEXT) WITHOUT ROWID;
  CREATE TABLE tools (upstream TEXT NOT NULL, position INTEGER NOT NULL, definition TEXT NOT NULL, PRIMARY KEY (upstream, position)) WITHOUT ROWID;
  CREATE TABLE documents (upstream TEXT PRIMARY KEY, kept TEXT NOT NULL) WITHOUT ROWID;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${version};
`

/**
 * Keeps the catalogue in an SQLite file that several processes may share. A file that is damaged, or of a newer form, is moved
 * aside and told; where none can be used, the catalogue is kept in memory. It is a memory of what can be asked for again, so a
 * gateway never fails to start because of it.
 */
export async function sqliteCatalog(path: string, options: SqliteCatalogOptions): Promise<CatalogStore> {
  const file = resolve(path)
  const told = new Set<string>()
  const report = (message: string): void => {
    if (told.has(message) || told.size > mostTold) return
    told.add(message)
    options.report(message)
  }
  const opened = await openOrMove(file, { ...options, report })
  if (opened !== undefined) return new SqliteCatalog(file, opened, { ...options, report })
  return memoryCatalog()
}

// A disk that is full stays full for a while, and once is enough to say so.
const mostTold = 1_000

class SqliteCatalog implements CatalogStore {
  readonly #file: string
  readonly #options: SqliteCatalogOptions
  #connection: Connection | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(file: string, connection: Connection, options: SqliteCatalogOptions) {
    this.#file = file
    this.#connection = connection
    this.#options = options
  }

  async tools(upstream: string): Promise<readonly Tool[]> {
    return (await this.known(upstream))?.tools ?? []
  }

  known(upstream: string): Promise<KnownUpstream | undefined> {
    return this.#run(undefined, (connection) => {
      // One transaction, so that no other process replaces the tools between the two questions.
      connection.exec('BEGIN')
      try {
        const [found] = connection.prepare('SELECT instructions FROM upstreams WHERE upstream = ?').all([keyOf(upstream)])
        if (found === undefined) return undefined
        const rows = connection
          .prepare('SELECT definition FROM tools WHERE upstream = ? ORDER BY position')
          .all([keyOf(upstream)])
        const [instructions] = parsed(textIn(found, 'instructions'))
        const tools = rows.flatMap((row) => this.#toolIn(row, upstream))
        return { tools, ...(typeof instructions === 'string' && { instructions }) }
      } finally {
        rollBack(connection)
      }
    })
  }

  async replaceTools(upstream: string, tools: readonly Tool[], instructions?: string): Promise<void> {
    const key = keyOf(upstream)
    const definitions = tools.map((tool) => JSON.stringify(tool))
    await this.#write((connection) => {
      connection.prepare('DELETE FROM tools WHERE upstream = ?').run([key])
      connection.prepare('INSERT OR REPLACE INTO upstreams VALUES (?, ?)').run([key, JSON.stringify(instructions) ?? null])
      const insert = connection.prepare('INSERT INTO tools VALUES (?, ?, ?)')
      for (const [position, definition] of definitions.entries()) insert.run([key, position, definition])
    })
  }

  documents(upstream: string): Promise<unknown> {
    return this.#run(undefined, (connection) => {
      const [found] = connection.prepare('SELECT kept FROM documents WHERE upstream = ?').all([keyOf(upstream)])
      return parsed(textIn(found, 'kept'))[0]
    })
  }

  async replaceDocuments(upstream: string, documents: object): Promise<void> {
    const kept = JSON.stringify(documents)
    await this.#write((connection) => {
      connection.prepare('INSERT OR REPLACE INTO documents VALUES (?, ?)').run([keyOf(upstream), kept])
    })
  }

  async remove(upstream: string): Promise<void> {
    const key = keyOf(upstream)
    await this.#write((connection) => {
      connection.prepare('DELETE FROM documents WHERE upstream = ?').run([key])
      connection.prepare('DELETE FROM tools WHERE upstream = ?').run([key])
      connection.prepare('DELETE FROM upstreams WHERE upstream = ?').run([key])
    })
  }

  upstreams(): Promise<readonly string[]> {
    return this.#run([], (connection) => {
      const rows = connection.prepare('SELECT upstream FROM upstreams').all([])
      return rows
        .flatMap((row) => parsed(textIn(row, 'upstream')))
        .filter((key) => typeof key === 'string')
        .sort()
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#turn.catch(() => undefined)
    if (this.#connection !== undefined) closeQuietly(this.#connection)
    this.#connection = undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #toolIn(row: unknown, upstream: string): readonly Tool[] {
    const [tool] = parsed(textIn(row, 'definition'))
    if (isTool(tool)) return [tool]
    this.#options.report(`${this.#file}: a tool of "${upstream}" is damaged and left out until the upstream lists it again.`)
    return []
  }

  async #write(work: (connection: Connection) => void): Promise<void> {
    await this.#run(undefined, (connection) => {
      connection.exec('BEGIN IMMEDIATE')
      try {
        work(connection)
        connection.exec('COMMIT')
      } catch (error) {
        rollBack(connection)
        throw error
      }
    })
  }

  /** Does one thing after the other. What cannot be done is told, and the gateway goes on without it. */
  #run<T>(otherwise: T, work: (connection: Connection) => T): Promise<T> {
    if (this.#isClosed) return Promise.reject(new Error('The catalogue is closed.'))
    const turn = this.#turn.then(async () => {
      try {
        return await this.#attempt(work)
      } catch (error) {
        if (!isDamage(error)) {
          this.#options.report(
            `${this.#file} could not be used: ${wordsOf(error)}. What was last known may be lost at the next start.`,
          )
          return otherwise
        }
        await this.#startAnew()
        return otherwise
      }
    })
    this.#turn = turn
    return turn
  }

  async #attempt<T>(work: (connection: Connection) => T): Promise<T> {
    const connection = this.#connection
    if (connection === undefined) throw new Error('it is not open')
    return patiently(this.#options.patienceMs, () => work(connection))
  }

  async #startAnew(): Promise<void> {
    if (this.#connection !== undefined) closeQuietly(this.#connection)
    this.#connection = await openOrMove(this.#file, this.#options)
  }
}

/** A connection to a file that can be trusted; a file that cannot is moved aside first. `undefined` when none can be had. */
async function openOrMove(file: string, options: SqliteCatalogOptions): Promise<Connection | undefined> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    const mark = await markOf(file)
    const opened = await openChecked(file, options.patienceMs)
    if ('connection' in opened) return opened.connection
    const { problem, isOurs } = opened
    if (!isOurs) {
      options.report(`${file} ${problem}. It is left alone and the catalogue is kept in memory; name another "store.path".`)
      return undefined
    }
    // One process at a time: of two that find a damaged file, the second must not move what the first began.
    return await withLock(`${file}.lock`, async () => {
      // Not opened again to find out: a connection that was closed may stay for a while, and would look like another process.
      if (mark === (await markOf(file))) {
        const aside = await moveAside(file)
        options.report(
          `${file} ${problem}. It was moved to ${aside} and a new one is begun; upstreams are asked for their tools again.`,
        )
      }
      const second = await openChecked(file, options.patienceMs)
      if ('connection' in second) return second.connection
      throw new Error(`a new one ${second.problem} too`)
    })
  } catch (error) {
    options.report(
      `${file} cannot be used: ${wordsOf(error)}. The catalogue is kept in memory, so a restart begins without tools.`,
    )
    return undefined
  }
}

/** What tells this file from another in its place. */
const markOf = (file: string): Promise<string> =>
  stat(file).then(
    ({ ino, birthtimeMs }) => `${ino} ${birthtimeMs}`,
    () => 'none',
  )

/** `isOurs` says that the file may be moved: it is of no use to anybody, or ours and used by nobody now. */
type Opened = { readonly connection: Connection } | { readonly problem: string; readonly isOurs: boolean }

async function openChecked(file: string, patienceMs: number | undefined): Promise<Opened> {
  // No waiting inside the database, which would stop everything else in this process.
  const connection = new Database(file, { timeout: 0 })
  try {
    const refusal = await patiently(patienceMs, () => prepared(connection))
    if (refusal === undefined) {
      await chmod(file, 0o600)
      return { connection }
    }
    const { problem, kind } = refusal
    const isUsed = kind === 'other form' && isShared(connection)
    closeQuietly(connection)
    return { problem: isUsed ? `${problem} and is used by another process` : problem, isOurs: kind !== 'foreign' && !isUsed }
  } catch (error) {
    closeQuietly(connection)
    if (isDamage(error)) return { problem: `is damaged (${wordsOf(error)})`, isOurs: true }
    throw error
  }
}

interface Refusal {
  readonly problem: string
  readonly kind: 'foreign' | 'other form' | 'damaged'
}

/** Makes the file ready to use, or says why it must not be used. */
function prepared(connection: Connection): Refusal | undefined {
  const found = numberOf(connection, 'user_version')
  const owner = numberOf(connection, 'application_id')
  const [contents] = connection.prepare('SELECT count(*) AS count FROM sqlite_schema').all([])
  const isEmpty = isRecord(contents) && contents.count === 0
  if (isEmpty && found === 0) {
    connection.exec('PRAGMA journal_mode = WAL')
    connection.exec('BEGIN IMMEDIATE')
    try {
      // Another process may have made the tables since.
      if (numberOf(connection, 'user_version') === 0) connection.exec(tables)
      connection.exec('COMMIT')
    } catch (error) {
      rollBack(connection)
      throw error
    }
  } else if (owner !== applicationId) return { problem: 'is no catalogue of this program', kind: 'foreign' }
  else if (found !== version) {
    const problem = found > version ? 'was written by a newer version' : 'is of a form that is no longer known'
    return { problem: `${problem} (form ${found}; this one knows ${version})`, kind: 'other form' }
  }
  connection.exec('PRAGMA journal_mode = WAL')
  // What is lost when the power fails can be asked for again.
  connection.exec('PRAGMA synchronous = NORMAL')
  const [check] = connection.prepare('PRAGMA quick_check(1)').all([])
  const verdict = textIn(check, 'quick_check')
  return verdict === 'ok' ? undefined : { problem: `is damaged (${verdict ?? 'unknown'})`, kind: 'damaged' }
}

/** Whether another process has the file open: only then can its log not be put away. */
function isShared(connection: Connection): boolean {
  try {
    connection.exec('PRAGMA journal_mode = DELETE')
    return false
  } catch (error) {
    return isBusy(error)
  }
}

async function moveAside(file: string): Promise<string> {
  const aside = `${file}.${new Date().toISOString().replaceAll(/[:.]/gu, '-')}.aside`
  await rename(file, aside)
  for (const tail of ['-wal', '-shm'])
    await rename(`${file}${tail}`, `${aside}${tail}`).catch(() => rm(`${file}${tail}`, { force: true }))
  return aside
}

const defaultPatienceMs = 5_000
const pauseMs = 20

/** Tries again while another process writes, without stopping this one. */
async function patiently<T>(patienceMs = defaultPatienceMs, work: () => T): Promise<T> {
  for (let left = patienceMs; ; left -= pauseMs) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || left <= 0) throw error
    }
    await wait(pauseMs)
  }
}

// The database cuts texts at a NUL, and JSON has none.
const keyOf = (upstream: string): string => JSON.stringify(upstream)

function parsed(text: string | undefined): readonly unknown[] {
  if (text === undefined) return []
  try {
    return [JSON.parse(text)]
  } catch {
    return []
  }
}

function numberOf(connection: Connection, pragma: string): number {
  const [row] = connection.prepare(`PRAGMA ${pragma}`).all([])
  const value = isRecord(row) ? row[pragma] : undefined
  return typeof value === 'number' ? value : 0
}

function textIn(row: unknown, column: string): string | undefined {
  const value = isRecord(row) ? row[column] : undefined
  return typeof value === 'string' ? value : undefined
}

function rollBack(connection: Connection): void {
  try {
    connection.exec('ROLLBACK')
  } catch {
    // It was rolled back by what failed.
  }
}

function closeQuietly(connection: Connection): void {
  try {
    // Statements that are not collected yet keep the file open; so its log is put away now.
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // Another process uses it, or it is damaged; what is in the log stays there.
  }
  try {
    connection.close()
  } catch {
    // As good as closed.
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

const isBusy = (error: unknown): boolean => /^SQLITE_(?:BUSY|LOCKED)/u.test(codeOf(error))

const isDamage = (error: unknown): boolean => /^SQLITE_(?:CORRUPT|NOTADB)/u.test(codeOf(error))

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null
