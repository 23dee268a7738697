import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chromiumArgs, chromiumPath, describeInChromium } from '../../browser/test/chromium.ts'
import { served } from '../../gateway/test/served.ts'
import { server } from '../../gateway/test/upstreams.ts'
import type { ListUsageRow } from '../src/data/contract.ts'

const minute = 60_000
const manyRows = 10_000

describeInChromium('usage and activity on the dashboard', () => {
  let edge: Awaited<ReturnType<typeof served>>
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    edge = await served({ mcpServers: { mirror: server('mirror.mjs') } })
    browser = await chromium.launch({ executablePath: chromiumPath(), args: [...chromiumArgs] })
    await edge.ready('mirror')
    await using client = await edge.connect()
    await client.toolNames()
    page = await browser.newPage()
    page.setDefaultTimeout(minute)
    const { url } = (await edge.api('/links', { method: 'POST' })) as { readonly url: string }
    await page.goto(url)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  }, 5 * minute)

  afterAll(async () => {
    await browser?.close()
    await edge?.[Symbol.asyncDispose]()
  })

  test('the tokens that clients were sent are those that the gateway measured', async () => {
    await show('#/usage', 'Usage')
    const { lists } = (await edge.api('/usage')) as { readonly lists: readonly ListUsageRow[] }
    const [row] = lists
    expect(row?.sentTokens).toBeGreaterThan(0)
    const shown = page.getByRole('region', { name: 'Tokens sent in tool lists' }).locator('tbody tr')
    expect(await shown.count()).toBe(lists.length)
    expect(await shown.first().textContent()).toContain(row?.sentTokens.toLocaleString('en'))
    await page.getByText(/lists? (?:was|were) sent: [\d,]+ tokens instead of [\d,]+/u).waitFor()
    await show('#/overview', 'Overview')
    await shown.first().waitFor()
    expect(await shown.first().textContent()).toContain(row?.sentTokens.toLocaleString('en'))
  })

  test('10,000 calls are filtered, and only those in view are in the document', async () => {
    const call = { client: 'a', upstream: 'mirror', ms: 1, outcome: 'ok', sentCharacters: 1, receivedCharacters: 1 }
    const at = new Date(0).toISOString()
    const rows = Array.from({ length: manyRows }, (_, index) => ({ id: index + 1, at, tool: `t${index}`, ...call }))
    await page.route(/\/api\/calls/u, (route) => route.fulfill({ json: rows }))
    await show('#/activity', 'Activity')
    await page.getByText('10,000 calls', { exact: true }).waitFor()
    expect(await page.getByRole('region', { name: 'Activity' }).locator('tbody tr').count()).toBeLessThan(200)
    await page.getByLabel('Filter').fill('t9999')
    await page.getByText('1 call', { exact: true }).waitFor()
    await page.unroute(/\/api\/calls/u)
  })

  test('calls appear while the page is open, and their outcome is counted', async () => {
    await show('#/overview', 'Overview')
    await show('#/activity', 'Activity')
    await page.getByText('Live', { exact: true }).waitFor()
    await using client = await edge.connect()
    const name = (await client.toolNames()).find((each) => each.endsWith('refuse')) ?? ''
    await client.call(name, {})
    await page.getByRole('region', { name: 'Activity' }).getByRole('row').filter({ hasText: 'refuse' }).waitFor()
    await show('#/usage', 'Usage')
    const row = page.getByRole('tabpanel').getByRole('row').filter({ hasText: 'mirror' })
    await expect.poll(() => row.textContent()).toMatch(/^mirror11/u)
  })

  test('every host has its command, and the entry to paste', async () => {
    await show('#/connect', 'Connect')
    await page.getByLabel('Filter').fill('codex')
    await page.getByText('unfold connect codex', { exact: true }).waitFor()
    await page.getByText('Entry of Codex to paste').click()
    await page.getByText('[mcp_servers.unfold]').waitFor()
    expect(await page.getByText('Not seen since the gateway started').count()).toBe(1)
  })

  async function show(hash: string, title: string): Promise<void> {
    await page.evaluate((next) => {
      location.hash = next
    }, hash)
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
    await page.waitForFunction(() => document.querySelector('.skeleton') === null)
  }
})
