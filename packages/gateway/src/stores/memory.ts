import type { CachedUpstream, CatalogStore } from './catalog.ts'

export function memoryCatalog(): CatalogStore {
  const upstreams = new Map<string, CachedUpstream>()
  const documents = new Map<string, object>()
  const close = async (): Promise<void> => {
    upstreams.clear()
    documents.clear()
  }
  return {
    tools: async (upstream) => upstreams.get(upstream)?.tools ?? [],
    load: async (upstream) => upstreams.get(upstream),
    async replaceTools(upstream, tools, details = {}) {
      // A copy, so that later changes by the caller have no effect.
      upstreams.set(upstream, structuredClone({ tools: [...tools], ...details }))
    },
    documents: async (upstream) => documents.get(upstream),
    async replaceDocuments(upstream, value) {
      documents.set(upstream, structuredClone(value))
    },
    async remove(upstream) {
      upstreams.delete(upstream)
      documents.delete(upstream)
    },
    upstreams: async () => [...upstreams.keys()].sort(),
    close,
    [Symbol.asyncDispose]: close,
  }
}
