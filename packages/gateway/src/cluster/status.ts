import type { ReplicaStatus } from './replicas.ts'

/** The cluster as one replica sees it. */
export interface ClusterStatus {
  /** Id of this replica. */
  readonly replica: string
  /** Replicas that reported within the last ten seconds; only this one without Redis. */
  readonly replicas: readonly ReplicaStatus[]
  /** `ok`, or what is wrong; absent if only a secret is shared. */
  readonly redis?: string
  /** Commands that this replica sent to Redis. */
  readonly roundTrips: number
}
