import { emptyRecord, type ServerRecord } from './record.ts'
import type { TrustStore } from './store.ts'

/** Keeps decisions until the process ends. */
export function memoryTrustStore(): TrustStore {
  const records = new Map<string, ServerRecord>()
  return {
    load: async (server) => records.get(server) ?? emptyRecord,
    async update(server, change) {
      const next = change(records.get(server) ?? emptyRecord)
      records.set(server, next)
      return next
    },
    servers: async () => [...records.keys()],
    watch: () => () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  }
}
