import { resolve } from 'node:path'
import type { Tool } from '@unfold-mcp/core'
import { errorMessage } from '../base/error-message.ts'
import { type CatalogStore, type ServerDetails, parseServerDetails, isTool, type CachedUpstream } from './catalog.ts'
import { memoryCatalog } from './memory.ts'
import { type Connection, closeQuietly, isDamage, retryWhileBusy, rollBack, textIn } from './sqlite-connection.ts'
import { openOrMove, type SqliteOptions } from './sqlite-file.ts'

/**
 * Keeps the catalogue in an SQLite file that several processes may share. A file that is damaged, or of a newer form, is moved
 * aside and told; where none can be used, the catalogue is kept in memory. It is a memory of what can be asked for again, so a
 * gateway never fails to start because of it.
 */
export async function sqliteCatalog(path: string, options: SqliteOptions): Promise<CatalogStore> {
  const file = resolve(path)
  const told = new Set<string>()
  const report = (message: string): void => {
    if (told.has(message) || told.size > maxReports) return
    told.add(message)
    options.report(message)
  }
  const opened = await openOrMove(file, { ...options, report })
  if (opened !== undefined) return new SqliteCatalog(file, opened, { ...options, report })
  options.fails?.(`${file} cannot be used, so what is known of the servers is lost with the end of this gateway.`)
  return memoryCatalog()
}

// A disk that is full stays full for a while, and once is enough to say so.
const maxReports = 1_000
const retryMs = 2_000

type Work = (connection: Connection) => void

class SqliteCatalog implements CatalogStore {
  readonly #file: string
  readonly #options: SqliteOptions
  #connection: Connection | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #isClosed = false
  /** What could not be written, by what it is about. */
  readonly #unsaved = new Map<string, Work>()
  #retry: NodeJS.Timeout | undefined
  #lastProblem = ''

  constructor(file: string, connection: Connection, options: SqliteOptions) {
    this.#file = file
    this.#connection = connection
    this.#options = options
  }

  async tools(upstream: string): Promise<readonly Tool[]> {
    return (await this.known(upstream))?.tools ?? []
  }

  known(upstream: string): Promise<CachedUpstream | undefined> {
    return this.#run(undefined, (connection) => {
      // One transaction, so that no other process replaces the tools between the two questions.
      connection.exec('BEGIN')
      try {
        const [found] = connection.prepare('SELECT instructions FROM upstreams WHERE upstream = ?').all([keyOf(upstream)])
        if (found === undefined) return undefined
        const rows = connection
          .prepare('SELECT definition FROM tools WHERE upstream = ? ORDER BY position')
          .all([keyOf(upstream)])
        const [introduced] = parsed(textIn(found, 'instructions'))
        const tools = rows.flatMap((row) => this.#toolIn(row, upstream))
        return { tools, ...parseServerDetails(introduced) }
      } finally {
        rollBack(connection)
      }
    })
  }

  async replaceTools(upstream: string, tools: readonly Tool[], introduced?: ServerDetails): Promise<void> {
    const key = keyOf(upstream)
    const kept = introduced === undefined ? null : JSON.stringify(introduced)
    const definitions = tools.map((tool) => JSON.stringify(tool))
    await this.#write(`tools ${key}`, (connection) => {
      connection.prepare('DELETE FROM tools WHERE upstream = ?').run([key])
      connection.prepare('INSERT OR REPLACE INTO upstreams VALUES (?, ?)').run([key, kept])
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
    const key = keyOf(upstream)
    await this.#write(`documents ${key}`, (connection) => {
      connection.prepare('INSERT OR REPLACE INTO documents VALUES (?, ?)').run([key, kept])
    })
  }

  async remove(upstream: string): Promise<void> {
    const key = keyOf(upstream)
    this.#unsaved.delete(`tools ${key}`)
    this.#unsaved.delete(`documents ${key}`)
    await this.#write(`nothing ${key}`, (connection) => {
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

  /** Writes, now or as soon as it can be. What comes later about the same takes its place. */
  async #write(about: string, work: Work): Promise<void> {
    this.#unsaved.delete(about)
    // Something is known of it again, so it is not to be forgotten any more.
    this.#unsaved.delete(about.replace(/^\w+/u, 'nothing'))
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
    if (isWritten) this.#unsaved.delete(about)
    else this.#unsaved.set(about, work)
    this.#planRest()
  }

  #planRest(): void {
    const { fails } = this.#options
    clearTimeout(this.#retry)
    if (this.#unsaved.size === 0) {
      fails?.(undefined)
      return
    }
    fails?.(
      `${this.#file} could not be written: ${this.#lastProblem}. What is known of the servers is in memory, and written as soon as it can be; make room.`,
    )
    if (this.#isClosed) return
    this.#retry = setTimeout(() => {
      for (const [about, work] of [...this.#unsaved]) void this.#write(about, work).catch(() => undefined)
    }, retryMs)
    this.#retry.unref()
  }

  /** Does one thing after the other. What cannot be done is told, and the gateway goes on without it. */
  #run<T>(otherwise: T, work: (connection: Connection) => T): Promise<T> {
    if (this.#isClosed) return Promise.reject(new Error('The catalogue is closed.'))
    const turn = this.#turn.then(async () => {
      try {
        return await this.#attempt(work)
      } catch (error) {
        this.#lastProblem = errorMessage(error)
        if (!isDamage(error)) {
          this.#options.report(
            `${this.#file} could not be used: ${errorMessage(error)}. What was last known may be lost at the next start.`,
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
    return retryWhileBusy(this.#options.patienceMs, () => work(connection))
  }

  async #startAnew(): Promise<void> {
    if (this.#connection !== undefined) closeQuietly(this.#connection)
    this.#connection = await openOrMove(this.#file, this.#options)
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
