import { type Baselines, type Metric, pageOf } from '../recording/baselines.ts'
import type { Recording } from '../recording/recording.ts'
import type { NetworkRequest, PerformanceSnapshot } from '../records/records.ts'
import { truncate } from '../reply/reply.ts'

export interface PerformanceOptions {
  /** Only pages whose URL contains this. */
  readonly url?: string
  /** Maximum number of pages and of requests. Default: 10. */
  readonly limit?: number
}

/** Latest measurement of a page, compared with its baseline. */
interface PageAnalysis {
  readonly url: string
  readonly seq: number
  readonly measuredAt: number
  /** Number of buffered measurements. */
  readonly measured: number
  readonly baselineAt: number
  /** There is no earlier measurement to compare with. */
  readonly isBaseline?: true
  readonly metrics: readonly Metric[]
  readonly longTasks: PerformanceSnapshot['longTasks']
}

interface RequestCost {
  readonly seq: number
  readonly method: string
  readonly url: string
  readonly type: string
  readonly status: number
  readonly ms: number
  readonly bytes: number
}

export interface PerformanceAnalysis {
  /** Most recently measured first. */
  readonly pages: readonly PageAnalysis[]
  /** Number of pages that are not shown. */
  readonly morePages?: number
  readonly slowest: readonly RequestCost[]
  readonly largest: readonly RequestCost[]
  /** Long tasks of the shown pages. */
  readonly longTasks: PerformanceSnapshot['longTasks']
}

const maxShown = 50

/** Compares the newest measurement of each page with its baseline, and finds the most expensive requests. */
export function analyzePerformance(
  recording: Recording,
  baselines: Baselines,
  { url = '', limit = 10 }: PerformanceOptions = {},
): PerformanceAnalysis {
  const max = Math.min(limit, maxShown)
  const newest = new Map<string, { snapshot: PerformanceSnapshot; measured: number }>()
  for (const snapshot of recording.of('snapshots')) {
    baselines.observe(snapshot)
    const page = pageOf(snapshot.url)
    const measured = (newest.get(page)?.measured ?? 0) + 1
    newest.delete(page)
    newest.set(page, { snapshot, measured })
  }
  const wanted = [...newest.values()].reverse().filter(({ snapshot }) => snapshot.url.includes(url))
  const pages = wanted.slice(0, max).map(({ snapshot, measured }) => analysisOf(baselines, snapshot, measured))
  const requests = [...recording.of('network')].filter(({ pageUrl, status }) => status > 0 && pageUrl.includes(url)).map(costOf)
  return {
    pages,
    ...(wanted.length > pages.length && { morePages: wanted.length - pages.length }),
    slowest: requests.toSorted((a, b) => b.ms - a.ms || a.seq - b.seq).slice(0, max),
    largest: requests
      .filter(({ bytes }) => bytes > 0)
      .sort((a, b) => b.bytes - a.bytes || a.seq - b.seq)
      .slice(0, max),
    longTasks: {
      count: pages.reduce((sum, { longTasks }) => sum + longTasks.count, 0),
      total: pages.reduce((sum, { longTasks }) => sum + longTasks.total, 0),
      longest: pages.reduce((longest, { longTasks }) => Math.max(longest, longTasks.longest), 0),
    },
  }
}

function analysisOf(baselines: Baselines, snapshot: PerformanceSnapshot, measured: number): PageAnalysis {
  const { baselineAt, isBaseline, metrics } = baselines.compare(snapshot)
  return {
    url: truncate(snapshot.url, 500),
    seq: snapshot.seq,
    measuredAt: snapshot.at,
    measured,
    baselineAt,
    ...(isBaseline && { isBaseline }),
    metrics,
    longTasks: snapshot.longTasks,
  }
}

function costOf({ seq, method, url, type, status, at, startedAt, transferred }: NetworkRequest): RequestCost {
  return { seq, method, url: truncate(url, 300), type, status, ms: Math.max(0, Math.round(at - startedAt)), bytes: transferred }
}
