import type { Activation } from '@unfold-mcp/core'
import type { ActivationStore } from './store.ts'

/** Stores activations in memory; beyond `limit`, evicts the least recently saved. */
export function memoryStore({ limit = 100_000 }: { limit?: number } = {}): ActivationStore {
  const activations = new Map<string, Activation>()
  return {
    async load(key) {
      return activations.get(key)
    },
    async save(key, activation) {
      activations.delete(key)
      activations.set(key, activation)
      const oldest = activations.size > limit ? activations.keys().next().value : undefined
      if (oldest !== undefined) activations.delete(oldest)
    },
  }
}
