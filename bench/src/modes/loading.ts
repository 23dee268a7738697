import { fork } from 'node:child_process'
import { once } from 'node:events'
import { findChromium, launchChromium, Recording, Redactor, watchBrowser } from '@unfold-mcp/browser'
import { chromium as playwright } from 'playwright-core'

/** Load time of a page, with and without the browser server attached. */
export interface Loading {
  readonly loads: number
  readonly plainMs: number
  readonly watchedMs: number
}

/** Loads a page alternately in a watched and an unwatched browser, so that other load affects both equally. */
export async function loadingTimes(loads: number): Promise<Loading> {
  const executablePath = findChromium({ platform: process.platform, variables: process.env })
  const site = await startSite()
  const isRoot = process.getuid?.() === 0
  const plain = await playwright.launch({ executablePath, args: isRoot ? ['--no-sandbox'] : [] })
  const chromium = await launchChromium({ executablePath, headless: true })
  const watched = await watchBrowser(chromium, new Recording({ redactor: new Redactor() }))
  try {
    const page = await plain.newPage()
    const open = async (): Promise<void> => {
      await watched.open(site.url)
    }
    const { page: seen } = await watched.open(site.url)
    await page.goto(site.url)
    const plainMs: number[] = []
    const watchedMs: number[] = []
    for (let i = 0; i < loads; i++) {
      await page.goto(site.url, { waitUntil: 'load' })
      plainMs.push(await page.evaluate(loadTime))
      await open()
      await seen.waitForLoadState('load')
      watchedMs.push(await seen.evaluate(loadTime))
    }
    return { loads, plainMs: quartile(plainMs), watchedMs: quartile(watchedMs) }
  } finally {
    await Promise.allSettled([plain.close(), watched.close(), site.close()])
  }
}

/** Runs in the page: returns the time from navigation to the end of the load event. */
const loadTime = `(() => new Promise((done) => {
  const look = () => {
    const [entry] = performance.getEntriesByType('navigation')
    if (entry !== undefined && entry.loadEventEnd > 0) done(entry.loadEventEnd)
    else setTimeout(look, 5)
  }
  look()
}))()`

// Other load on the machine only slows a page down, so the fastest quarter is the best estimate.
const quartile = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? 0

async function startSite(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const child = fork(new URL('servers/site.js', import.meta.url))
  const [port] = (await once(child, 'message')) as [number]
  return {
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
