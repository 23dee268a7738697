import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as browserPackage from '@unfold-mcp/browser'
import * as clientPackage from '@unfold-mcp/client'
import * as gatewayPackage from '@unfold-mcp/gateway'
import * as serverPackage from '@unfold-mcp/server'
import axe, { type AxeResults, type RunOptions } from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chromiumArgs, chromiumPath, describeInChromium } from '../../packages/browser/test/chromium.ts'
import { verbs } from '../../packages/cli/src/grammar/verbs.ts'
import { runs } from '../runs.ts'
import { type StaticServer, staticServer } from './static-server.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const dist = join(root, 'site/dist')
const minute = 60_000
const phone = { width: 390, height: 844 }
// Pages prefetch what the links in the viewport lead to.
const small = { width: 400, height: 200 }

interface Visit {
  readonly ids: ReadonlySet<string>
  /** Links of the page to the site. */
  readonly links: readonly string[]
  readonly problems: readonly string[]
}

describeInChromium('the documentation site', () => {
  let browser: Browser
  let site: StaticServer
  const visits = new Map<string, Visit>()

  beforeAll(async () => {
    await promisify(execFile)(process.execPath, ['scripts/docs.mjs'], { cwd: root, maxBuffer: 1 << 26 })
    site = await staticServer(dist)
    browser = await chromium.launch({ executablePath: chromiumPath(), args: [...chromiumArgs] })
    const queue = htmlFiles()
    const opened = new Set(openedOf(queue))
    const worker = async (): Promise<void> => {
      const page = await browser.newPage({ viewport: small })
      page.setDefaultTimeout(minute)
      await page.goto(site.url)
      for (let path = queue.pop(); path !== undefined; path = queue.pop())
        visits.set(path, await (opened.has(path) ? visit(page, path) : parse(page, path)))
      await page.close()
    }
    await Promise.all([worker(), worker()])
  }, 15 * minute)

  afterAll(async () => {
    await browser?.close()
    await site?.[Symbol.asyncDispose]()
  })

  test('no page reports an error, misses a file or sends a request to another origin', () => {
    expect([...visits].flatMap(([path, { problems }]) => problems.map((problem) => `${path}: ${problem}`))).toEqual([])
  })

  test('every link has a valid page and anchor', () => {
    const dead = [...visits].flatMap(([path, { links }]) =>
      links.filter((link) => !leadsSomewhere(link)).map((link) => `${path}: ${link}`),
    )
    expect(dead).toEqual([])
  })

  test('every page can be reached from the home page', () => {
    const reached = new Set(['index.html'])
    for (const path of reached) for (const link of visits.get(path)?.links ?? []) reached.add(fileOf(link))
    expect([...visits.keys()].filter((path) => path !== '404.html' && !reached.has(path))).toEqual([])
  })

  test('the reference has every key of the configuration and every command', () => {
    const schema = readFileSync(join(root, 'packages/gateway/unfold.schema.json'), 'utf8')
    const { $schema: _, ...keys } = JSON.parse(schema).properties
    const commands = Object.keys(verbs).map((verb) => `unfold-${verb}`)
    expect(missing('configuration.html', Object.keys(keys))).toEqual([])
    expect(missing('commands.html', commands)).toEqual([])
  })

  test('the API reference has every value that a package exports', () => {
    expect(missing('api/server.html', Object.keys(serverPackage))).toEqual([])
    expect(missing('api/client.html', Object.keys(clientPackage))).toEqual([])
    expect(missing('api/gateway.html', Object.keys(gatewayPackage))).toEqual([])
    expect(missing('api/browser.html', Object.keys(browserPackage))).toEqual([])
  })

  test.each([
    ['budgetTokens', '/configuration.html#budgettokens'],
    ['defineToolbox', '/api/server.html#definetoolbox'],
    ['unknown_tool', '/errors/unknown_tool.html'],
  ])('searching for %s finds %s', async (term, wanted) => {
    const page = await open('/')
    const found = await search(page, term)
    expect(found.filter((address) => address.startsWith(wanted))).not.toEqual([])
    await page.close()
  })

  test('the search works with the keyboard only', async () => {
    const page = await open('/')
    await page.keyboard.press('Control+k')
    await page.locator('#localsearch-input:focus').waitFor()
    await page.keyboard.type('budgetTokens')
    // On a busy machine the page shows results for the first letters before the last one is typed: Enter would open one of those.
    await page.locator('.VPLocalSearchBox .result.selected[href*="/configuration.html#"]').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/configuration\.html#/u)
    await page.close()
  })

  test.each(['/', '/library.html', '/guides/hosts.html', '/configuration.html', '/api/server/testing.html', '/404.html'])(
    '%s has no accessibility violations in the light and the dark theme',
    async (path) => {
      const page = await open(path)
      expect(await violationsInBoth(page)).toEqual([])
      await page.close()
    },
  )

  test('the open search dialog has no accessibility violations in the light and the dark theme', async () => {
    const page = await open('/guides/search.html')
    expect(await search(page, 'permissions')).not.toEqual([])
    expect(await violationsInBoth(page)).toEqual([])
    await page.close()
  })

  test.each(['/', '/guides/hosts.html', '/configuration.html'])('%s has no accessibility violations on a phone', async (path) => {
    const page = await open(path, phone)
    expect(await violations(page)).toEqual([])
    await page.close()
  })

  async function open(path: string, viewport?: typeof phone): Promise<Page> {
    const page = await browser.newPage({ colorScheme: 'light', reducedMotion: 'reduce', ...(viewport && { viewport }) })
    page.setDefaultTimeout(minute)
    await page.goto(site.url + path)
    await mounted(page)
    return page
  }

  async function visit(page: Page, path: string): Promise<Visit> {
    const problems: string[] = []
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text())
    })
    page.on('pageerror', ({ message }) => problems.push(message))
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url())
      if (origin !== site.url && protocol !== 'data:') problems.push(`requests ${request.url()}`)
    })
    await page.goto(`${site.url}/${path}`)
    await mounted(page)
    const { ids, links } = await page.evaluate(() => ({
      ids: Array.from(document.querySelectorAll('[id]'), ({ id }) => id),
      links: Array.from(document.querySelectorAll<HTMLAnchorElement>('a[href]'), ({ href }) => href),
    }))
    page.removeAllListeners()
    return { ids: new Set(ids), links: links.filter((link) => link.startsWith(`${site.url}/`)), problems }
  }

  /** Reads a page in the browser without opening it, in a twentieth of the time. */
  async function parse(page: Page, path: string): Promise<Visit> {
    const url = `${site.url}/${path}`
    const { ids, hrefs } = await page.evaluate(async (address) => {
      const html = await fetch(address).then((response) => response.text())
      const parsed = new DOMParser().parseFromString(html, 'text/html')
      return {
        ids: Array.from(parsed.querySelectorAll('[id]'), ({ id }) => id),
        hrefs: Array.from(parsed.querySelectorAll('a[href]'), (link) => link.getAttribute('href') ?? ''),
      }
    }, url)
    const links = hrefs.map((href) => new URL(href, url).href).filter((link) => link.startsWith(`${site.url}/`))
    return { ids: new Set(ids), links, problems: [] }
  }

  function leadsSomewhere(link: string): boolean {
    const { hash } = new URL(link)
    const target = visits.get(fileOf(link))
    return target !== undefined && (hash === '' || target.ids.has(decodeURIComponent(hash.slice(1))))
  }

  /** Returns the names that have no anchor on a page. */
  function missing(path: string, names: readonly string[]): readonly string[] {
    return names.filter((name) => visits.get(path)?.ids.has(name.toLowerCase()) !== true)
  }
})

/** All pages except the descriptions of errors, which have one template: of these, every tenth; in long runs, all. */
function openedOf(paths: readonly string[]): readonly string[] {
  const errors = paths.filter((path) => path.startsWith('errors/'))
  const closed = new Set(errors.filter((_, index) => index % runs({ long: 1, sample: 10 }) !== 0))
  return paths.filter((path) => !closed.has(path))
}

function htmlFiles(): string[] {
  return readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.html'))
}

/** Returns the file for a URL, like a static server. */
function fileOf(link: string): string {
  const path = decodeURIComponent(new URL(link).pathname).slice(1)
  return path === '' || path.endsWith('/') ? `${path}index.html` : path
}

/** Waits until Vue has hydrated the page. */
async function mounted(page: Page): Promise<void> {
  await page.waitForFunction(() => '__vue_app__' in (document.querySelector('#app') ?? {}))
}

/** Searches and returns the URLs of the results. */
async function search(page: Page, term: string): Promise<readonly string[]> {
  await page.locator('#local-search button').click()
  await page.locator('#localsearch-input').fill(term)
  const results = page.locator('.VPLocalSearchBox .result')
  await results.first().waitFor()
  return results.evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
}

/** The violations in the light theme, and those of colours in the dark one: the themes have the same elements. */
async function violationsInBoth(page: Page): Promise<readonly string[]> {
  const light = await violations(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.waitForFunction(() => document.documentElement.classList.contains('dark'))
  return [...light, ...(await violations(page, { runOnly: ['color-contrast', 'link-in-text-block'] }))]
}

/** Returns the violations that axe-core reports, by default with its default rules, one line per element. */
async function violations(page: Page, options: RunOptions = {}): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const results: AxeResults = await page.evaluate(`axe.run(${JSON.stringify(options)})`)
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  )
}
