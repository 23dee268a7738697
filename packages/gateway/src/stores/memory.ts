import type { CatalogStore, CachedUpstream } from './catalog.ts'

/** Keeps the catalogue for as long as the process runs. */
export function memoryCatalog(): CatalogStore {
  const kept = new Map<string, CachedUpstream>()
  const beside = new Map<string, object>()
  const close = async (): Promise<void> => {
    kept.clear()
    beside.clear()
  }
  return {
    tools: async (upstream) => kept.get(upstream)?.tools ?? [],
    known: async (upstream) => kept.get(upstream),
    async replaceTools(upstream, tools, introduced = {}) {
      // A copy: what the caller does with its list later is not what was given.
      kept.set(upstream, structuredClone({ tools: [...tools], ...introduced }))
    },
    documents: async (upstream) => beside.get(upstream),
    async replaceDocuments(upstream, documents) {
      beside.set(upstream, structuredClone(documents))
    },
    async remove(upstream) {
      kept.delete(upstream)
      beside.delete(upstream)
    },
    upstreams: async () => [...kept.keys()].sort(),
    close,
    [Symbol.asyncDispose]: close,
  }
}
