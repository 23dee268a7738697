import { afterAll, beforeAll, expect, test } from 'vitest'
import type { UserAction } from '../src/records/records.ts'
import { describeInChromium, type Watching, watching } from './chromium.ts'
import { type Site, startSite } from './site.ts'

describeInChromium('user actions', () => {
  let site: Site
  let watch: Watching
  beforeAll(async () => {
    site = await startSite()
    watch = await watching()
  })
  afterAll(async () => {
    await watch?.browser.close()
    await site?.close()
  })

  const actions = (): readonly UserAction[] => [...watch.recording.of('actions')]
  const of = (kind: UserAction['action']): readonly UserAction[] => actions().filter(({ action }) => action === kind)
  const action = (kind: UserAction['action']): Promise<UserAction> => watch.until(`a ${kind}`, () => of(kind).at(-1))
  const names = (): readonly string[] => actions().map(({ action: name }) => name)
  /** A click with the mouse; Playwright's `click` evaluates code in the page first, which breaks on these pages. */
  const clickAt = async (css: string): Promise<void> => {
    const { x, y, width, height } = (await watch.page.locator(css).boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    await watch.page.mouse.click(x + width / 2, y + height / 2)
  }
  const fresh = async (path: string): Promise<void> => {
    await watch.browser.open('about:blank')
    await watch.browser.open(`${site.url}${path}`)
    watch.recording.clear()
  }

  test('a click has several selectors for its element', async () => {
    await fresh('/')
    await watch.page.getByTestId('order').scrollIntoViewIfNeeded()
    await watch.page.getByTestId('block').click()
    const { selectors, url, tab } = await action('click')
    expect({ selectors, url, tab }).toEqual({
      selectors: {
        testId: 'block',
        role: { role: 'button', name: 'Block for a moment' },
        text: 'Block for a moment',
        css: '[data-testid="block"]',
        xpath: expect.stringMatching(/^\/html\[1\]\/body\[1\]\/main\[1\]\/.*button\[4\]$/),
      },
      url: `${site.url}/`,
      tab: 'tab-1',
    })
    await expect(watch.page.locator(`xpath=${selectors?.xpath}`).textContent()).resolves.toBe('Block for a moment')
  })

  test('an element without a name is selected by its position', async () => {
    await fresh('/second')
    await watch.page.evaluate(() => {
      document.body.innerHTML = '<div><p>one</p><p>two</p><p><b><i>three</i></b></p></div><div><p>four</p></div>'
    })
    await watch.page.getByText('two').click()
    const { selectors } = await action('click')
    expect(await watch.page.locator(selectors?.css ?? '').allTextContents()).toEqual(['two'])
    expect(await watch.page.locator(`xpath=${selectors?.xpath}`).allTextContents()).toEqual(['two'])
  })

  test('an ambiguous name is not used as selector', async () => {
    await fresh('/second')
    await watch.page.evaluate(() => {
      document.body.innerHTML = '<button>Buy</button><button>Buy</button>'
    })
    await watch.page.getByText('Buy').nth(1).click()
    const { selectors } = await action('click')
    expect(selectors?.role).toBeUndefined()
    expect(selectors?.css).toBe('body > button:nth-of-type(2)')
  })

  test('a click on the icon in a button is a click on the button', async () => {
    await fresh('/second')
    await watch.page.evaluate(() => {
      document.body.innerHTML =
        '<button aria-label="Save"><svg id="icon" width="20" height="20"><rect width="20" height="20"/></svg></button>'
    })
    await watch.page.locator('#icon').click()
    expect((await action('click')).selectors?.role).toEqual({ role: 'button', name: 'Save' })
  })

  test('typing is one action per field, with the final value', async () => {
    await fresh('/')
    await watch.page.getByLabel('Name', { exact: true }).focus()
    await watch.page.keyboard.type('Ada Lovelace')
    await watch.page.getByLabel('Email').focus()
    await watch.page.keyboard.type('ada@example.com')
    await watch.page.getByLabel('It is a gift').check()
    await action('check')
    expect(of('input').map(({ value, selectors }) => [selectors?.label, selectors?.placeholder, value])).toEqual([
      ['Name', undefined, 'Ada Lovelace'],
      ['Email', 'you@example.com', 'ada@example.com'],
    ])
  })

  test('typing is also reported after a pause', async () => {
    await fresh('/')
    await watch.page.getByLabel('Name', { exact: true }).focus()
    await watch.page.keyboard.type('Ada')
    expect(await action('input')).toMatchObject({ value: 'Ada' })
  })

  test('values of secret fields never leave the page', async () => {
    await fresh('/')
    const payloads: string[] = []
    const session = await watch.page.context().newCDPSession(watch.page)
    session.on('Runtime.bindingCalled', ({ payload }) => payloads.push(payload))
    await session.send('Runtime.enable')
    for (const [label, text] of [
      ['Password', 'hunter2-secret'],
      ['Card number', '4111111111111111'],
    ] as const) {
      await watch.page.getByLabel(label).focus()
      await watch.page.keyboard.type(text)
    }
    await watch.page.getByLabel('Name', { exact: true }).focus()
    await watch.until('two inputs', () => of('input').length === 2)
    expect(of('input').map(({ secret, value }) => ({ secret, value }))).toEqual([
      { secret: true, value: undefined },
      { secret: true, value: undefined },
    ])
    // Eight digits: a timestamp may contain four of them.
    expect(JSON.stringify([actions(), payloads])).not.toMatch(/hunter2|41111111/)
    await session.detach()
  })

  test.each([
    ['its name', '<input name="api_key">'],
    ['its use', '<input autocomplete="one-time-code">'],
    ['its label', '<label>PIN <input></label>'],
    ['how it looks', '<input style="-webkit-text-security: disc">'],
    ['having been one', `<input type="password" onfocus="setTimeout(() => { this.type = 'text' })">`],
  ])('a field is secret because of %s', async (_by, html) => {
    await fresh('/second')
    await watch.page.evaluate((text) => {
      document.body.innerHTML = text
    }, html)
    await watch.page.locator('input').click()
    await watch.page.waitForTimeout(20)
    await watch.page.keyboard.type('do-not-tell')
    await watch.page.keyboard.press('Tab')
    expect(await action('input')).toMatchObject({ secret: true })
    expect(JSON.stringify(actions())).not.toContain('do-not-tell')
  })

  test('a long value is truncated', async () => {
    await fresh('/')
    await watch.page.getByLabel('Name', { exact: true }).fill('n'.repeat(5_000))
    await watch.page.keyboard.press('Escape')
    expect((await action('input')).value).toHaveLength(1_024)
  })

  test('selected options and checkboxes are reported as values', async () => {
    await fresh('/')
    await watch.page.getByLabel('Size').focus()
    await watch.page.keyboard.press('ArrowDown')
    expect(await action('select')).toMatchObject({ value: 'm', selectors: { role: { role: 'combobox', name: 'Size' } } })
    await watch.page.getByText('It is a gift').click()
    expect(await action('check')).toMatchObject({
      checked: true,
      selectors: { role: { role: 'checkbox', name: 'It is a gift' } },
    })
    await watch.page.getByLabel('It is a gift').click()
    await watch.until('it is unchecked', () => of('check').at(-1)?.checked === false)
    expect(of('click')).toEqual([])
  })

  test('Enter in a field is one key press, and submits the form', async () => {
    await fresh('/')
    await watch.page.getByLabel('Name', { exact: true }).fill('Ada')
    await watch.page.keyboard.press('Enter')
    await action('navigation')
    expect(names()).toEqual(['input', 'key', 'submit', 'navigation'])
    expect(of('key')[0]).toMatchObject({ key: 'Enter' })
    expect(of('submit')[0]?.selectors?.css).toBe('#order')
    expect(of('navigation')[0]).toMatchObject({ url: `${site.url}/ordered`, cause: 'form' })
  })

  test('Enter on a button is a click', async () => {
    await fresh('/')
    await watch.page.getByTestId('log').focus()
    await watch.page.keyboard.press('Enter')
    await action('click')
    expect(names()).toEqual(['click'])
  })

  test('letters are not reported as keys', async () => {
    await fresh('/second')
    await watch.page.keyboard.type('abc')
    await watch.page.keyboard.press('Escape')
    expect(await action('key')).toMatchObject({ key: 'Escape' })
    expect(names()).toEqual(['key'])
  })

  test('scrolling is reported once, when it ends', async () => {
    await fresh('/')
    await watch.page.mouse.move(400, 300)
    for (let i = 0; i < 5; i++) await watch.page.mouse.wheel(0, 60)
    await action('scroll')
    const last = await watch.page.evaluate(() => scrollY)
    await watch.until('where it ended', () => of('scroll').at(-1)?.scroll?.y === last)
    expect(of('scroll').length).toBeLessThan(5)
  })

  test('scrolling by a script is not an action', async () => {
    await fresh('/')
    await watch.page.evaluate(() => window.scrollTo(0, 500))
    await watch.page.waitForTimeout(500)
    await watch.page.keyboard.press('Escape')
    await action('key')
    expect(of('scroll')).toEqual([])
  })

  test('the cause of a navigation is reported', async () => {
    await fresh('/')
    const arrive = (path: string, cause: string): Promise<UserAction> =>
      watch.until(`${path} by ${cause}`, () =>
        of('navigation').find((each) => each.url === site.url + path && each.cause === cause),
      )
    await watch.page.getByTestId('push').click()
    await arrive('/pushed', 'script')
    await watch.page.getByTestId('to-second').click()
    await arrive('/second', 'link')
    await watch.page.goBack()
    await arrive('/pushed', 'history')
    await watch.page.reload()
    await arrive('/pushed', 'reload')
    await watch.page.getByText('Details').click()
    await arrive('/pushed#details', 'link')
    await watch.page.goto(`${site.url}/navigates?ms=10`)
    await arrive('/navigates?ms=10', 'typed')
    await arrive('/second', 'script')
    expect(of('navigation')).toHaveLength(7)
  })

  test('opening a page is not an action, but its effects are recorded', async () => {
    await fresh('/')
    await watch.browser.open(`${site.url}/navigates?ms=10`)
    await watch.until('the page has gone on by itself', () => of('navigation').some(({ url }) => url === `${site.url}/second`))
    await watch.browser.open(`${site.url}/second#there`)
    await watch.browser.open(`${site.url}/second#there`)
    await expect(watch.browser.open('http://127.0.0.1:9/')).rejects.toThrow('could not be opened')
    await watch.page.goto(`${site.url}/ordered`)
    await watch.until('where the person went then', () => of('navigation').some(({ url }) => url === `${site.url}/ordered`))
    expect(actions().map(({ action: name, url, cause }) => [name, url, cause])).toEqual([
      ['navigation', `${site.url}/second`, 'script'],
      ['navigation', `${site.url}/ordered`, 'typed'],
    ])
  })

  test('a tab opened by a link is a new tab with the link as cause', async () => {
    await fresh('/second')
    await watch.page.evaluate(() => {
      document.body.innerHTML = '<a href="/ordered" target="_blank">In a new tab</a>'
    })
    await watch.page.getByText('In a new tab').click()
    const opened = await action('navigation')
    expect(opened).toMatchObject({ url: `${site.url}/ordered`, cause: 'link' })
    expect(opened.tab).not.toBe('tab-1')
    expect(watch.browser.tabs().find(({ isCurrent }) => isCurrent)?.id).toBe(opened.tab)
    const { page } = await watch.until('the new tab', () => {
      try {
        return watch.browser.tab(opened.tab)
      } catch {
        return undefined
      }
    })
    await page.getByText('Back').click()
    await watch.until('the click in it', () =>
      of('click').some(({ tab, selectors }) => tab === opened.tab && selectors?.text === 'Back'),
    )
    await page.close()
    await watch.until('it is gone', () => watch.browser.tabs().length === 1)
    expect(watch.browser.tab().id).toBe('tab-1')
  })

  test('clicks in a cross-origin frame are reported', async () => {
    await fresh('/frames')
    await watch.page.frameLocator('[title=far]').getByTestId('inside').click()
    const { selectors, url, pageUrl } = await action('click')
    expect(selectors?.testId).toBe('inside')
    // The URL is that of the frame; the page URL is where the click can be replayed.
    expect(new URL(url).pathname).toBe('/framed')
    expect(pageUrl).toBe(`${site.url}/frames`)
  })

  test('a page can neither forge nor hide actions, nor detect the recorder', async () => {
    await fresh('/hostile')
    expect(await watch.page.title()).toBe('Found 0')
    await watch.page.mouse.click(5, 5)
    await action('click')
    watch.recording.clear()
    await clickAt('#real')
    expect((await action('click')).selectors?.css).toBe('#real')
    await watch.page.locator('#password').focus()
    await watch.page.keyboard.type('do-not-tell')
    await watch.page.keyboard.press('Tab')
    expect(await action('input')).toMatchObject({ secret: true })
    expect(JSON.stringify(actions())).not.toMatch(/do-not-tell|forged/)
    expect([...watch.recording.of('logs')].filter(({ from }) => from === 'exception')).toEqual([])
  })

  test('fields named like properties of their form do not break recording', async () => {
    await fresh('/second')
    await watch.page.evaluate(() => {
      document.body.innerHTML =
        '<form id="odd" onsubmit="return false"><input name="getAttribute"><input name="parentNode"><input name="localName"><input name="childNodes"><button>Go</button></form>'
    })
    await clickAt('button')
    expect((await action('click')).selectors?.role).toEqual({ role: 'button', name: 'Go' })
    expect((await action('submit')).selectors?.css).toBe('#odd')
  })

  test('a strict content security policy does not prevent recording', async () => {
    await fresh('/strict')
    await watch.page.mouse.click(20, 30)
    await action('click')
  })
})
