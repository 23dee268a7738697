import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { findChromium, launchChromium, Recording, Redactor, watchBrowser } from '@unfold-mcp/browser'
import { chromium as playwright } from 'playwright-core'

/** How long a page takes to load, with and without somebody watching. */
export interface Loading {
  readonly loads: number
  readonly plainMs: number
  readonly watchedMs: number
}

/** Loads the same page by turns in two browsers, one watched and one not: what else the machine does hits both. */
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
    return { loads, plainMs: median(plainMs), watchedMs: median(watchedMs) }
  } finally {
    await Promise.allSettled([plain.close(), watched.close(), site.close()])
  }
}

/** Runs in the page: from the navigation to the end of the load event. */
const loadTime = `(() => new Promise((done) => {
  const look = () => {
    const [entry] = performance.getEntriesByType('navigation')
    if (entry !== undefined && entry.loadEventEnd > 0) done(entry.loadEventEnd)
    else setTimeout(look, 5)
  }
  look()
}))()`

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** A page of some size: scripts, pictures, requests, console messages. */
async function startSite(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const script = `for (let i = 0; i < 20; i++) console.log('script says', i); const list = document.createElement('ul');
    for (let i = 0; i < 500; i++) { const item = document.createElement('li'); item.textContent = 'Item ' + i; list.append(item) }
    document.body.append(list)`
  const scripts = Array.from({ length: 15 }, (_, i) => `<script src="/script-${i}.js"></script>`).join('')
  const page = `<!doctype html><html lang="en"><title>Shop</title><body><h1>Shop</h1>${scripts}
    <script>for (let i = 0; i < 10; i++) fetch('/api/items/' + i).then((r) => r.json())</script></body></html>`
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    const isScript = path.endsWith('.js')
    const isData = path.startsWith('/api/')
    response.setHeader('cache-control', 'no-store')
    response.setHeader('content-type', isScript ? 'text/javascript' : isData ? 'application/json' : 'text/html; charset=utf-8')
    response.end(isScript ? `{${script}}` : isData ? JSON.stringify({ path, items: [1, 2, 3] }) : page)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
