import type { PerformanceSnapshot } from '../records/records.ts'

/** By the published thresholds of web vitals. */
export type Rating = 'good' | 'needs improvement' | 'poor'
/** Compared with the baseline. */
export type Verdict = 'better' | 'same' | 'worse'

/** Measurement compared with its baseline. */
export interface Metric {
  /** Such as `LCP`. */
  readonly name: string
  readonly unit: 'ms' | ''
  readonly value: number
  readonly baseline?: number
  /** `value` minus `baseline`. */
  readonly delta?: number
  readonly verdict?: Verdict
  /** Rating by the published thresholds. */
  readonly rating?: Rating
}

/** Performance of a page compared with its baseline. */
export interface Comparison {
  /** Origin and path. */
  readonly page: string
  /** Time of the baseline in milliseconds since 1970. */
  readonly baselineAt: number
  /** The baseline is from this page load, so there is nothing to compare with. */
  readonly isBaseline: boolean
  readonly metrics: readonly Metric[]
}

interface Measure {
  readonly name: string
  readonly unit: 'ms' | ''
  read(snapshot: PerformanceSnapshot): number | undefined
  /** Smaller differences are ignored. */
  readonly floor: number
  /** Minimum relative difference. */
  readonly share: number
  /** Good up to the first value, poor above the second. */
  readonly thresholds?: readonly [good: number, poor: number]
}

const share = 0.1
const measures: readonly Measure[] = [
  { name: 'LCP', unit: 'ms', read: ({ lcp }) => lcp, floor: 100, share, thresholds: [2_500, 4_000] },
  { name: 'INP', unit: 'ms', read: ({ inp }) => inp, floor: 25, share, thresholds: [200, 500] },
  // Absolute scale: 0.05 is half of the threshold for good.
  { name: 'CLS', unit: '', read: ({ cls }) => cls, floor: 0.05, share: 0, thresholds: [0.1, 0.25] },
  { name: 'FCP', unit: 'ms', read: ({ fcp }) => fcp, floor: 100, share, thresholds: [1_800, 3_000] },
  { name: 'TTFB', unit: 'ms', read: ({ ttfb }) => ttfb, floor: 50, share, thresholds: [800, 1_800] },
  { name: 'DOMContentLoaded', unit: 'ms', read: ({ domContentLoaded }) => domContentLoaded, floor: 100, share },
  { name: 'load', unit: 'ms', read: ({ load }) => load, floor: 100, share },
  { name: 'long tasks', unit: 'ms', read: ({ longTasks }) => longTasks.total, floor: 100, share },
  { name: 'requests', unit: '', read: ({ requests }) => requests, floor: 3, share },
  { name: 'kB transferred', unit: '', read: ({ transferred }) => transferred / 1_000, floor: 20, share },
]

const maxPages = 200

/** Baseline of each page: its first measurement, unless another one was chosen. */
export class Baselines {
  readonly #pages = new Map<string, { readonly snapshot: PerformanceSnapshot; readonly isChosen: boolean }>()
  #evicted = 0

  get size(): number {
    return this.#pages.size
  }

  /** Number of pages dropped because of the limit. */
  get evicted(): number {
    return this.#evicted
  }

  /** Sets the first snapshot of a page as its baseline. A later one of the same load is more complete and replaces it. */
  observe(snapshot: PerformanceSnapshot): void {
    const page = pageOf(snapshot.url)
    const known = this.#pages.get(page)
    if (known === undefined) this.#keep(page, snapshot, false)
    else if (!known.isChosen && isSameLoad(known.snapshot, snapshot) && snapshot.at >= known.snapshot.at)
      this.#pages.set(page, { snapshot, isChosen: false })
  }

  /** Chooses the snapshot as the baseline of its page. */
  set(snapshot: PerformanceSnapshot): void {
    const page = pageOf(snapshot.url)
    this.#pages.delete(page)
    this.#keep(page, snapshot, true)
  }

  /** Compares a snapshot with the baseline of its page, which it becomes if there is none. */
  compare(snapshot: PerformanceSnapshot): Comparison {
    this.observe(snapshot)
    const page = pageOf(snapshot.url)
    const baseline = this.#pages.get(page)?.snapshot ?? snapshot
    const isBaseline = (baseline.seq === snapshot.seq && baseline.at === snapshot.at) || isSameLoad(baseline, snapshot)
    return {
      page,
      baselineAt: baseline.at,
      isBaseline,
      metrics: measures.flatMap((each) => metricOf(each, snapshot, isBaseline ? undefined : baseline)),
    }
  }

  clear(): void {
    this.#pages.clear()
    this.#evicted = 0
  }

  /** Returns the baselines for saving. */
  entries(): readonly PerformanceSnapshot[] {
    return [...this.#pages.values()].map(({ snapshot }) => snapshot)
  }

  /** Replaces all baselines. */
  restore(entries: readonly PerformanceSnapshot[]): void {
    this.clear()
    for (const snapshot of entries) this.set(snapshot)
  }

  #keep(page: string, snapshot: PerformanceSnapshot, isChosen: boolean): void {
    this.#pages.set(page, { snapshot, isChosen })
    if (this.#pages.size <= maxPages) return
    const [oldest] = this.#pages.keys()
    if (oldest !== undefined) this.#pages.delete(oldest)
    this.#evicted += 1
  }
}

/** URL without query and fragment. */
export function pageOf(url: string): string {
  return (url.split(/[?#]/, 1)[0] ?? '').slice(0, 500)
}

// Snapshots have no load id, but their timings are practically unique.
function isSameLoad(a: PerformanceSnapshot, b: PerformanceSnapshot): boolean {
  if (a.tab !== b.tab) return false
  const pairs = [
    [a.ttfb, b.ttfb],
    [a.fcp, b.fcp],
    [a.domContentLoaded, b.domContentLoaded],
    [a.load, b.load],
  ].filter(([x, y]) => x !== undefined && y !== undefined && (x > 0 || y > 0))
  return pairs.length > 0 && pairs.every(([x, y]) => x === y)
}

function metricOf(measure: Measure, snapshot: PerformanceSnapshot, baseline: PerformanceSnapshot | undefined): readonly Metric[] {
  const { name, unit, thresholds } = measure
  const value = finite(measure.read(snapshot))
  if (value === undefined) return []
  const before = baseline === undefined ? undefined : finite(measure.read(baseline))
  return [
    {
      name,
      unit,
      value: rounded(value),
      ...(before !== undefined && {
        baseline: rounded(before),
        delta: rounded(value - before),
        verdict: verdictOf(measure, value, before),
      }),
      ...(thresholds !== undefined && { rating: ratingOf(thresholds, value) }),
    },
  ]
}

function verdictOf(measure: Measure, value: number, before: number): Verdict {
  const difference = rounded(Math.abs(value - before))
  if (difference < measure.floor || difference < before * measure.share) return 'same'
  return value > before ? 'worse' : 'better'
}

function ratingOf([good, poor]: readonly [number, number], value: number): Rating {
  if (value <= good) return 'good'
  return value <= poor ? 'needs improvement' : 'poor'
}

function finite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
