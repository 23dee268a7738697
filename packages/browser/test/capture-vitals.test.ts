import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PerformanceSnapshot } from '../src/records/records.ts'
import { describeInChromium, type Watching, watching } from './chromium.ts'
import { type Site, startSite } from './site.ts'

describeInChromium('web vitals', () => {
  let site: Site
  let watch: Watching
  beforeAll(async () => {
    site = await startSite()
    watch = await watching()
  })
  afterAll(async () => {
    await watch?.browser.close()
    await site?.close()
  })

  const snapshots = (path: string): readonly PerformanceSnapshot[] =>
    [...watch.recording.of('snapshots')].filter(({ url }) => url === site.url + path)
  const fresh = async (path: string): Promise<PerformanceSnapshot> => {
    await watch.browser.open('about:blank')
    watch.recording.clear()
    await watch.browser.open(`${site.url}${path}`)
    return watch.until('a measurement', () => snapshots(path)[0])
  }

  test('a page is measured shortly after it has loaded', async () => {
    const { ttfb, fcp, lcp, cls, domContentLoaded, load, requests, transferred, longTasks, tab } = await fresh('/')
    const order = [0, ttfb, fcp, lcp].map((value) => value ?? Number.NaN)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(domContentLoaded).toBeLessThanOrEqual(load ?? 0)
    expect(cls).toBeGreaterThanOrEqual(0)
    expect(requests).toBeGreaterThanOrEqual(4)
    expect(transferred).toBeGreaterThan(2_000)
    expect(longTasks.count).toBeGreaterThanOrEqual(0)
    expect(tab).toBe('tab-1')
  })

  test('a slow click is included in the next measurement', async () => {
    await fresh('/')
    await watch.page.getByTestId('block').click()
    await watch.page.getByText('blocked', { exact: true }).waitFor()
    // The browser reports the duration of a click only after the next frame is painted.
    await watch.page.waitForTimeout(200)
    await watch.browser.snapshot()
    const last = snapshots('/').at(-1)
    expect(snapshots('/')).toHaveLength(2)
    expect(last?.inp).toBeGreaterThanOrEqual(112)
    expect(last?.longTasks.longest).toBeGreaterThanOrEqual(112)
  })

  test('layout shifts are counted, and reported on navigation', async () => {
    const first = await fresh('/')
    await watch.page.evaluate(() => {
      const notice = document.getElementById('notice')
      if (notice !== null) notice.hidden = false
    })
    await watch.page.waitForTimeout(200)
    await watch.browser.open(`${site.url}/second`)
    const last = await watch.until('a last measurement', () => (snapshots('/').length > 1 ? snapshots('/').at(-1) : undefined))
    expect(last.cls).toBeGreaterThan(first.cls ?? 0)
    expect(last.requests).toBeGreaterThanOrEqual(first.requests)
  })

  test('measuring again without a change adds nothing', async () => {
    await fresh('/second')
    await watch.browser.snapshot()
    await watch.browser.snapshot('tab-1')
    expect(snapshots('/second')).toHaveLength(1)
  })

  test('each page has its own counts', async () => {
    const { requests } = await fresh('/')
    const other = await fresh('/second')
    expect(other.requests).toBeLessThan(requests)
  })

  test('a busy page is reported as such', async () => {
    await fresh('/second')
    const busy = watch.page.evaluate(() => {
      const until = performance.now() + 6_000
      while (performance.now() < until);
    })
    await watch.page.waitForTimeout(100)
    await expect(watch.browser.snapshot()).rejects.toThrow(/tab-1 does not answer: its page is busy/)
    await busy
  })
})
