import { join } from 'node:path'
import { withLock } from '@unfold-mcp/client/lock'
import { isRecord } from '@unfold-mcp/core'
import { privateStore } from './private-store.ts'
import type { FoundServer } from './servers.ts'

/** Consent of the user to run one project server as defined at that time. */
export interface Approval {
  readonly file: string
  readonly hash: string
  /** Name of the server, for people who read the file. */
  readonly name: string
}

type ApprovalRequest = Pick<FoundServer, 'key' | 'trust' | 'source' | 'hash'>

export function permissionFor(server: ApprovalRequest, approvals: readonly Approval[]): 'allowed' | 'ask' {
  if (server.trust === 'user') return 'allowed'
  const { file } = server.source
  return approvals.some((approval) => approval.file === file && approval.hash === server.hash) ? 'allowed' : 'ask'
}

const locking = { staleMs: 10_000, timeoutMs: 60_000 }

export interface ApprovalStore {
  list(): Promise<readonly Approval[]>
  /** Replaces approvals of earlier definitions of the server. */
  approve(server: ApprovalRequest): Promise<void>
  revoke(server: ApprovalRequest): Promise<void>
}

/** Stores approvals in `approved.json`. Ignores a file that others can write. */
export function approvalStore(folder: string, warn: (message: string) => void = () => undefined): ApprovalStore {
  const { list, save } = privateStore<Approval>(folder, {
    name: 'approved.json',
    format: 'unfold-approvals',
    key: 'approved',
    isItem: isApproval,
    forbidden: { mode: 0o022, message: 'The file is writable by others; run chmod 600 on it.' },
    consequence: 'projects need approval again',
    warn,
  })
  const replace = (server: ApprovalRequest, more: readonly Approval[]): Promise<void> =>
    withLock(join(folder, 'approved.lock'), locking, async () => {
      const others = (await list()).filter((each) => each.file !== server.source.file || each.name !== server.key)
      await save([...others, ...more])
    })
  return {
    list,
    approve: (server) => replace(server, [{ file: server.source.file, hash: server.hash, name: server.key }]),
    revoke: (server) => replace(server, []),
  }
}

const isApproval = (value: unknown): value is Approval =>
  isRecord(value) && [value.file, value.hash, value.name].every((each) => typeof each === 'string')
