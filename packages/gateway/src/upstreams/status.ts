import { hasNetwork, type Sandbox } from '@unfold-mcp/client'
import type { Slowdown } from './connected/follow-budget.ts'
import type { UpstreamState } from './events.ts'

export interface SandboxStatus {
  readonly preset: 'files' | 'strict'
  readonly network: boolean
  readonly read: readonly string[]
  readonly write: readonly string[]
}

/** Replica that runs a server. */
export interface ServerHolder {
  /** Id of the replica. */
  readonly replica: string
  /** Where other replicas reach it. */
  readonly address: string
  /** Increases each time that the server moves. */
  readonly fence: string
  /** True if it is this replica. */
  readonly isOwn: boolean
}

/** Status of an upstream. */
export interface UpstreamStatus {
  readonly name: string
  readonly state: UpstreamState
  /** Time in this state. */
  readonly forMs: number
  /** Number of the current or last attempt, while it is not connected. */
  readonly attempt?: number
  /** Waiting for other installations. */
  readonly isQueued?: true
  /** Last line on stderr, while it is starting. */
  readonly lastOutput?: string
  /** Message for the operator; may include process output. */
  readonly lastError?: string
  readonly nextRetryInMs?: number
  readonly tools: number
  /** URL of a remote server, without credentials and query. */
  readonly address?: string
  readonly pid?: number
  /** Replica that runs it; absent if every replica does, or while none is known. */
  readonly holder?: ServerHolder
  /** Limits of its process; absent without a sandbox. */
  readonly sandbox?: SandboxStatus
  readonly server?: string
  readonly protocolVersion?: string
  readonly era?: 'session' | 'stateless'
  /** True if it declares `tools.listChanged`. */
  readonly announcesChanges?: boolean
  /** Delay of list reads because it announces changes too often. */
  readonly throttleMs?: number
  /** Present while its lists are read less often than they change, because following it is expensive. */
  readonly slowdown?: Slowdown
  readonly calls: { readonly running: number; readonly waiting: number }
}

/** Limits of a process, without the files of the gateway that it does not see. */
export const sandboxStatus = (sandbox: Sandbox): SandboxStatus => {
  const { preset, read = [], write = [] } = sandbox
  return { preset, network: hasNetwork(sandbox), read, write }
}
