import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { auditPage } from '../src/analyze/accessibility.ts'
import { har } from '../src/generate/har/har.ts'
import { sarif } from '../src/generate/sarif/sarif.ts'
import { playwrightTest } from '../src/generate/script/playwright-test.ts'
import { reproduction } from '../src/generate/script/reproduction.ts'
import type { Kind, Records } from '../src/records/records.ts'
import { chromiumArgs, chromiumPath, describeInChromium, type Watching, watching } from './chromium.ts'
import { runScript, runSpec } from './generate-running.ts'
import { harErrors, sarifErrors } from './generate-schemas.ts'
import { startServer } from './generate-server.ts'
import { startSite } from './site.ts'

const slow = { timeout: 300_000 }

/** All records of a kind. */
function all<K extends Kind>({ recording }: Watching, kind: K): readonly Records[K][] {
  return [...recording.of(kind)]
}

/** Places an order like a user, with mouse and keyboard. */
async function order(page: Page): Promise<void> {
  await page.getByTestId('add').click()
  await page.getByRole('status').filter({ hasText: '201' }).waitFor()
  await page.getByTestId('load-one').click()
  await page.getByRole('status').filter({ hasText: '200 /api/items/2' }).waitFor()
  await page.getByLabel('Name', { exact: true }).pressSequentially('Ada "the first" Lovelace')
  await page.getByPlaceholder('you@example.com').pressSequentially('ada@example.com')
  await page.getByLabel('Password').pressSequentially('hunter2')
  await page.getByRole('combobox').press('ArrowDown')
  await page.getByText('It is a gift').click()
  await page.getByTestId('order').click()
  await page.waitForURL('**/ordered')
  await page.getByRole('link', { name: 'Back' }).click()
  await page.getByTestId('push').click()
  await page.waitForURL('**/pushed')
}

const ordered = {
  name: 'Ada "the first" Lovelace',
  email: 'ada@example.com',
  password: 'from outside',
  card: '',
  size: 'm',
  gift: 'on',
}

describeInChromium('a real recording', () => {
  test('is replayed by the script, and asserted by the test', slow, async () => {
    await using site = await startSite()
    await using watched = await watching({ open: `${site.url}/` })
    await order(watched.page)
    await watched.until('the last step is recorded', () => all(watched, 'actions').some(({ url }) => url.endsWith('/pushed')))
    const actions = all(watched, 'actions')
    // The page was opened by the recorder; the script must open it as well.
    expect(actions[0]?.action).not.toBe('navigation')
    expect(reproduction(actions)).toContain(`open ${site.url}/`)
    const before = site.requests.length
    const repeated = await runScript(reproduction(actions), { UNFOLD_SECRET_1: 'from outside' })
    expect(repeated.output).toMatch(/All \d+ steps were repeated/)
    expect(repeated.code).toBe(0)
    const forms = site.requests.slice(before).filter(({ method, path }) => method === 'POST' && path === '/ordered')
    expect(forms.map(({ body }) => Object.fromEntries(new URLSearchParams(body)))).toEqual([ordered])
    const spec = playwrightTest({ actions, logs: all(watched, 'logs'), network: all(watched, 'network') })
    expect(spec.match(/(?<=await )answered\(.*/g)).toEqual(
      expect.arrayContaining([
        'answered("GET", at("/api/items"), 200)',
        'answered("POST", at("/api/items"), 201)',
        'answered("POST", at("/ordered"), 200)',
      ]),
    )
    const tested = await runSpec(spec)
    expect(tested.output).toContain('1 passed')
  })

  test('is replayed with Enter in a form, in a frame, and in a new tab', slow, async () => {
    await using site = await startSite()
    await using server = await startServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<a href="${site.url}/second" target="_blank">Elsewhere</a>`)
    })
    await using watched = await watching({ open: `${site.url}/frames` })
    const { page } = watched
    await page.frameLocator('iframe[title="far"]').getByTestId('inside').click()
    await page.goto(`${site.url}/`)
    await page.getByLabel('Name', { exact: true }).pressSequentially('Ada')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/ordered')
    await page.goto(server.url)
    await page.getByText('Elsewhere').click()
    await watched.until('the new tab is recorded', () => all(watched, 'actions').some(({ tab }) => tab === 'tab-2'))
    const before = site.requests.length
    const { code, output } = await runScript(reproduction(all(watched, 'actions')))
    expect(output).toMatch(/All \d+ steps were repeated/)
    expect(code).toBe(0)
    expect(site.requests.slice(before).filter(({ path }) => path === '/ordered')).toHaveLength(1)
  })

  test('can be replayed from an HTTP archive without the site', slow, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'unfold-har-'))
    const browser = await chromium.launch({ executablePath: chromiumPath(), args: [...chromiumArgs] })
    try {
      const site = await startSite()
      await using watched = await watching({ open: `${site.url}/` })
      await watched.page.getByTestId('redirected').click()
      await watched.page.getByTestId('fail').click()
      await watched.until('all is recorded', () => all(watched, 'network').some(({ status }) => status === 500))
      await site.close()
      const file = har(all(watched, 'network'), { version: '1.2.3', snapshots: all(watched, 'snapshots') })
      expect(harErrors(file)).toBeNull()
      await writeFile(join(folder, 'site.har'), JSON.stringify(file))
      const page = await browser.newPage()
      await page.routeFromHAR(join(folder, 'site.har'), { notFound: 'abort' })
      await page.goto(`${site.url}/`)
      await page.getByRole('listitem').filter({ hasText: 'Thimble' }).waitFor({ timeout: 120_000 })
      await page.getByTestId('fail').click()
      await page.getByRole('status').filter({ hasText: '500 /api/fail' }).waitFor({ timeout: 120_000 })
    } finally {
      await browser.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    }
  })

  test('becomes a valid SARIF log with the violations of the page', slow, async () => {
    await using site = await startSite()
    await using watched = await watching({ open: `${site.url}/` })
    const found = await auditPage(watched.page, {})
    const log = sarif({ ...found, seq: 1, tab: 'tab-1' }, { version: '1.2.3' })
    expect(sarifErrors(log)).toBeNull()
    const results = log.runs[0].results.map(({ ruleId, level }) => `${level} ${ruleId}`)
    expect(results).toEqual(
      expect.arrayContaining(['error image-alt', 'error label', 'error color-contrast', 'error html-has-lang']),
    )
  })
})
