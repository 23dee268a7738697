import { describe, expect, test } from 'vitest'
import { analyzePerformance } from '../src/analyze/performance.ts'
import { Baselines, type Metric } from '../src/recording/baselines.ts'
import { Recording } from '../src/recording/recording.ts'
import type { PerformanceSnapshot } from '../src/records/records.ts'
import { Redactor } from '../src/redaction/redaction.ts'
import { describeInChromium, watching } from './chromium.ts'
import { RecordSequence } from './generate-records.ts'
import { startSite } from './site.ts'

const url = 'https://shop.example/cart'
const sequence = new RecordSequence()
let loads = 0
/** A snapshot of a separate page load. */
const loaded = (more: Partial<PerformanceSnapshot> = {}, at = url): PerformanceSnapshot => {
  loads += 1
  return sequence.snapshot(at, { domContentLoaded: 300 + loads / 10, ...more })
}
const metric = (metrics: readonly Metric[], name: string): Metric | undefined => metrics.find((each) => each.name === name)

describe('baselines', () => {
  test('later snapshots of a page are compared with the first one', () => {
    const baselines = new Baselines()
    const first = loaded({ lcp: 1_000, cls: 0.01 })
    expect(baselines.compare(first)).toMatchObject({ page: url, isBaseline: true, baselineAt: first.at })
    const { isBaseline, metrics } = baselines.compare(loaded({ lcp: 1_300, cls: 0.02 }, `${url}?step=2#pay`))
    expect(isBaseline).toBe(false)
    expect(metric(metrics, 'LCP')).toEqual({
      name: 'LCP',
      unit: 'ms',
      value: 1_300,
      baseline: 1_000,
      delta: 300,
      verdict: 'worse',
      rating: 'good',
    })
    expect(metric(metrics, 'CLS')).toMatchObject({ delta: 0.01, verdict: 'same' })
  })

  test.each<[keyof PerformanceSnapshot & ('lcp' | 'cls' | 'inp' | 'fcp' | 'ttfb' | 'load'), number, number, string]>([
    ['lcp', 2_000, 2_150, 'same'],
    ['lcp', 2_000, 2_200, 'worse'],
    ['lcp', 2_000, 1_800, 'better'],
    ['lcp', 200, 280, 'same'],
    ['lcp', 0, 100, 'worse'],
    ['ttfb', 20, 60, 'same'],
    ['ttfb', 20, 80, 'worse'],
    ['inp', 100, 130, 'worse'],
    ['inp', 16, 40, 'same'],
    ['cls', 0, 0.04, 'same'],
    ['cls', 0, 0.05, 'worse'],
    ['cls', 0.3, 0.25, 'better'],
    ['fcp', 1_000, 1_090, 'same'],
    ['load', 5_000, 5_400, 'same'],
  ])('%s from %d to %d is %s', (name, before, now, verdict) => {
    const baselines = new Baselines()
    baselines.observe(loaded({ [name]: before }))
    expect(baselines.compare(loaded({ [name]: now })).metrics.find((each) => each.name.toLowerCase() === name)?.verdict).toBe(
      verdict,
    )
  })

  test.each([
    [{ lcp: 2_500, inp: 200, cls: 0.1, fcp: 1_800, ttfb: 800 }, 'good'],
    [{ lcp: 4_000, inp: 500, cls: 0.25, fcp: 3_000, ttfb: 1_800 }, 'needs improvement'],
    [{ lcp: 4_001, inp: 501, cls: 0.251, fcp: 3_001, ttfb: 1_801 }, 'poor'],
  ])('%j is rated %s', (measured, rating) => {
    const rated = new Baselines().compare(loaded(measured)).metrics.filter((each) => each.rating !== undefined)
    expect(rated.map((each) => [each.name, each.rating])).toEqual(
      ['LCP', 'INP', 'CLS', 'FCP', 'TTFB'].map((name) => [name, rating]),
    )
  })

  test('a later snapshot of the same load completes the baseline, and is not compared with itself', () => {
    const baselines = new Baselines()
    const early = loaded({ lcp: 500 })
    const late = { ...early, seq: early.seq + 1, at: early.at + 60_000, lcp: 900, inp: 80 }
    baselines.observe(early)
    expect(baselines.compare(late).isBaseline).toBe(true)
    expect(metric(baselines.compare(loaded({ lcp: 900, inp: 80 })).metrics, 'INP')).toMatchObject({
      baseline: 80,
      verdict: 'same',
    })
  })

  test('a baseline that was set explicitly stays', () => {
    const baselines = new Baselines()
    baselines.observe(loaded({ lcp: 100 }))
    const chosen = loaded({ lcp: 2_000 })
    baselines.set(chosen)
    baselines.observe({ ...chosen, at: chosen.at + 1, lcp: 3_000 })
    baselines.observe(loaded({ lcp: 50 }))
    expect(metric(baselines.compare(loaded({ lcp: 1_000 })).metrics, 'LCP')).toMatchObject({ baseline: 2_000, verdict: 'better' })
  })

  test('baselines can be saved and restored', () => {
    const baselines = new Baselines()
    baselines.observe(loaded({ lcp: 100 }))
    const restored = new Baselines()
    restored.observe(loaded({}, 'https://elsewhere.example/'))
    restored.restore(JSON.parse(JSON.stringify(baselines.entries())))
    expect(restored.entries()).toEqual(baselines.entries())
    baselines.clear()
    expect(baselines.size).toBe(0)
  })

  test('beyond the limit the oldest baselines are evicted and counted', () => {
    const baselines = new Baselines()
    for (let i = 0; i < 230; i++) baselines.observe(loaded({}, `https://shop.example/${i}`))
    expect([baselines.size, baselines.evicted]).toEqual([200, 30])
  })

  test('values that are not numbers are not metrics', () => {
    expect(
      new Baselines().compare(loaded({ lcp: Number.NaN, inp: Number.POSITIVE_INFINITY })).metrics.map(({ name }) => name),
    ).toEqual(['DOMContentLoaded', 'long tasks', 'requests', 'kB transferred'])
  })
})

describe('performance', () => {
  test('the newest snapshot of each page is compared with its baseline, the most recently measured page first', () => {
    const recording = new Recording({ redactor: new Redactor() })
    const other = 'https://shop.example/'
    for (const each of [
      loaded({ lcp: 1_000 }),
      loaded({}, other),
      loaded({ lcp: 3_000, longTasks: { count: 2, total: 300, longest: 200 } }),
    ])
      recording.add('snapshots', each)
    const { pages, longTasks } = analyzePerformance(recording, new Baselines())
    expect(pages.map((page) => [page.url, page.measured, page.isBaseline])).toEqual([
      [url, 2, undefined],
      [other, 1, true],
    ])
    expect(metric(pages[0]?.metrics ?? [], 'LCP')).toMatchObject({
      value: 3_000,
      baseline: 1_000,
      verdict: 'worse',
      rating: 'needs improvement',
    })
    expect(longTasks).toEqual({ count: 2, total: 300, longest: 200 })
    const shorter = analyzePerformance(recording, new Baselines(), { limit: 1 })
    expect([shorter.pages.length, shorter.morePages]).toEqual([1, 1])
    expect(analyzePerformance(recording, new Baselines(), { url: '/cart' }).pages.map((page) => page.url)).toEqual([url])
  })

  test('the slowest and the largest requests are listed', () => {
    const recording = new Recording({ redactor: new Redactor() })
    for (const [path, ms, transferred] of [
      ['/slow', 900, 10],
      ['/large', 20, 90_000],
      ['/plain', 30, 20],
    ] as const)
      recording.add('network', {
        ...sequence.request(`https://shop.example${path}`),
        startedAt: 1_000,
        at: 1_000 + ms,
        transferred,
      })
    recording.add('network', { ...sequence.request('https://shop.example/failed'), status: 0, startedAt: 0, at: 99_999 })
    const { slowest, largest } = analyzePerformance(recording, new Baselines())
    expect(slowest.map((request) => [new URL(request.url).pathname, request.ms])).toEqual([
      ['/slow', 900],
      ['/plain', 30],
      ['/large', 20],
    ])
    expect(largest[0]).toMatchObject({ url: 'https://shop.example/large', bytes: 90_000 })
  })
})

describeInChromium('performance of a real page', () => {
  test('a second load is compared with the first', async () => {
    await using site = await startSite()
    await using watch = await watching({ open: `${site.url}/second` })
    const baselines = new Baselines()
    const pages = () => analyzePerformance(watch.recording, baselines).pages
    await watch.until('the page is measured', () => pages().length > 0)
    expect(pages()[0]).toMatchObject({ url: `${site.url}/second`, isBaseline: true })
    await watch.browser.snapshot()
    expect(pages()[0]?.isBaseline).toBe(true)
    await watch.page.reload()
    const again = await watch.until('the second load is measured', () =>
      pages().find(({ isBaseline }) => isBaseline === undefined),
    )
    expect(metric(again.metrics, 'TTFB')).toMatchObject({
      baseline: expect.any(Number),
      verdict: expect.any(String),
      rating: 'good',
    })
    expect(analyzePerformance(watch.recording, baselines).slowest.map((request) => request.url)).toContain(`${site.url}/second`)
  })
})
