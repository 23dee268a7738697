import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chromiumArgs, chromiumPath, describeInChromium } from '../../browser/test/chromium.ts'
import { until } from '../../client/test/processes.ts'
import { served } from '../../gateway/test/served.ts'
import { server } from '../../gateway/test/upstreams.ts'

const minute = 60_000
const config = {
  mcpServers: {
    mirror: server('mirror.mjs'),
    markup: { command: process.execPath, args: [fileURLToPath(new URL('servers/markup.mjs', import.meta.url))] },
    broken: { command: process.execPath, args: ['-e', 'console.error("no licence key"); process.exit(3)'] },
  },
}

describeInChromium('the dashboard', () => {
  let edge: Awaited<ReturnType<typeof served>>
  let browser: Browser
  let signedIn: BrowserContext

  beforeAll(async () => {
    edge = await served(config)
    browser = await chromium.launch({ executablePath: chromiumPath(), args: [...chromiumArgs] })
    await Promise.all([edge.ready('mirror'), edge.ready('markup')])
    await until(() => edge.gateway.upstreams.get('broken')?.state === 'failed', 'broken has failed')
    signedIn = await context()
    const page = await signedIn.newPage()
    await page.goto(await link())
    await shown(page, 'Overview')
    await page.close()
  }, 5 * minute)

  afterAll(async () => {
    await browser?.close()
    await edge?.[Symbol.asyncDispose]()
  })

  test('a link signs one browser in once, and its code does not stay in the address', async () => {
    const url = await link()
    const [first, second] = [await context(), await context()]
    const page = await first.newPage()
    await page.goto(url)
    await shown(page, 'Overview')
    expect(page.url()).toBe(`${edge.origin}/ui/`)
    const late = await second.newPage()
    await late.goto(url)
    await shown(late, 'Sign in to Unfold')
    expect(await late.getByText('This link was used already or has expired.').count()).toBe(1)
    await Promise.all([first.close(), second.close()])
  })

  test('the overview names the server that fails, and why', async () => {
    const page = await open('#/overview', 'Overview')
    const concern = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem').filter({ hasText: 'broken' })
    expect(await concern.textContent()).toContain('no licence key')
    expect(await concern.getByText('unfold restart broken', { exact: true }).count()).toBe(1)
    await page.close()
  })

  test('the page of a server shows its tools', async () => {
    const page = await open('#/servers', 'Servers')
    await page.getByRole('link', { name: 'mirror', exact: true }).click()
    await shown(page, 'mirror')
    await page.getByRole('tab', { name: 'Tools (3)' }).waitFor()
    for (const name of ['show', 'refuse', 'die']) await page.getByRole('link', { name: new RegExp(`${name}$`, 'u') }).waitFor()
    await page.close()
  })

  test('the view of a client lists its tools with their tokens, and explains one', async () => {
    const page = await open('#/clients', 'View as client')
    const row = page.getByRole('region', { name: 'Tools of this client' }).getByRole('row').filter({ hasText: 'refuse' })
    expect(await row.textContent()).toMatch(/Listed[\s\S]*\d+/u)
    await row.getByRole('button', { name: /^Why: / }).click()
    await page.getByRole('heading', { name: /refuse is listed$/u }).waitFor()
    expect(await page.getByText(/^unfold why \S*refuse$/u).count()).toBe(1)
    await page.close()
  })

  test('the tools can be filtered with the keyboard', async () => {
    const page = await open('#/tools', 'Tools')
    const filter = page.getByLabel('Filter')
    for (let steps = 0; steps < 30 && !(await filter.evaluate((element) => element === document.activeElement)); steps++)
      await page.keyboard.press('Tab')
    await page.keyboard.type('refuse')
    const rows = page.getByRole('region', { name: 'Tools' }).locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(1)
    expect(await rows.textContent()).toContain('refuse')
    await page.close()
  })

  test('a page whose session ended shows how to sign in', async () => {
    const own = await context()
    const page = await own.newPage()
    await page.goto(await link())
    await shown(page, 'Overview')
    await page.evaluate(() => fetch('/api/session', { method: 'DELETE', headers: { 'x-unfold-csrf': '1' } }))
    await page.goto(`${edge.origin}/ui/#/tools`)
    await page.reload()
    await shown(page, 'Sign in to Unfold')
    expect(await page.getByText('unfold ui', { exact: true }).count()).toBe(1)
    await own.close()
  })

  test.each(['#/servers/markup', '#/tools', '#/clients'])('AT-UI-6 (X06): %s shows markup of a server as text', async (hash) => {
    const page = await open(hash)
    await page
      .getByText('Decorates <img src=x')
      .or(page.getByText(/decorate$/u))
      .first()
      .waitFor()
    if (hash === '#/servers/markup') {
      await page.getByRole('tab', { name: 'stderr' }).click()
      await page.locator('pre').filter({ hasText: '<img src=x' }).waitFor()
    }
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.title()).not.toBe('attacked')
    await page.close()
  })

  async function context(): Promise<BrowserContext> {
    const made = await browser.newContext()
    made.setDefaultTimeout(minute)
    return made
  }

  async function link(): Promise<string> {
    const { url } = (await edge.api('/links', { method: 'POST' })) as { readonly url: string }
    return url
  }

  async function open(hash: string, title?: string): Promise<Page> {
    const page = await signedIn.newPage()
    await page.goto(`${edge.origin}/ui/${hash}`)
    if (title !== undefined) await shown(page, title)
    return page
  }
})

/** Waits until a screen is shown with its data. */
async function shown(page: Page, title: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
  await page.waitForFunction(() => document.querySelector('.skeleton') === null)
}
