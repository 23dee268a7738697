const maxSamples = 128

/** Percentiles of the newest 128 samples, and the overall maximum. */
export class Latency {
  readonly #newest: number[] = []
  #next = 0
  #max = 0

  get isEmpty(): boolean {
    return this.#newest.length === 0
  }

  add(ms: number): void {
    if (!Number.isFinite(ms) || ms < 0) return
    this.#newest[this.#next] = ms
    this.#next = (this.#next + 1) % maxSamples
    this.#max = Math.max(this.#max, ms)
  }

  absorb(other: Latency): void {
    for (const ms of other.#newest) this.add(ms)
    this.#max = Math.max(this.#max, other.#max)
  }

  summary(): { readonly p50: number; readonly p95: number; readonly max: number } {
    const sorted = [...this.#newest].sort((a, b) => a - b)
    const at = (share: number): number => Math.round(sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0)
    return { p50: at(0.5), p95: at(0.95), max: Math.round(this.#max) }
  }
}
