import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { chromiumArgs, chromiumPath } from './chromium.ts'
import { type Site, startSite } from './site.ts'

/** A browser and the test site for the tests of one file, and a tab for each test that needs one. */
export interface Looking {
  readonly site: Site
  readonly browser: Browser
  /** A tab with a path of the site. The next test uses it again when it is disposed of, unless it is `own`. */
  open(path?: string, options?: { readonly own?: boolean }): Promise<OpenTab>
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
  // A new tab costs as much CPU time as most tests: about half a second.
  const idle: Page[] = []
  const free = async (own = false): Promise<OpenTab> => {
    const page = (own ? undefined : idle.pop()) ?? (await (await started(browser).newContext()).newPage())
    const context = page.context()
    return { page, context, [Symbol.asyncDispose]: async () => (own ? context.close() : void idle.push(page)) }
  }
  return {
    get site() {
      return started(site)
    },
    get browser() {
      return started(browser)
    },
    open: async (path = '/', { own } = {}) => {
      const tab = await free(own)
      await tab.page.goto(`${started(site).url}${path}`)
      return tab
    },
    show: async (html) => {
      const tab = await free()
      await tab.page.goto(`${started(site).url}/second`)
      await tab.page.setContent(html)
      return tab
    },
  }
}
