import { resolve } from 'node:path'
import { isTool, type Tool } from '@unfold-mcp/core'
import { errorMessage } from '../base/error-message.ts'
import { type CachedUpstream, type CatalogStore, parseServerDetails, type ServerDetails } from './catalog.ts'
import { memoryCatalog } from './memory.ts'
import { type Connection, closeQuietly, isCorrupt, retryWhileBusy, rollBack, textIn } from './sqlite-connection.ts'
import { openOrMove, type SqliteOptions } from './sqlite-file.ts'

/**
 * Opens a catalog in an SQLite file that several processes may share. A corrupt or incompatible file is moved aside; if no file can
 * be used, the catalog is kept in memory. It is only a cache, so it never prevents a start.
 */
export async function sqliteCatalog(path: string, options: SqliteOptions): Promise<CatalogStore> {
  const file = resolve(path)
  const reported = new Set<string>()
  const report = (message: string): void => {
    if (reported.has(message) || reported.size > maxReports) return
    reported.add(message)
    options.report(message)
  }
  const opened = await openOrMove(file, { ...options, report })
  if (opened !== undefined) return new SqliteCatalog(file, opened, { ...options, report })
  options.onStatus?.(`${file} cannot be used: the catalog is kept in memory and is lost on restart.`)
  return memoryCatalog()
}

const maxReports = 1_000
const retryMs = 2_000

type Work = (connection: Connection) => void

class SqliteCatalog implements CatalogStore {
  readonly #file: string
  readonly #options: SqliteOptions
  #connection: Connection | undefined
  #queue: Promise<unknown> = Promise.resolve()
  #isClosed = false
  /** Failed writes, by subject. */
  readonly #unsaved = new Map<string, Work>()
  #retry: NodeJS.Timeout | undefined
  #lastProblem = ''

  constructor(file: string, connection: Connection, options: SqliteOptions) {
    this.#file = file
    this.#connection = connection
    this.#options = options
  }

  async tools(upstream: string): Promise<readonly Tool[]> {
    return (await this.load(upstream))?.tools ?? []
  }

  load(upstream: string): Promise<CachedUpstream | undefined> {
    return this.#run(undefined, (connection) => {
      // One transaction, so that no other process replaces the tools between the two queries.
      connection.exec('BEGIN')
      try {
        const [upstreamRow] = connection.prepare('SELECT instructions FROM upstreams WHERE upstream = ?').all([keyOf(upstream)])
        if (upstreamRow === undefined) return undefined
        const rows = connection
          .prepare('SELECT definition FROM tools WHERE upstream = ? ORDER BY position')
          .all([keyOf(upstream)])
        const [details] = parsed(textIn(upstreamRow, 'instructions'))
        const tools = rows.flatMap((row) => this.#toolIn(row, upstream))
        return { tools, ...parseServerDetails(details) }
      } finally {
        rollBack(connection)
      }
    })
  }

  async replaceTools(upstream: string, tools: readonly Tool[], details?: ServerDetails): Promise<void> {
    const key = keyOf(upstream)
    const json = details === undefined ? null : JSON.stringify(details)
    const definitions = tools.map((tool) => JSON.stringify(tool))
    await this.#write(`tools ${key}`, (connection) => {
      connection.prepare('DELETE FROM tools WHERE upstream = ?').run([key])
      connection.prepare('INSERT OR REPLACE INTO upstreams VALUES (?, ?)').run([key, json])
      const insert = connection.prepare('INSERT INTO tools VALUES (?, ?, ?)')
      for (const [position, definition] of definitions.entries()) insert.run([key, position, definition])
    })
  }

  documents(upstream: string): Promise<unknown> {
    return this.#run(undefined, (connection) => {
      const [row] = connection.prepare('SELECT kept FROM documents WHERE upstream = ?').all([keyOf(upstream)])
      return parsed(textIn(row, 'kept'))[0]
    })
  }

  async replaceDocuments(upstream: string, documents: object): Promise<void> {
    const json = JSON.stringify(documents)
    const key = keyOf(upstream)
    await this.#write(`documents ${key}`, (connection) => {
      connection.prepare('INSERT OR REPLACE INTO documents VALUES (?, ?)').run([key, json])
    })
  }

  async remove(upstream: string): Promise<void> {
    const key = keyOf(upstream)
    this.#unsaved.delete(`tools ${key}`)
    this.#unsaved.delete(`documents ${key}`)
    await this.#write(`removal ${key}`, (connection) => {
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
    clearTimeout(this.#retry)
    await this.#queue.catch(() => undefined)
    if (this.#connection !== undefined) closeQuietly(this.#connection)
    this.#connection = undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #toolIn(row: unknown, upstream: string): readonly Tool[] {
    const [tool] = parsed(textIn(row, 'definition'))
    if (isTool(tool)) return [tool]
    this.#options.report(
      `${this.#file}: a stored tool of "${upstream}" is invalid and is ignored until the server lists it again.`,
    )
    return []
  }

  /** Writes now, or retries later. A later write of the same subject replaces an earlier one. */
  async #write(subject: string, work: Work): Promise<void> {
    this.#unsaved.delete(subject)
    // Data that is stored again must not be removed by an earlier failed removal.
    this.#unsaved.delete(subject.replace(/^\w+/u, 'removal'))
    const isWritten = await this.#run(false, (connection) => {
      connection.exec('BEGIN IMMEDIATE')
      try {
        work(connection)
        connection.exec('COMMIT')
        return true
      } catch (error) {
        rollBack(connection)
        throw error
      }
    })
    if (isWritten) this.#unsaved.delete(subject)
    else this.#unsaved.set(subject, work)
    this.#scheduleRetry()
  }

  #scheduleRetry(): void {
    const { onStatus } = this.#options
    clearTimeout(this.#retry)
    if (this.#unsaved.size === 0) {
      onStatus?.(undefined)
      return
    }
    onStatus?.(
      `cannot write ${this.#file}: ${this.#lastProblem}. The catalog is kept in memory and written again later. Check the free disk space.`,
    )
    if (this.#isClosed) return
    this.#retry = setTimeout(() => {
      for (const [subject, work] of [...this.#unsaved]) void this.#write(subject, work).catch(() => undefined)
    }, retryMs)
    this.#retry.unref()
  }

  /** Runs operations one after another. A failure is reported and returns `fallback`. */
  #run<T>(fallback: T, work: (connection: Connection) => T): Promise<T> {
    if (this.#isClosed) return Promise.reject(new Error('The catalog is closed.'))
    const result = this.#queue.then(async () => {
      try {
        return await this.#attempt(work)
      } catch (error) {
        this.#lastProblem = errorMessage(error)
        if (isCorrupt(error)) await this.#reopen()
        else this.#options.report(`${this.#file}: ${errorMessage(error)}. Cached tools may be lost on restart.`)
        return fallback
      }
    })
    this.#queue = result
    return result
  }

  async #attempt<T>(work: (connection: Connection) => T): Promise<T> {
    const connection = this.#connection
    if (connection === undefined) throw new Error('it is not open')
    return retryWhileBusy(this.#options.busyTimeoutMs, () => work(connection))
  }

  async #reopen(): Promise<void> {
    if (this.#connection !== undefined) closeQuietly(this.#connection)
    this.#connection = await openOrMove(this.#file, this.#options)
  }
}

// SQLite truncates text at a NUL, which JSON escapes.
const keyOf = (upstream: string): string => JSON.stringify(upstream)

function parsed(text: string | undefined): readonly unknown[] {
  if (text === undefined) return []
  try {
    return [JSON.parse(text)]
  } catch {
    return []
  }
}
