const bins = 1_024
/** Bin of no cosine. */
export const noBin = 0

/** Counts of cosines in bins of equal width. */
export class Histogram {
  readonly #counts = new Uint32Array(bins + 1)
  #total = 0

  /** Removes all cosines, so that the next query needs no new one. */
  clear(): void {
    this.#counts.fill(0)
    this.#total = 0
  }

  get total(): number {
    return this.#total
  }

  /** Adds a cosine; returns its bin, from 1. */
  add(cosine: number): number {
    const bin = Math.min(bins, Math.max(1, 1 + (((cosine + 1) * (bins / 2)) | 0)))
    this.#counts[bin] = (this.#counts[bin] as number) + 1
    this.#total++
    return bin
  }

  get median(): number {
    return this.#total === 0 ? 0 : ((this.#medianBin() - 0.5) / bins) * 2 - 1
  }

  /** Returns the lowest of the bins with the `count` highest cosines, or more if a bin has several. */
  topBin(count: number): number {
    let above = 0
    for (let bin = bins; bin > 1; bin--) {
      above += this.#counts[bin] as number
      if (above >= count) return bin
    }
    return 1
  }

  /** Returns the range of bins around the median with at least `count` cosines. */
  middleBins(count: number): { readonly from: number; readonly to: number } {
    let from = this.#medianBin()
    let to = from
    let inside = this.#counts[from] as number
    while (inside < count && (from > 1 || to < bins)) {
      from = Math.max(1, from - 1)
      to = Math.min(bins, to + 1)
      inside = 0
      for (let bin = from; bin <= to; bin++) inside += this.#counts[bin] as number
    }
    return { from, to }
  }

  #medianBin(): number {
    let below = 0
    for (let bin = 1; bin < bins; bin++) {
      below += this.#counts[bin] as number
      if (2 * below >= this.#total) return bin
    }
    return bins
  }
}
