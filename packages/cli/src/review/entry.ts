import type { RunRecord } from '@unfold-mcp/gateway/run-file'
import type { Output } from '../output/output.ts'

export type Decision = 'approve' | 'block'

export type Screen = Pick<Output, 'style' | 'width'>

/** Something that a person may approve or block. */
export interface ReviewEntry {
  readonly server: string
  /** Names the entry in --approve and --block: `server/tool`. */
  readonly id: string
  /** Identifies exactly what was shown. */
  readonly digest: string
  readonly state: 'held' | 'changed' | 'blocked'
  /** True if no rule found anything. */
  readonly isHarmless: boolean
  /** Safe for a terminal. */
  text(screen: Screen): string
  /** For --json. */
  readonly data: object
}

/** A gateway, and who uses it. */
export interface Access {
  readonly gateway: RunRecord
  /** Token of a reviewer; default: the token of the run file. */
  readonly token: string | undefined
  readonly signal: AbortSignal
}

/** Options of a request to the admin API. */
export const requestOf = ({ token, signal }: Access) => ({
  signal,
  ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
})

/** One kind of entries. */
export interface ReviewSource {
  /** Key in the JSON output. */
  readonly name: string
  load(access: Access): Promise<readonly ReviewEntry[]>
  /** Decides about entries of one server. Returns how many were still as shown. */
  decide(access: Access, decision: Decision, entries: readonly ReviewEntry[]): Promise<number>
}
