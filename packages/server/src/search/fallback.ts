/** Reason why a search result is degraded: without the embedder, or in the default order. */
export type Fallback = 'embedder_timeout' | 'embedder_failed' | 'embedder_not_ready' | 'rank_timeout' | 'rank_failed'

export const fallbackMessages: { readonly [F in Fallback]: string } = {
  embedder_timeout: 'Without the embedder: the embedder timed out.',
  embedder_failed: 'Without the embedder: the embedder is not available.',
  embedder_not_ready: 'Without the embedder: tool embeddings are still being computed.',
  rank_timeout: 'Default order: ranking timed out.',
  rank_failed: 'Default order: ranking failed.',
}
