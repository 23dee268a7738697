import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInChromium } from '../../browser/test/chromium.ts'
import { gatewayFolder } from '../../gateway/test/gateway-file.ts'
import { served } from '../../gateway/test/served.ts'
import { server } from '../../gateway/test/upstreams.ts'
import { type Dashboard, dashboardOf, show, shown } from './quality-page.ts'

const minute = 60_000
const mirror = server('mirror.mjs')
const config = { mcpServers: { mirror, other: server('mirror.mjs', 'other') } }

describeInChromium('faults on the dashboard', () => {
  let folder: Awaited<ReturnType<typeof gatewayFolder>>
  let dashboard: Dashboard
  let page: Page
  let restarted: Awaited<ReturnType<typeof served>> | undefined
  const edge = (): Dashboard['edge'] => restarted ?? dashboard.edge

  beforeAll(async () => {
    folder = await gatewayFolder()
    dashboard = await dashboardOf(config, { folder: folder.path })
    await Promise.all([dashboard.edge.ready('mirror'), dashboard.edge.ready('other')])
    page = await dashboard.signedIn()
  }, 5 * minute)

  afterAll(async () => {
    await dashboard?.browser.close()
    await edge()[Symbol.asyncDispose]()
    await folder?.[Symbol.asyncDispose]()
  })

  const filter = () => page.getByLabel('Filter')
  const activity = () => page.getByRole('region', { name: 'Activity' })
  const openPage = async (hash: string, title: string): Promise<void> => {
    await show(page, hash, title)
    await page.getByText('Live', { exact: true }).waitFor()
  }
  const refuse = async (): Promise<void> => {
    await using client = await edge().connect()
    await client.call('mirror__refuse', {})
  }

  test('AT-UI-8 (X08): a page survives a restart of the gateway with its filter, its rows and its session', async () => {
    await openPage('#/activity', 'Activity')
    await refuse()
    await filter().fill('refuse')
    const rows = activity().locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(1)
    const { port } = new URL(dashboard.edge.url)
    await dashboard.edge[Symbol.asyncDispose]()
    const banner = page.getByRole('alert').filter({ hasText: 'Connection lost.' })
    await banner.waitFor()
    expect(await rows.count()).toBe(1)
    restarted = await served(config, { folder: folder.path, port: Number(port) })
    await restarted.ready('mirror')
    await banner.waitFor({ state: 'detached' })
    await page.getByText('Live', { exact: true }).waitFor()
    await refuse()
    await expect.poll(() => rows.count()).toBe(2)
    expect(await filter().inputValue()).toBe('refuse')
  })

  test('a session that ends asks to sign in over the screen, which stays as it was', async () => {
    await openPage('#/tools', 'Tools')
    await filter().fill('ref')
    await page.evaluate(() => fetch('/api/session', { method: 'DELETE', headers: { 'x-unfold-csrf': '1' } }))
    const dialog = page.getByRole('dialog', { name: 'Your session ended' })
    await dialog.waitFor()
    for (let step = 0; step < 12; step++) {
      await page.keyboard.press('Tab')
      // Past the last element, Chromium focuses its own controls.
      expect(await page.evaluate(() => document.activeElement?.closest('dialog, body')?.tagName)).toMatch(/^(?:DIALOG|BODY)$/u)
      expect(await page.evaluate(() => document.activeElement?.closest('main, header')?.tagName)).toBeUndefined()
    }
    // It stays until somebody signs in.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await dialog.waitFor()
    await dialog.getByLabel('Or enter an access token with a role').fill('wrong')
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
    await dialog.getByRole('alert').waitFor()
    const second = await page.context().newPage()
    const { url } = (await edge().api('/links', { method: 'POST' })) as { readonly url: string }
    await second.goto(url)
    await shown(second, 'Overview')
    await second.close()
    await dialog.getByRole('button', { name: 'I signed in in another tab' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Live', { exact: true }).waitFor()
    expect(await filter().inputValue()).toBe('ref')
  })

  test('an error of the gateway is shown with a way to try again, and old data stays with a note', async () => {
    const message = 'Internal error. Try the request again.'
    await show(page, '#/connect', 'Connect')
    await page.route(/\/api\/(review|hosts)$/u, (route) => route.fulfill({ status: 500, json: { error: message } }))
    await page.evaluate(() => {
      location.hash = '#/usage'
    })
    const failure = page.getByRole('alert').filter({ hasText: message })
    await show(page, '#/tools', 'Tools')
    await show(page, '#/connect', 'Connect')
    await failure.waitFor()
    await page.getByText('unfold connect codex', { exact: true }).waitFor()
    await show(page, '#/review')
    await page.getByRole('heading', { level: 1, name: 'Review' }).waitFor()
    await page.getByText('This could not be loaded').waitFor()
    await page.unroute(/\/api\/(review|hosts)$/u)
    await failure.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Nothing waits for a decision').waitFor()
    expect(await failure.count()).toBe(0)
  })

  test('a slow answer shows that it is loading, and blocks no other screen', async () => {
    const own = await page.context().newPage()
    own.setDefaultTimeout(minute)
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await own.route(/\/api\/tools$/u, async (route) => {
      await released
      await route.continue()
    })
    await own.goto(`${edge().origin}/ui/#/tools`)
    await own.getByRole('heading', { level: 1, name: 'Tools' }).waitFor()
    await own.getByText('Loading …').waitFor({ state: 'attached' })
    await show(own, '#/servers', 'Servers')
    await show(own, '#/tools')
    release()
    await own.getByRole('region', { name: 'Tools' }).getByRole('row').filter({ hasText: 'refuse' }).first().waitFor()
    await own.close()
  })

  test('a server that is removed while its page is open is reported as gone', async () => {
    await show(page, '#/servers/other', 'other')
    await page.getByRole('tab', { name: 'Tools (3)' }).waitFor()
    await edge().write({ mcpServers: { mirror } })
    await page.getByRole('alert').filter({ hasText: 'Unknown server "other"' }).waitFor()
    expect(await page.getByRole('tab').count()).toBe(0)
    await page.getByRole('link', { name: 'All servers' }).click()
    await shown(page, 'Servers')
  })

  test('5,000 events at once cause few updates of the page', async () => {
    const own = await page.context().newPage()
    own.setDefaultTimeout(minute)
    const call = { client: 'a', upstream: 'mirror', tool: 'show', ms: 1, outcome: 'ok', sentCharacters: 1, receivedCharacters: 1 }
    const at = new Date(0).toISOString()
    const body = Array.from(
      { length: 5_000 },
      (_, index) => `id: ${index + 1_000}\nevent: call\ndata: ${JSON.stringify({ at, ...call })}\n\n`,
    ).join('')
    let isSent = false
    await own.route(/\/api\/events\?/u, async (route) => {
      if (isSent) return route.continue()
      isSent = true
      await own.getByRole('heading', { level: 1, name: 'Activity' }).waitFor()
      await own.evaluate(() => {
        const counts = { updates: 0 }
        Object.assign(globalThis, { counts })
        new MutationObserver(() => {
          counts.updates++
        }).observe(document.querySelector('main') ?? document.body, { childList: true, subtree: true, characterData: true })
      })
      return route.fulfill({ contentType: 'text/event-stream', body })
    })
    await own.goto(`${edge().origin}/ui/#/activity`)
    await own.getByText(/^5,\d\d\d calls$/u).waitFor()
    const updates = await own.evaluate(() => (globalThis as unknown as { counts: { updates: number } }).counts.updates)
    expect(updates).toBeLessThan(100)
    expect(await own.getByRole('region', { name: 'Activity' }).locator('tbody tr').count()).toBeLessThan(200)
    await own.close()
  })
})
