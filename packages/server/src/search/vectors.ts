/** Vectors by the content they were made from. Bounded: when it is full, only those that nobody asked for of late make room. */
export class Vectors {
  readonly #kept = new Map<string, { readonly vector: Float32Array; usedAt: number }>()
  readonly #mostNumbers: number
  #numbers = 0

  constructor(mostNumbers: number) {
    this.#mostNumbers = mostNumbers
  }

  get size(): number {
    return this.#kept.size
  }

  get(content: string, nowMs: number): Float32Array | undefined {
    const found = this.#kept.get(content)
    if (found === undefined) return undefined
    found.usedAt = nowMs
    return found.vector
  }

  /** Keeps a vector; whether there was room for it. */
  set(content: string, vector: Float32Array, nowMs: number): boolean {
    this.delete(content)
    if (this.#numbers + vector.length > this.#mostNumbers) return false
    this.#kept.set(content, { vector, usedAt: nowMs })
    this.#numbers += vector.length
    return true
  }

  delete(content: string): void {
    this.#numbers -= this.#kept.get(content)?.vector.length ?? 0
    this.#kept.delete(content)
  }

  /** Forgets those that nobody asked for since then. */
  forgetUnusedSince(ms: number): void {
    for (const [content, { usedAt }] of this.#kept) if (usedAt < ms) this.delete(content)
  }
}
