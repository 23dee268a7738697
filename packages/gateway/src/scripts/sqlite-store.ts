import { randomBytes, randomUUID } from 'node:crypto'
import type { ScriptStore } from '@unfold-mcp/server'
import { isProcessRunning } from '../base/process-running.ts'
import { DecisionFile, type DecisionFormat } from '../stores/decision-file.ts'
import { type Connection, textIn } from '../stores/sqlite-connection.ts'
import type { ScriptStorage } from './storage.ts'

const format: DecisionFormat = {
  holds: 'paused scripts',
  applicationId: 0x75_6e_66_73,
  version: 1,
  tables: `
    CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX entries_by_expiry ON entries (expires);
  `,
}

const secretKey = 'secret'

/** Opens the traces of paused scripts in an SQLite file, with the secret that encrypts them. Both outlive the process. */
export async function sqliteScriptStorage(path: string): Promise<ScriptStorage> {
  const file = await DecisionFile.open(path, format)
  const text = await file.write((connection) => {
    connection
      .prepare('INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING')
      .run([secretKey, randomBytes(32).toString('base64'), Number.MAX_SAFE_INTEGER])
    return valueAt(connection, secretKey, 0)
  })
  const own = `${process.pid}:${randomUUID()}`
  const store: ScriptStore = {
    process: own,
    isRunning: (other) => other === own || (!other.startsWith(`${process.pid}:`) && isProcessRunning(Number.parseInt(other, 10))),
    add: (key, value, expiresAt) =>
      file.write((connection) => {
        const now = Date.now()
        connection.prepare('DELETE FROM entries WHERE expires <= ?').run([now])
        const found = valueAt(connection, key, now)
        if (found === undefined) put(connection, key, value, expiresAt)
        return found
      }),
    get: (key) => file.read((connection) => valueAt(connection, key, Date.now())),
    set: (key, value, expiresAt) => file.write((connection) => put(connection, key, value, expiresAt)),
    delete: (keys) =>
      file.write((connection) => {
        const remove = connection.prepare('DELETE FROM entries WHERE key = ?')
        for (const key of keys) remove.run([key])
      }),
  }
  return {
    store,
    secret: Buffer.from(text ?? '', 'base64'),
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  }
}

function valueAt(connection: Connection, key: string, now: number): string | undefined {
  const [row] = connection.prepare('SELECT value FROM entries WHERE key = ? AND expires > ?').all([key, now])
  return textIn(row, 'value')
}

function put(connection: Connection, key: string, value: string, expiresAt: number): void {
  connection
    .prepare(
      'INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires',
    )
    .run([key, value, expiresAt])
}
