import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isRecord } from '@unfold-mcp/core'
import Database from 'libsql'
import { errorMessage } from '../base/error-message.ts'
import { type Connection, closeQuietly, numberOf, retryWhileBusy, rollBack, textIn } from './sqlite-connection.ts'

/** Layout of a file of decisions. */
export interface DecisionFormat {
  /** What the file holds, such as `trust decisions`. */
  readonly holds: string
  readonly applicationId: number
  readonly version: number
  /** Statements that create the tables. */
  readonly tables: string
}

/** A file of decisions cannot be read or written. Unlike the catalogue, it is never replaced: that would forget every decision. */
export class DecisionFileError extends Error {
  override readonly name = 'DecisionFileError'
}

const pollMs = 1_000

/** Decisions of people in an SQLite file that several processes may share. */
export class DecisionFile implements AsyncDisposable {
  readonly #file: string
  readonly #connection: Connection
  #queue: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  /** Throws `DecisionFileError` for a corrupt or foreign file. */
  static async open(file: string, format: DecisionFormat): Promise<DecisionFile> {
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await checkOwner(file)
      // No timeout: waiting inside SQLite would block the event loop.
      const connection = new Database(file, { timeout: 0 })
      try {
        await retryWhileBusy(undefined, () => prepare(connection, format))
      } catch (error) {
        closeQuietly(connection)
        throw error
      }
      return new DecisionFile(file, connection)
    } catch (error) {
      throw failure(file, error)
    }
  }

  private constructor(file: string, connection: Connection) {
    this.#file = file
    this.#connection = connection
  }

  /** Runs `work` after earlier work. It may run more than once. */
  read<T>(work: (connection: Connection) => T): Promise<T> {
    if (this.#isClosed) return Promise.reject(new DecisionFileError(`${this.#file} is closed.`))
    const result = this.#queue.then(async () => {
      try {
        return await retryWhileBusy(undefined, () => work(this.#connection))
      } catch (error) {
        throw failure(this.#file, error)
      }
    })
    this.#queue = result.catch(() => undefined)
    return result
  }

  /** Runs `work` in a transaction, then `committed`, before any other work. Resolves once its changes are on disk. */
  write<T>(work: (connection: Connection) => T, committed: (result: T) => void = () => undefined): Promise<T> {
    return this.read((connection) => {
      const result = transaction(connection, () => work(connection))
      committed(result)
      return result
    })
  }

  /** Calls back when another process may have changed something. */
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
}

/** Creates the file for its owner only. Whoever else could write to it could have approved anything. */
async function checkOwner(file: string): Promise<void> {
  const handle = await open(file, 'a', 0o600)
  try {
    const { mode } = await handle.stat()
    if (process.platform !== 'win32' && (mode & 0o022) !== 0)
      throw new Error(`other users can write to it. If nobody did, run: chmod 600 ${file}`)
  } finally {
    await handle.close()
  }
}

function prepare(connection: Connection, { holds, applicationId, version, tables }: DecisionFormat): void {
  if (numberOf(connection, 'user_version') === 0 && isEmpty(connection)) {
    connection.exec('PRAGMA journal_mode = WAL')
    transaction(connection, () => {
      // Another process may have created the tables meanwhile.
      if (numberOf(connection, 'user_version') !== 0) return
      connection.exec(`${tables}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version};`)
    })
  }
  if (numberOf(connection, 'application_id') !== applicationId) throw new Error(`it is not a file of ${holds}`)
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

function failure(file: string, error: unknown): DecisionFileError {
  if (error instanceof DecisionFileError) return error
  return new DecisionFileError(`${file} cannot be used: ${errorMessage(error)}.`, { cause: error })
}
