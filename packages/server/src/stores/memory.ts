import type { Activation } from '@unfold-mcp/core'
import type { ActivationStore } from './store.ts'

/** Keeps activations for as long as the process lives; the least recently saved go first beyond `limit`. */
export function memoryStore({ limit = 100_000 }: { limit?: number } = {}): ActivationStore {
  const kept = new Map<string, Activation>()
  return {
    async load(key) {
      return kept.get(key)
    },
    async save(key, activation) {
      kept.delete(key)
      kept.set(key, activation)
      const oldest = kept.size > limit ? kept.keys().next().value : undefined
      if (oldest !== undefined) kept.delete(oldest)
    },
  }
}
