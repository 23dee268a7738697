/** Reason why a search result is degraded: keyword matches only, or in the default order. */
export type Fallback = 'embedder_timeout' | 'embedder_failed' | 'embedder_not_ready' | 'rank_timeout' | 'rank_failed'

export const fallbackMessages: { readonly [F in Fallback]: string } = {
  embedder_timeout: 'Keyword matches only: the embedder timed out.',
  embedder_failed: 'Keyword matches only: the embedder is not available.',
  embedder_not_ready: 'Keyword matches only: tool embeddings are still being computed.',
  rank_timeout: 'Default order: ranking timed out.',
  rank_failed: 'Default order: ranking failed.',
}
