import { readFile } from 'node:fs/promises'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chromiumArgs, chromiumPath, describeInChromium } from '../../browser/test/chromium.ts'
import { until } from '../../client/test/processes.ts'
import { served } from '../../gateway/test/served.ts'
import { server } from '../../gateway/test/upstreams.ts'

const minute = 60_000
const config = {
  mcpServers: {
    box: server('toolbox.mjs'),
    mirror: server('mirror.mjs'),
    held: { command: process.execPath, args: [], env: { KEY: `\${NOWHERE_SET}` } },
  },
  audit: { path: 'audit.jsonl' },
  exposure: 'everything',
}

describeInChromium('actions on the dashboard', () => {
  let edge: Awaited<ReturnType<typeof served>>
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    edge = await served(config)
    browser = await chromium.launch({ executablePath: chromiumPath(), args: [...chromiumArgs] })
    await Promise.all([edge.ready('box'), edge.ready('mirror')])
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

  test('AT-UI-27 (X27): settings of a server are compared, then saved, and the command does the same', async () => {
    await show('#/servers/box', 'box')
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByRole('textbox', { name: 'description', exact: true }).fill('Boxes of all sizes')
    await page.getByRole('button', { name: 'Compare' }).click()
    const diff = page.getByRole('region', { name: 'Changes of the configuration' })
    await diff.getByText('Boxes of all sizes').waitFor()
    expect(await written('box')).not.toHaveProperty('description')
    expect(await page.getByText("unfold set box 'description=Boxes of all sizes'", { exact: true }).count()).toBe(1)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved the settings of box').waitFor()
    expect(await written('box')).toMatchObject({ description: 'Boxes of all sizes' })
  })

  test('an edit that starts something else waits on the review screen', async () => {
    await show('#/servers/box', 'box')
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByRole('group', { name: 'args' }).getByRole('button', { name: 'Add' }).click()
    await page.getByLabel('Item 2').fill('parent')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('waits for approval').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved the settings of box').last().waitFor()
    expect(edge.gateway.config.mcpServers.box).toMatchObject({ args: [expect.any(String)] })
    await show('#/review', 'Review')
    await page.getByRole('heading', { name: 'Edit of mcpServers.box' }).waitFor()
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await until(() => JSON.stringify(edge.gateway.config.mcpServers.box).includes('parent'), 'the edit applies')
  })

  test('a server is stopped and enabled again', async () => {
    await show('#/servers/mirror', 'mirror')
    await page.getByRole('button', { name: 'Stop and disable' }).click()
    await until(() => edge.gateway.upstreams.get('mirror')?.state === 'disabled', 'it is disabled')
    await page.getByRole('button', { name: 'Enable', exact: true }).click()
    await edge.ready('mirror')
    expect(await written('mirror')).not.toHaveProperty('disabled')
  })

  test('a server that cannot start says why, with its settings', async () => {
    await show('#/servers/held', 'held')
    await page
      .getByText(/NOWHERE_SET/u)
      .first()
      .waitFor()
    await page.getByRole('textbox', { name: 'command', exact: true }).waitFor()
  })

  test('AT-UI-28 (X28): unused tools are excluded with an edit whose effect is shown before', async () => {
    await show('#/usage', 'Usage')
    const row = page.getByRole('region', { name: 'Exclude unused tools' }).getByRole('row').filter({ hasText: 'mirror' })
    expect(await row.textContent()).toMatch(/−\d/u)
    await row.getByRole('button', { name: 'Show the edit' }).click()
    await page.getByRole('heading', { name: /^Deny \d unused tools of mirror: .* [1-9]\d* tokens less$/u }).waitFor()
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('region', { name: 'Changes of the configuration' }).getByText('refuse').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await until(async () => JSON.stringify(await written('mirror')).includes('refuse'), 'it is written')
    await until(() => edge.gateway.source.entriesOf('mirror').length === 0, 'the tools are gone')
  })

  test('the audit log is shown with the result of its verification', async () => {
    await show('#/activity', 'Activity')
    await page.getByRole('tab', { name: 'Audit log' }).click()
    await page.getByText('Verified: intact').waitFor()
    expect(await page.getByRole('region', { name: 'Audit log' }).locator('tbody tr').count()).toBeGreaterThan(0)
  })

  async function show(hash: string, title: string): Promise<void> {
    await page.evaluate((next) => {
      location.hash = next
    }, hash)
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
  }

  /** The entry of a server in the file. */
  async function written(name: string): Promise<object | undefined> {
    const { mcpServers } = JSON.parse(await readFile(edge.file, 'utf8')) as { readonly mcpServers: Record<string, object> }
    return mcpServers[name]
  }
})
