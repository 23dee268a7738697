/** This process as one of several replicas of a gateway. */
export interface Replica {
  /** Random per process. */
  readonly id: string
  /** Key of the state that clients carry from one request to the next; the same on all replicas. */
  readonly stateKey: Uint8Array
  /** Key of the state of paused scripts; the same on all replicas. */
  readonly scriptKey: Uint8Array
  /** True if the replicas share sessions, approvals and results. */
  readonly isShared: boolean
  /** True if a replica is running, as far as this one knows. */
  readonly isRunning: (id: string) => boolean
  /** How far the clock that all replicas share is ahead of this machine's. */
  readonly clockOffsetMs: () => number
}
