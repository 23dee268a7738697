/**
 * Turns texts into vectors whose direction is their meaning. The vectors come in the order of the texts, all of one length.
 * Whatever goes wrong is thrown: the search then goes by words alone.
 */
export interface Embedder {
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>
}

/** Vectors longer than this are no embedding. */
const mostDimensions = 16_384

/** The vectors as they can be compared, or an error that says what is wrong with them. */
export function checkedVectors(vectors: unknown, count: number): readonly Float32Array[] {
  if (!Array.isArray(vectors) || vectors.length !== count) {
    throw new Error(`The embedder gave ${Array.isArray(vectors) ? vectors.length : 'no'} vectors for ${count} texts.`)
  }
  const dimensions = (vectors[0] as Float32Array | undefined)?.length ?? 0
  for (const vector of vectors as unknown[]) {
    if (!(vector instanceof Float32Array)) throw new Error('The embedder gave something that is not a Float32Array.')
    if (vector.length === 0 || vector.length > mostDimensions)
      throw new Error(`The embedder gave a vector of ${vector.length} dimensions.`)
    if (vector.length !== dimensions)
      throw new Error(`The embedder gave vectors of ${dimensions} and of ${vector.length} dimensions.`)
    if (!vector.every(Number.isFinite)) throw new Error('The embedder gave a vector that holds something other than numbers.')
  }
  return vectors as readonly Float32Array[]
}
