/** Vectors by text hash. A full cache rejects new vectors instead of evicting vectors in use. */
export class VectorCache {
  readonly #vectors = new Map<string, { readonly vector: Float32Array; usedAt: number }>()
  readonly #maxNumbers: number
  #numbers = 0

  constructor(maxNumbers: number) {
    this.#maxNumbers = maxNumbers
  }

  get(hash: string, nowMs: number): Float32Array | undefined {
    const entry = this.#vectors.get(hash)
    if (entry === undefined) return undefined
    entry.usedAt = nowMs
    return entry.vector
  }

  /** Returns false when the cache is full. */
  set(hash: string, vector: Float32Array, nowMs: number): boolean {
    this.delete(hash)
    if (this.#numbers + vector.length > this.#maxNumbers) return false
    this.#vectors.set(hash, { vector, usedAt: nowMs })
    this.#numbers += vector.length
    return true
  }

  delete(hash: string): void {
    this.#numbers -= this.#vectors.get(hash)?.vector.length ?? 0
    this.#vectors.delete(hash)
  }

  deleteUnusedSince(ms: number): void {
    for (const [hash, { usedAt }] of this.#vectors) if (usedAt < ms) this.delete(hash)
  }
}
