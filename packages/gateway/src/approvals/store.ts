import type { Approval, Change } from './approval.ts'

/** Approvals of all calls. Several processes may share one store. */
export interface ApprovalStore extends AsyncDisposable {
  /**
   * Replaces the approvals of one call by a function of the current ones, atomically across processes. Resolves once the change is on
   * disk. The function may run more than once.
   */
  update<T>(call: string, change: (approvals: readonly Approval[]) => Change<T>): Promise<T>
  /** Open questions and approvals that were not used, oldest first. */
  list(): Promise<readonly Approval[]>
  find(id: string): Promise<Approval | undefined>
  /** Removes what expired before `now`, and returns it. */
  removeExpired(now: number): Promise<readonly Approval[]>
  /** Calls back when another process may have changed something. */
  watch(changed: () => void): () => void
}

export const isListed = ({ state }: Approval): boolean => state === 'pending' || state === 'approved'
