import type { PerformanceSnapshot } from '../records/records.ts'

type Rating = 'good' | 'needs improvement' | 'poor'
type Verdict = 'better' | 'same' | 'worse'

/** One thing that was measured, against what it was before. */
export interface Metric {
  /** Such as `LCP`. */
  readonly name: string
  readonly unit: 'ms' | ''
  readonly value: number
  readonly baseline?: number
  /** `value` less `baseline`. */
  readonly delta?: number
  readonly verdict?: Verdict
  /** By the published thresholds, for what they name. */
  readonly rating?: Rating
}

/** How a page performed, against its baseline. */
export interface Comparison {
  /** Origin and path. */
  readonly page: string
  /** When the baseline was measured, in milliseconds since 1970. */
  readonly baselineAt: number
  /** There is nothing to compare yet: the baseline is of this very load of the page. */
  readonly isBaseline: boolean
  readonly metrics: readonly Metric[]
}

interface Measure {
  readonly name: string
  readonly unit: 'ms' | ''
  read(snapshot: PerformanceSnapshot): number | undefined
  /** A smaller difference is none, however large a share it is. */
  readonly floor: number
  /** A difference counts when it is this share of the baseline too. */
  readonly share: number
  /** Good up to the first, poor above the second. */
  readonly thresholds?: readonly [good: number, poor: number]
}

const share = 0.1
const measures: readonly Measure[] = [
  { name: 'LCP', unit: 'ms', read: ({ lcp }) => lcp, floor: 100, share, thresholds: [2_500, 4_000] },
  { name: 'INP', unit: 'ms', read: ({ inp }) => inp, floor: 25, share, thresholds: [200, 500] },
  // Its scale is its own: 0.05 is half of what is still good, whatever it was before.
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

/** How each page performed before: the first time it was seen, unless another time was chosen. */
export class Baselines {
  readonly #pages = new Map<string, { readonly snapshot: PerformanceSnapshot; readonly isChosen: boolean }>()
  #evicted = 0

  get size(): number {
    return this.#pages.size
  }

  /** How many pages had to go because there were too many. */
  get evicted(): number {
    return this.#evicted
  }

  /** Takes the snapshot as the baseline of a page that has none. A later one of the same load knows more, and takes its place. */
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

  /** A snapshot against the baseline of its page, which it becomes when there is none. */
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

  /** The baselines, to be kept and restored another time. */
  entries(): readonly PerformanceSnapshot[] {
    return [...this.#pages.values()].map(({ snapshot }) => snapshot)
  }

  /** Replaces all baselines by these, as chosen ones. */
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

/** A page's address without what differs from visit to visit. */
export function pageOf(url: string): string {
  return (url.split(/[?#]/, 1)[0] ?? '').slice(0, 500)
}

// Snapshots do not say which load they are of; but its times, to a tenth of a millisecond, are like no other's.
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
