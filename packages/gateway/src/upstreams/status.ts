import type { UpstreamState } from './events.ts'

/** What is known of an upstream at this moment. */
export interface UpstreamStatus {
  readonly name: string
  readonly state: UpstreamState
  /** For how long it has been in this state. */
  readonly forMs: number
  /** Which attempt to start it this is, or was, where it is not connected. */
  readonly attempt?: number
  /** Whether it waits until others are installed. */
  readonly isQueued?: true
  /** The last line that it wrote to standard error, while it is being started. */
  readonly lastOutput?: string
  /** For whoever runs the gateway: what a process wrote before it ended may be in it. */
  readonly lastError?: string
  readonly nextRetryInMs?: number
  readonly tools: number
  /** Where it is reached, for one that is not started here. */
  readonly address?: string
  readonly pid?: number
  readonly server?: string
  readonly protocolVersion?: string
  readonly era?: 'session' | 'stateless'
  /** Whether it says by itself when its tools change. */
  readonly announcesChanges?: boolean
  /** How much it is slowed down because it never comes to rest. */
  readonly slowedMs?: number
  readonly calls: { readonly running: number; readonly waiting: number }
}
