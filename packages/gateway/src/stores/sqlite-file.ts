import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { withLock } from '@unfold-mcp/client/lock'
import { isRecord } from '@unfold-mcp/core'
import Database from 'libsql'
import { errorMessage } from '../base/error-message.ts'
import { type Connection, closeQuietly, isBusy, isDamage, numberOf, retryWhileBusy, rollBack, textIn } from './sqlite-connection.ts'

export interface SqliteOptions {
  /** Hears what happened to the file, and what was done about it. */
  readonly report: (message: string) => void
  /** Hears what is wrong while something is not kept, and nothing once all of it is. */
  readonly fails?: (problem: string | undefined) => void
  /** How long to wait for another process that is writing. */
  readonly patienceMs?: number
}

const locking = { staleMs: 5_000, patienceMs: 15_000 }

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

/** A connection to a file that can be trusted; a file that cannot is moved aside first. `undefined` when none can be had. */
export async function openOrMove(file: string, options: SqliteOptions): Promise<Connection | undefined> {
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
    return await withLock(`${file}.lock`, locking, async () => {
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
      `${file} cannot be used: ${errorMessage(error)}. The catalogue is kept in memory, so a restart begins without tools.`,
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
    const refusal = await retryWhileBusy(patienceMs, () => prepared(connection))
    if (refusal === undefined) {
      await chmod(file, 0o600)
      return { connection }
    }
    const { problem, kind } = refusal
    const isApplied = kind === 'other form' && isShared(connection)
    closeQuietly(connection)
    return { problem: isApplied ? `${problem} and is used by another process` : problem, isOurs: kind !== 'foreign' && !isApplied }
  } catch (error) {
    closeQuietly(connection)
    if (isDamage(error)) return { problem: `is damaged (${errorMessage(error)})`, isOurs: true }
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
