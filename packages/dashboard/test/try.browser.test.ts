import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chromiumArgs, chromiumPath, describeInChromium } from '../../browser/test/chromium.ts'
import { served } from '../../gateway/test/served.ts'

const minute = 60_000
const form = { command: process.execPath, args: [fileURLToPath(new URL('servers/form.mjs', import.meta.url))] }

describeInChromium('a tool on the dashboard', () => {
  let edge: Awaited<ReturnType<typeof served>>
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    edge = await served({ mcpServers: { form } })
    browser = await chromium.launch({ executablePath: chromiumPath(), args: [...chromiumArgs] })
    await edge.ready('form')
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

  test('AT-UI-25 (X25): a form sends texts, numbers, choices, lists, objects, unions, maps, files and JSON', async () => {
    const call = await open('echo')
    await page.getByRole('textbox', { name: 'title', exact: true }).fill('A <b>title</b>')
    await page.getByLabel('count').fill('3')
    await page.getByLabel('isUrgent').selectOption('Yes')
    await page.getByLabel('colour').selectOption('green')
    const tags = group('tags')
    await tags.getByRole('button', { name: 'Add tags' }).click()
    await tags.getByLabel('Item 1').fill('one')
    await tags.getByRole('button', { name: 'Add tags' }).click()
    await tags.getByLabel('Item 2').fill('two')
    await tags.getByRole('button', { name: 'Remove Item 1' }).click()
    await page.getByLabel('city').fill('Bern')
    await group('target').getByLabel('Kind').selectOption('By id')
    await group('target').getByRole('spinbutton', { name: 'id', exact: true }).fill('7')
    const file = { name: 'data.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 255, 1]) }
    await page.getByLabel('File for attachment').setInputFiles(file)
    await group('labels').getByLabel('New name').fill('area')
    await group('labels').getByRole('button', { name: 'Add' }).click()
    await group('labels').getByLabel('area').fill('north')
    await page.getByLabel('anything').fill('[1, null]')
    await call.click()
    const result = JSON.parse((await page.getByRole('tabpanel', { name: 'Content' }).locator('pre').textContent()) ?? '')
    const expected = {
      title: 'A <b>title</b>',
      count: 3,
      isUrgent: true,
      colour: 'green',
      tags: ['two'],
      place: { city: 'Bern' },
      target: { id: 7 },
      attachment: 'AP8B',
      labels: { area: 'north' },
      anything: [1, null],
    }
    expect(result).toEqual(expected)
    // The command makes the same call.
    const command = await page.getByRole('group', { name: 'Equivalent command' }).textContent()
    expect(command).toContain(`unfold call ${edge.url} form__echo --args`)
    expect(command).toContain(JSON.stringify(expected))
  })

  test('a missing required argument is not sent, and optional ones that nobody entered are left out', async () => {
    const call = await open('echo')
    await call.click()
    expect(
      await page
        .getByRole('textbox', { name: 'title', exact: true })
        .evaluate((input: HTMLInputElement) => input.validity.valueMissing),
    ).toBe(true)
    await page.getByRole('textbox', { name: 'title', exact: true }).fill('only')
    await call.click()
    const text = page.getByRole('tabpanel', { name: 'Content' }).locator('pre')
    expect(JSON.parse((await text.textContent()) ?? '')).toEqual({ title: 'only' })
  })

  test('rows are shown as a table and images as images, and markup in them as text', async () => {
    await (await open('table')).click()
    await page.getByRole('tab', { name: 'Table' }).click()
    const table = page.getByRole('region', { name: 'Table' })
    expect(await table.getByRole('row').count()).toBe(3)
    expect(await table.textContent()).toContain('<img src=x onerror=')
    expect(await page.title()).not.toBe('attacked')
    await (await open('picture')).click()
    const image = page.getByAltText('Image in the result')
    await image.waitFor()
    await expect.poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(1)
  })

  test('AT-UI-26 (X26): a question of a server is answered in the page', async () => {
    await (await open('ask')).click()
    const dialog = page.getByRole('dialog', { name: 'The server asks you' })
    await dialog.getByText('Who are you?').waitFor()
    await dialog.getByLabel('Your name').fill('Ada')
    await dialog.getByRole('button', { name: 'Answer' }).click()
    await page.getByText('accept Ada', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await dialog.getByRole('button', { name: 'Decline' }).click()
    await page.getByText('decline', { exact: true }).waitFor()
  })

  test('a call shows its progress, and can be cancelled', async () => {
    await (await open('wait')).click()
    await page.getByText('Step 1').waitFor()
    expect(await page.getByRole('progressbar', { name: 'Progress of the call' }).getAttribute('max')).toBe('4')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('The call was cancelled.').waitFor()
    await expect
      .poll(async () => {
        const calls = (await edge.api('/calls')) as readonly { readonly tool: string; readonly outcome: string }[]
        return calls.find(({ tool }) => tool === 'wait')?.outcome
      })
      .toBe('cancelled')
  })

  test('a search shows its confidence and what each word contributes', async () => {
    await page.evaluate(() => {
      location.hash = '#/tools'
    })
    await page.getByLabel('Filter').fill('draw a pixel')
    await page.getByRole('button', { name: 'Search as a model would' }).click()
    const match = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'form__picture' }) })
    expect(await match.textContent()).toMatch(/“pixel” in description.*%/u)
    await page.getByText(/Confidence: strong/u).waitFor()
  })

  const group = (name: string): Locator => page.getByRole('group', { name })

  /** Opens a tool and returns the button that calls it. */
  async function open(tool: string): Promise<Locator> {
    // Leaving the screen first empties the form.
    for (const hash of ['#/overview', `#/tools/form__${tool}`])
      await page.evaluate((next) => {
        location.hash = next
      }, hash)
    await page.getByRole('heading', { level: 1, name: `form__${tool}` }).waitFor()
    const call = page.getByRole('button', { name: 'Call', exact: true })
    await call.waitFor()
    return call
  }
})
