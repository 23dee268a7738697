import { setTimeout as wait } from 'node:timers/promises'
import { isRecord } from '@unfold-mcp/core'
import type Database from 'libsql'

export type Connection = InstanceType<typeof Database>

const defaultBusyTimeoutMs = 5_000
const pauseMs = 20

/** Retries while another process holds the lock, without blocking the event loop. */
export async function retryWhileBusy<T>(busyTimeoutMs = defaultBusyTimeoutMs, work: () => T): Promise<T> {
  for (let left = busyTimeoutMs; ; left -= pauseMs) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || left <= 0) throw error
    }
    await wait(pauseMs)
  }
}

/** Numeric value of a pragma; 0 if it has none. */
export function numberOf(connection: Connection, pragma: string): number {
  const [row] = connection.prepare(`PRAGMA ${pragma}`).all([])
  const value = isRecord(row) ? row[pragma] : undefined
  return typeof value === 'number' ? value : 0
}

export function textIn(row: unknown, column: string): string | undefined {
  const value = isRecord(row) ? row[column] : undefined
  return typeof value === 'string' ? value : undefined
}

/** Rolls back an open transaction, if there is one. */
export function rollBack(connection: Connection): void {
  try {
    connection.exec('ROLLBACK')
  } catch {
    // SQLite has already rolled it back.
  }
}

/** Closes a connection in any state. */
export function closeQuietly(connection: Connection): void {
  try {
    // Statements that are not yet garbage-collected keep the file open, so the WAL is checkpointed now.
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // In use by another process, or corrupt: the WAL stays.
  }
  try {
    connection.close()
  } catch {
    // Nothing more to release.
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

export const isBusy = (error: unknown): boolean => /^SQLITE_(?:BUSY|LOCKED)/u.test(codeOf(error))

export const isCorrupt = (error: unknown): boolean => /^SQLITE_(?:CORRUPT|NOTADB)/u.test(codeOf(error))
