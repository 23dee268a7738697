import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { chromiumArgs, chromiumPath } from './chromium.ts'
import { type Site, startSite } from './site.ts'

/** A browser and the test site for the tests of one file, and a new tab for each test that needs one. */
export interface Looking {
  readonly site: Site
  readonly browser: Browser
  /** A new tab with a path of the site; closed when it is disposed of. */
  open(path?: string): Promise<OpenTab>
  /** The same, with this content instead. */
  show(html: string): Promise<OpenTab>
}

export interface OpenTab extends AsyncDisposable {
  readonly page: Page
  readonly context: BrowserContext
}

/** Starts both before the tests of the file, and stops them afterwards. */
export function looking(): Looking {
  let browser: Browser | undefined
  let site: Site | undefined
  beforeAll(async () => {
    site = await startSite()
    browser = await chromium.launch({ executablePath: chromiumPath(), args: [...chromiumArgs] })
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })
  const started = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('The browser is started before the tests, not before they are declared.')
    return value
  }
  const fresh = async (): Promise<OpenTab> => {
    const context = await started(browser).newContext()
    const page = await context.newPage()
    return { page, context, [Symbol.asyncDispose]: () => context.close() }
  }
  return {
    get site() {
      return started(site)
    },
    get browser() {
      return started(browser)
    },
    open: async (path = '/') => {
      const tab = await fresh()
      await tab.page.goto(`${started(site).url}${path}`)
      return tab
    },
    show: async (html) => {
      const tab = await fresh()
      await tab.page.goto(`${started(site).url}/second`)
      await tab.page.setContent(html)
      return tab
    },
  }
}
