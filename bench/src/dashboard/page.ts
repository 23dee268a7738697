/// <reference lib="dom" />
import { findChromium } from '@unfold-mcp/browser'
import { chromium, type Page } from 'playwright-core'

export interface OpenPage extends AsyncDisposable {
  readonly page: Page
}

/** CPU time of the main thread of a page since it was opened, in milliseconds: other load on the machine does not count. */
export async function cpuMeter(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN)
  }
}

/** Opens the dashboard in a headless browser. */
export async function openPage(link: string): Promise<OpenPage> {
  const executablePath = findChromium({ platform: process.platform, variables: process.env })
  const args = process.platform === 'linux' && process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const browser = await chromium.launch({ executablePath, args })
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.goto(link)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  return { page, [Symbol.asyncDispose]: () => browser.close() }
}

export async function goTo(page: Page, hash: string, title: string): Promise<void> {
  await page.evaluate((next) => {
    location.hash = next
  }, hash)
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
}

/** Milliseconds from following the link to a screen until its rows are painted, its data included. */
export async function timeScreen(page: Page, hash: string, label: string): Promise<number> {
  await goTo(page, '#/connect', 'Connect')
  return page.evaluate(
    async ({ next, region }) => {
      const begin = performance.now()
      location.hash = next
      const isShown = (): boolean => document.querySelector(`[aria-label="${region}"] tbody tr`) !== null
      while (!isShown()) await new Promise(requestAnimationFrame)
      // A message is delivered after the frame is painted.
      await new Promise<void>((resolve) => {
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = () => resolve()
          port2.postMessage(undefined)
        })
      })
      return performance.now() - begin
    },
    { next: hash, region: label },
  )
}

/** Milliseconds from loading the page with an empty memory until the rows of a screen are painted. */
export async function timeLoad(page: Page, address: string, label: string): Promise<number> {
  await page.goto('about:blank')
  await page.goto(address, { waitUntil: 'commit' })
  return page.evaluate(async (region) => {
    while (document.querySelector(`[aria-label="${region}"] tbody tr`) === null) await new Promise(requestAnimationFrame)
    await new Promise(requestAnimationFrame)
    return performance.now()
  }, label)
}

/** Milliseconds from each keystroke in the filter until the changed rows are in the document with their layout. */
export async function timeFilter(page: Page, text: string): Promise<readonly number[]> {
  const times = await page.evaluate(async (typed) => {
    const input = document.querySelector<HTMLInputElement>('input[type=search]')
    if (input === null) throw new Error('There is no filter.')
    const all: number[] = []
    const type = async (value: string): Promise<void> => {
      // Starts at the beginning of a frame, so that a missed frame is a missed frame.
      await new Promise(requestAnimationFrame)
      const begin = performance.now()
      const rendered = new Promise<void>((resolve) => {
        const observer = new MutationObserver(() => {
          observer.disconnect()
          resolve()
        })
        observer.observe(document.querySelector('main') ?? document.body, { childList: true, subtree: true, characterData: true })
      })
      input.value = value
      input.dispatchEvent(new Event('input', { bubbles: true }))
      await rendered
      void document.body.offsetHeight
      all.push(performance.now() - begin)
    }
    for (let end = 1; end <= typed.length; end++) await type(typed.slice(0, end))
    for (let end = typed.length - 1; end >= 0; end--) await type(typed.slice(0, end))
    return all
  }, text)
  return times
}

/** What a burst of events did to the frames of a page. */
export interface Frames {
  readonly frames: number
  readonly p95: number
  readonly max: number
  /** Time in tasks of 50 ms or more. */
  readonly longMs: number
  readonly updates: number
}

/** Watches frames from now on; the returned function stops and reports. */
export async function watchFrames(page: Page): Promise<() => Promise<Frames>> {
  await page.evaluate(() => {
    const state = { times: [] as number[], longMs: 0, updates: 0, isOn: true }
    Object.assign(globalThis, { frameWatch: state })
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) state.longMs += duration
    }).observe({ entryTypes: ['longtask'] })
    new MutationObserver(() => {
      state.updates++
    }).observe(document.querySelector('main') ?? document.body, { childList: true, subtree: true, characterData: true })
    const tick = (at: number): void => {
      state.times.push(at)
      if (state.isOn) requestAnimationFrame(tick)
    }
    requestAnimationFrame(tick)
  })
  return () =>
    page.evaluate(() => {
      const { frameWatch } = globalThis as unknown as {
        frameWatch: { times: number[]; longMs: number; updates: number; isOn: boolean }
      }
      frameWatch.isOn = false
      const gaps = frameWatch.times.slice(1).map((at, index) => at - (frameWatch.times[index] ?? at))
      const sorted = gaps.toSorted((a, b) => a - b)
      return {
        frames: gaps.length,
        p95: sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN,
        max: sorted.at(-1) ?? Number.NaN,
        longMs: frameWatch.longMs,
        updates: frameWatch.updates,
      }
    })
}
