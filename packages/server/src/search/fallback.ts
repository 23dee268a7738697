/** Why an answer is less than the toolbox could give: it was found by words alone, or stands in the usual order. */
export type Fallback = 'embedder_late' | 'embedder_failed' | 'embedder_not_ready' | 'rank_late' | 'rank_failed'

/** The same in words, for whoever reads the answer. */
export const fallbackLines: { readonly [F in Fallback]: string } = {
  embedder_late: 'Found by words alone: reading the meaning took too long.',
  embedder_failed: 'Found by words alone: meaning cannot be read now.',
  embedder_not_ready: 'Found by words alone: the meaning of the tools is still being read.',
  rank_late: 'In the usual order: ranking took too long.',
  rank_failed: 'In the usual order: ranking failed.',
}
