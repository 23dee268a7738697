import type { ServerRecord } from './record.ts'

/** Decisions about all servers. Several processes may share one store. */
export interface TrustStore extends AsyncDisposable {
  /** Rejects if the store cannot be read: then nothing is known to be trusted. */
  load(server: string): Promise<ServerRecord>
  /**
   * Replaces a record by a function of its current state, atomically across processes. Resolves once the result is on disk. The
   * function may run more than once.
   */
  update(server: string, change: (record: ServerRecord) => ServerRecord): Promise<ServerRecord>
  /** Servers with a record. */
  servers(): Promise<readonly string[]>
  /** Calls back when another process may have changed something. */
  watch(changed: () => void): () => void
}
