import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { withLock } from '@unfold-mcp/client/lock'
import { isRecord } from '@unfold-mcp/core'
import Database from 'libsql'
import { errorMessage } from '../base/error-message.ts'
import {
  type Connection,
  closeQuietly,
  isBusy,
  isCorrupt,
  numberOf,
  retryWhileBusy,
  rollBack,
  textIn,
} from './sqlite-connection.ts'

export interface SqliteOptions {
  /** Called with what happened to the file and what was done. */
  readonly report: (message: string) => void
  /** Called with the problem when a write fails, and with `undefined` when everything is stored. */
  readonly onStatus?: (problem: string | undefined) => void
  /** How long to wait for a lock of another process. */
  readonly busyTimeoutMs?: number
}

const lockOptions = { staleMs: 5_000, timeoutMs: 15_000 }

const applicationId = 0x75_6e_66_64
const version = 1

const tables = `
  CREATE TABLE upstreams (upstream TEXT PRIMARY KEY, instructions TEXT) WITHOUT ROWID;
  CREATE TABLE tools (upstream TEXT NOT NULL, position INTEGER NOT NULL, definition TEXT NOT NULL, PRIMARY KEY (upstream, position)) WITHOUT ROWID;
  CREATE TABLE documents (upstream TEXT PRIMARY KEY, kept TEXT NOT NULL) WITHOUT ROWID;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${version};
`

/** Opens the file. A corrupt or incompatible file is moved aside first. `undefined` if it cannot be opened. */
export async function openOrMove(file: string, options: SqliteOptions): Promise<Connection | undefined> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    const fileId = await fileIdOf(file)
    const opened = await openChecked(file, options.busyTimeoutMs)
    if ('connection' in opened) return opened.connection
    const { problem, mayMove } = opened
    if (!mayMove) {
      options.report(`${file} ${problem}. It stays unchanged and the catalog is kept in memory. Set another "store.path".`)
      return undefined
    }
    // Locked, so that of two processes that find a corrupt file, the second does not move the first one's new file.
    return await withLock(`${file}.lock`, lockOptions, async () => {
      // Compared without opening it: a closed connection may linger and look like another process.
      if (fileId === (await fileIdOf(file))) {
        const aside = await moveAside(file)
        options.report(`${file} ${problem}. It was moved to ${aside} and replaced by a new file; the tools are listed again.`)
      }
      const second = await openChecked(file, options.busyTimeoutMs)
      if ('connection' in second) return second.connection
      throw new Error(`the new file ${second.problem} too`)
    })
  } catch (error) {
    options.report(`${file} cannot be used: ${errorMessage(error)}. The catalog is kept in memory and is lost on restart.`)
    return undefined
  }
}

/** Distinguishes a file from its replacement. */
const fileIdOf = (file: string): Promise<string> =>
  stat(file).then(
    ({ ino, birthtimeMs }) => `${ino} ${birthtimeMs}`,
    () => 'none',
  )

type Opened = { readonly connection: Connection } | { readonly problem: string; readonly mayMove: boolean }

async function openChecked(file: string, busyTimeoutMs: number | undefined): Promise<Opened> {
  // No timeout: waiting inside SQLite would block the event loop.
  const connection = new Database(file, { timeout: 0 })
  try {
    const refusal = await retryWhileBusy(busyTimeoutMs, () => prepared(connection))
    if (refusal === undefined) {
      await chmod(file, 0o600)
      return { connection }
    }
    const { problem, kind } = refusal
    const isInUse = kind === 'other version' && isShared(connection)
    closeQuietly(connection)
    return { problem: isInUse ? `${problem} and is in use by another process` : problem, mayMove: kind !== 'foreign' && !isInUse }
  } catch (error) {
    closeQuietly(connection)
    if (isCorrupt(error)) return { problem: `is corrupt (${errorMessage(error)})`, mayMove: true }
    throw error
  }
}

interface Refusal {
  readonly problem: string
  readonly kind: 'foreign' | 'other version' | 'corrupt'
}

/** Prepares the file, or returns why it must not be used. */
function prepared(connection: Connection): Refusal | undefined {
  const fileVersion = numberOf(connection, 'user_version')
  const owner = numberOf(connection, 'application_id')
  const [contents] = connection.prepare('SELECT count(*) AS count FROM sqlite_schema').all([])
  const isEmpty = isRecord(contents) && contents.count === 0
  if (isEmpty && fileVersion === 0) {
    connection.exec('PRAGMA journal_mode = WAL')
    connection.exec('BEGIN IMMEDIATE')
    try {
      // Another process may have created the tables meanwhile.
      if (numberOf(connection, 'user_version') === 0) connection.exec(tables)
      connection.exec('COMMIT')
    } catch (error) {
      rollBack(connection)
      throw error
    }
  } else if (owner !== applicationId) return { problem: 'is not an unfold catalog', kind: 'foreign' }
  else if (fileVersion !== version) {
    const problem = fileVersion > version ? 'was written by a newer version' : 'has an unsupported format'
    return { problem: `${problem} (format ${fileVersion}; supported: ${version})`, kind: 'other version' }
  }
  connection.exec('PRAGMA journal_mode = WAL')
  // The catalog is a cache: data lost in a power failure can be listed again.
  connection.exec('PRAGMA synchronous = NORMAL')
  const [check] = connection.prepare('PRAGMA quick_check(1)').all([])
  const verdict = textIn(check, 'quick_check')
  return verdict === 'ok' ? undefined : { problem: `is corrupt (${verdict ?? 'unknown'})`, kind: 'corrupt' }
}

/** True if another process has the file open: then WAL mode cannot be left. */
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
