import axe, { type AxeResults } from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { chromiumArgs, chromiumPath } from '../../browser/test/chromium.ts'
import type { FromFileOptions } from '../../gateway/test/gateway-file.ts'
import { served } from '../../gateway/test/served.ts'

const minute = 60_000

/** A gateway with the dashboard, and a browser. */
export interface Dashboard extends AsyncDisposable {
  readonly edge: Awaited<ReturnType<typeof served>>
  readonly browser: Browser
  /** A browser of its own, signed in, on the overview. */
  signedIn(options?: BrowserContextOptions): Promise<Page>
  /** A link that signs in once. */
  link(): Promise<string>
}

export async function dashboardOf(
  config: object,
  { args = [], ...options }: FromFileOptions & { readonly args?: readonly string[] } = {},
): Promise<Dashboard> {
  const edge = await served(config, options)
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: [...chromiumArgs, ...args] })
  const link = async (): Promise<string> => ((await edge.api('/links', { method: 'POST' })) as { readonly url: string }).url
  return {
    edge,
    browser,
    link,
    async signedIn(context) {
      const page = await (await browser.newContext({ reducedMotion: 'reduce', ...context })).newPage()
      page.setDefaultTimeout(minute)
      await page.goto(await link())
      await shown(page, 'Overview')
      return page
    },
    async [Symbol.asyncDispose]() {
      await browser.close()
      await edge[Symbol.asyncDispose]()
    },
  }
}

/** Opens a screen within the page, as a link does. */
export async function show(page: Page, hash: string, title?: string): Promise<void> {
  await page.evaluate((next) => {
    location.hash = next
  }, hash)
  if (title !== undefined) await shown(page, title)
}

/** Waits until a screen is shown with its data. */
export async function shown(page: Page, title: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
  await loaded(page)
}

export async function loaded(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('.skeleton') === null)
}

/** Every screen of a gateway with these servers. */
export const screensOf = (servers: readonly string[]): readonly (readonly [hash: string, title: string])[] => [
  ['#/overview', 'Overview'],
  ['#/servers', 'Servers'],
  ...servers.map((name) => [`#/servers/${encodeURIComponent(name)}`, name] as const),
  ['#/clients', 'View as client'],
  ['#/tools', 'Tools'],
  ['#/review', 'Review'],
  ['#/activity', 'Activity'],
  ['#/usage', 'Usage'],
  ['#/connect', 'Connect'],
]

/** Selects every tab of a screen in turn. */
export async function* tabsOf(page: Page): AsyncGenerator<string> {
  const tabs = page.getByRole('tab')
  for (let index = 0; index < (await tabs.count()); index++) {
    await tabs.nth(index).click()
    await loaded(page)
    yield (await tabs.nth(index).textContent()) ?? ''
  }
}

const allRules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Returns the violations of WCAG 2.2 AA that axe-core finds, one line per element. */
export async function violations(page: Page, rules: readonly string[] = allRules): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  const results: AxeResults = await page.evaluate(`axe.run({ runOnly: ${JSON.stringify(rules)} })`)
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  )
}
