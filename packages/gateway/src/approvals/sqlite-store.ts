import { isRecord } from '@unfold-mcp/core'
import { DecisionFile, type DecisionFormat } from '../stores/decision-file.ts'
import { type Connection, textIn } from '../stores/sqlite-connection.ts'
import type { Approval } from './approval.ts'
import { type ApprovalStore, isListed } from './store.ts'

const format: DecisionFormat = {
  holds: 'approvals',
  applicationId: 0x75_6e_66_61,
  version: 1,
  tables: `
    CREATE TABLE approvals (id TEXT PRIMARY KEY, call TEXT NOT NULL, expires INTEGER NOT NULL, approval TEXT NOT NULL);
    CREATE INDEX approvals_by_call ON approvals (call);
    CREATE INDEX approvals_by_expiry ON approvals (expires);
  `,
}

/** Opens the approvals in an SQLite file. Throws `DecisionFileError` for a corrupt or foreign file. */
export async function sqliteApprovalStore(path: string): Promise<ApprovalStore> {
  const file = await DecisionFile.open(path, format)
  return {
    update: (call, change) =>
      file.write((connection) => {
        const before = select(connection, 'WHERE call = ?', [call])
        const [after, result] = change(before)
        write(connection, before, after)
        return result
      }),
    list: () => file.read((connection) => select(connection, '', []).filter(isListed)),
    find: (id) => file.read((connection) => select(connection, 'WHERE id = ?', [id])[0]),
    removeExpired: (now) =>
      file.write((connection) => {
        const expired = select(connection, 'WHERE expires <= ?', [now])
        write(connection, expired, [])
        return expired
      }),
    watch: (changed) => file.watch(changed),
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  }
}

function select(connection: Connection, where: string, values: readonly (string | number)[]): readonly Approval[] {
  return connection
    .prepare(`SELECT approval FROM approvals ${where} ORDER BY rowid`)
    .all([...values])
    .map(approvalIn)
}

/** Throws for a damaged row: an approval must not be read wrongly. */
function approvalIn(row: unknown): Approval {
  const value: unknown = JSON.parse(textIn(row, 'approval') ?? '')
  if (isRecord(value) && typeof value.id === 'string' && typeof value.state === 'string') return value as unknown as Approval
  throw new Error('a row has an invalid approval')
}

function write(connection: Connection, before: readonly Approval[], after: readonly Approval[]): void {
  const remove = connection.prepare('DELETE FROM approvals WHERE id = ?')
  const kept = new Set(after.map(({ id }) => id))
  for (const { id } of before) if (!kept.has(id)) remove.run([id])
  const upsert = connection.prepare(
    'INSERT INTO approvals VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET expires = excluded.expires, approval = excluded.approval',
  )
  for (const approval of after)
    if (!before.includes(approval)) upsert.run([approval.id, approval.call, approval.expiresAt, JSON.stringify(approval)])
}
