import { setTimeout as wait } from 'node:timers/promises'
import { isRecord } from '@unfold-mcp/core'
import type Database from 'libsql'

export type Connection = InstanceType<typeof Database>

const defaultPatienceMs = 5_000
const pauseMs = 20

/** Tries again while another process writes, without stopping this one. */
export async function retryWhileBusy<T>(patienceMs = defaultPatienceMs, work: () => T): Promise<T> {
  for (let left = patienceMs; ; left -= pauseMs) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || left <= 0) throw error
    }
    await wait(pauseMs)
  }
}

/** What a pragma is set to; 0 for one that is none. */
export function numberOf(connection: Connection, pragma: string): number {
  const [row] = connection.prepare(`PRAGMA ${pragma}`).all([])
  const value = isRecord(row) ? row[pragma] : undefined
  return typeof value === 'number' ? value : 0
}

/** The text in a column of a row, if there is one. */
export function textIn(row: unknown, column: string): string | undefined {
  const value = isRecord(row) ? row[column] : undefined
  return typeof value === 'string' ? value : undefined
}

/** Takes back what was not committed, if something is left to take back. */
export function rollBack(connection: Connection): void {
  try {
    connection.exec('ROLLBACK')
  } catch {
    // It was rolled back by what failed.
  }
}

/** Closes a connection in whatever state it is. */
export function closeQuietly(connection: Connection): void {
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

/** Whether another process was in the way. */
export const isBusy = (error: unknown): boolean => /^SQLITE_(?:BUSY|LOCKED)/u.test(codeOf(error))

/** Whether the file is no database any more. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(?:CORRUPT|NOTADB)/u.test(codeOf(error))
