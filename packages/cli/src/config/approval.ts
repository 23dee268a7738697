import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '@unfold-mcp/core'
import { writePrivate } from '../base/private-file.ts'
import { readText } from './formats/text.ts'
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

export interface ApprovalStore {
  list(): Promise<readonly Approval[]>
  /** Replaces approvals of earlier definitions of the server. */
  approve(server: ApprovalRequest): Promise<void>
  revoke(server: ApprovalRequest): Promise<void>
}

const format = 'unfold-approvals'
const version = 1

/** Stores approvals in `approved.json`, readable by its owner only. Ignores a file that others can write. */
export function approvalStore(folder: string, warn: (message: string) => void = () => undefined): ApprovalStore {
  const file = join(folder, 'approved.json')
  const list = async (): Promise<readonly Approval[]> => {
    const read = await readText(file)
    if (read === undefined) return []
    const ignored = 'problem' in read ? read.problem : await unsafe(file)
    const found = ignored === undefined && 'text' in read ? approvalsIn(read.text) : undefined
    if (found === undefined)
      warn(`${file} is ignored, so projects ask again. ${ignored ?? 'It is damaged, or of a newer version.'}`)
    return found ?? []
  }
  const replace = async (server: ApprovalRequest, more: readonly Approval[]): Promise<void> => {
    const others = (await list()).filter((each) => each.file !== server.source.file || each.name !== server.key)
    await save(folder, file, [...others, ...more])
  }
  return {
    list,
    approve: (server) => replace(server, [{ file: server.source.file, hash: server.hash, name: server.key }]),
    revoke: (server) => replace(server, []),
  }
}

async function unsafe(file: string): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined
  const { mode, uid } = await stat(file)
  if (uid !== process.getuid?.()) return 'It belongs to another user.'
  return (mode & 0o022) === 0 ? undefined : 'Others may write it; run chmod 600 on it.'
}

function approvalsIn(text: string): readonly Approval[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(value) || value.format !== format || value.version !== version || !Array.isArray(value.approved)) return undefined
  return value.approved.filter(isApproval)
}

const isApproval = (value: unknown): value is Approval =>
  isRecord(value) && [value.file, value.hash, value.name].every((each) => typeof each === 'string')

const save = (folder: string, file: string, approved: readonly Approval[]): Promise<void> =>
  writePrivate(folder, file, { format, version, approved })
