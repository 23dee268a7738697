import type { Embedder } from '@unfold-mcp/server/search'

//#region adapter
/** The part of a feature-extraction pipeline of `@huggingface/transformers` that is used here. */
type Extractor = (texts: string[], options: { pooling: 'mean'; normalize: true }) => Promise<{ tolist(): number[][] }>

/** Computes embeddings in this process. The first search loads the model. */
export function localEmbedder(load: () => Promise<Extractor>): Embedder {
  let loading: Promise<Extractor> | undefined
  return {
    async embed(texts) {
      loading ??= load().catch((error: unknown) => {
        loading = undefined // a later search tries again
        throw error
      })
      const extract = await loading
      const vectors = await extract([...texts], { pooling: 'mean', normalize: true })
      return vectors.tolist().map((vector) => Float32Array.from(vector))
    },
  }
}
//#endregion
