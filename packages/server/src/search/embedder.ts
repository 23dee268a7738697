/**
 * Computes embedding vectors, in the order of the texts and all of the same length. If it throws, search uses the
 * built-in table.
 */
export interface Embedder {
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>
}

const maxDimensions = 16_384

/** Returns the vectors; throws if they cannot be compared. */
export function validateVectors(vectors: unknown, count: number): readonly Float32Array[] {
  if (!Array.isArray(vectors) || vectors.length !== count) {
    throw new Error(`The embedder returned ${Array.isArray(vectors) ? vectors.length : 'no'} vectors for ${count} texts.`)
  }
  const dimensions = (vectors[0] as Float32Array | undefined)?.length ?? 0
  for (const vector of vectors as unknown[]) {
    if (!(vector instanceof Float32Array)) throw new Error('The embedder returned a value that is not a Float32Array.')
    if (vector.length === 0 || vector.length > maxDimensions)
      throw new Error(`The embedder returned a vector of ${vector.length} dimensions.`)
    if (vector.length !== dimensions)
      throw new Error(`The embedder returned vectors of ${dimensions} and of ${vector.length} dimensions.`)
    if (!vector.every(Number.isFinite))
      throw new Error('The embedder returned a vector with a value that is not a finite number.')
  }
  return vectors as readonly Float32Array[]
}
