import { expect, test } from 'vitest'
import { auditPage } from '../src/analyze/accessibility.ts'
import { queryDom } from '../src/dom/dom.ts'
import { PageProblem, type PageProblemReason } from '../src/page/page-problem.ts'
import { crash, describeInChromium } from './chromium.ts'
import { looking } from './looking.ts'

const problem = (reason: PageProblemReason, message: RegExp) =>
  expect.objectContaining({ constructor: PageProblem, reason, message: expect.stringMatching(message) })

describeInChromium('auditing a page', () => {
  const browser = looking()

  test('the violations of the page are found, with their elements', async () => {
    await using tab = await browser.open('/')
    const audit = await auditPage(tab.page, { tab: 'tab-7', now: () => 123 })
    expect(audit).toMatchObject({ at: 123, tab: 'tab-7', url: `${browser.site.url}/`, engine: 'axe-core 4.14.0' })
    expect(audit.passes).toBeGreaterThan(5)
    const rules = Object.fromEntries(audit.faults.map((fault) => [fault.rule, fault]))
    expect(Object.keys(rules)).toEqual(expect.arrayContaining(['image-alt', 'label', 'color-contrast', 'html-has-lang']))
    expect(rules['image-alt']).toEqual({
      rule: 'image-alt',
      impact: 'critical',
      help: expect.stringMatching(/alternative text/i),
      description: expect.any(String),
      helpUrl: expect.stringMatching(/^https:\/\/dequeuniversity\.com\/rules\/axe\/4\.14\/image-alt/),
      tags: expect.arrayContaining(['wcag2a', 'wcag111']),
      elements: [
        {
          selector: 'img',
          html: '<img src="/picture.svg" width="120" height="60">',
          summary: expect.stringContaining('Element does not have an alt attribute'),
        },
      ],
      count: 1,
    })
    expect(audit.faults.map(({ impact }) => impact)).toEqual(
      audit.faults.map(({ impact }) => impact).toSorted((a, b) => worst.indexOf(a) - worst.indexOf(b)),
    )
  })

  test('the audit can be limited to a part of the page and to some rules', async () => {
    await using tab = await browser.open('/')
    const rules = async (options: Parameters<typeof auditPage>[1]) =>
      (await auditPage(tab.page, options)).faults.map(({ rule }) => rule)
    expect(await rules({ selector: '#nameless' })).toEqual(['label'])
    expect(await rules({ tags: ['cat.color'] })).toEqual(['color-contrast'])
    await expect(rules({ selector: '#absent' })).rejects.toEqual(problem('selector', /No element matches the selector "#absent"/))
    await expect(rules({ selector: 'p[' })).rejects.toEqual(problem('selector', /not a valid selector/))
    await expect(rules({ tags: ['wcag9'] })).rejects.toEqual(problem('option', /"wcag9".*wcag2a/))
  })

  test('a page without violations has none', async () => {
    await using tab = await browser.show(
      '<!doctype html><html lang=en><title>Good</title><main><h1>Good</h1><p>All is well.</p></main>',
    )
    expect(await auditPage(tab.page)).toMatchObject({ faults: [], incomplete: 0 })
  })

  test('frames are audited, including cross-site ones, and their elements have a frame path', async () => {
    await using tab = await browser.show(`<!doctype html><html lang=en><title>Outer</title><main><h1>Outer</h1>
      <iframe id=near title=near srcdoc="<html lang=en><title>Near</title><main><h1>Near</h1><img src=x></main>"></iframe>
      <iframe id=far title=far src="${browser.site.url.replace('127.0.0.1', 'localhost')}/"></iframe></main>`)
    await tab.page.frameLocator('#far').locator('#nameless').waitFor()
    const { faults, incomplete } = await auditPage(tab.page)
    const selectors = (rule: string) => faults.find((fault) => fault.rule === rule)?.elements.map(({ selector }) => selector)
    expect(selectors('image-alt')).toEqual(['#near >>> img', '#far >>> img'])
    expect(selectors('label')).toEqual(['#far >>> #nameless'])
    expect(incomplete).toBe(0)
  })

  test('a strict CSP, broken built-ins and secrets in fields do not matter', async () => {
    await using strict = await browser.open('/strict')
    expect((await auditPage(strict.page)).engine).toBe('axe-core 4.14.0')
    await using hostile = await browser.open('/hostile')
    expect((await auditPage(hostile.page)).engine).toBe('axe-core 4.14.0')
    await using secret = await browser.show('<input type=password value=secret-1><input name=token value=secret-2>')
    const { faults } = await auditPage(secret.page)
    expect(faults.find(({ rule }) => rule === 'label')?.count).toBe(2)
    expect(JSON.stringify(faults)).not.toContain('secret-')
  })

  test('an audit leaves nothing in the page and sends no requests', async () => {
    await using tab = await browser.open('/')
    await tab.page.waitForLoadState('networkidle')
    const before = browser.site.requests.length
    await auditPage(tab.page)
    expect(browser.site.requests.length).toBe(before)
    expect(
      await tab.page.evaluate(() => [Reflect.get(globalThis, 'axe'), setTimeout.toString().includes('native code')]),
    ).toEqual([undefined, true])
  })

  test('the number of reported violations is limited', async () => {
    await using tab = await browser.show(`${'<img src=x>'.repeat(300)}<img src="${'y'.repeat(5_000)}">`)
    const [fault] = (await auditPage(tab.page, { tags: ['wcag2a'] })).faults.filter(({ rule }) => rule === 'image-alt')
    expect([fault?.count, fault?.elements.length]).toEqual([301, 20])
    expect(Math.max(...(fault?.elements ?? []).map(({ html }) => html.length))).toBeLessThanOrEqual(300)
  })

  test('a page too large for the time limit reports it, and the audit stops', async () => {
    await using tab = await browser.open('/nodes?n=50000', { own: true })
    // Building such a page takes a while; the test audits it without waiting for it to load.
    await queryDom(tab.page, { selector: 'h1', timeoutMs: 60_000 })
    await expect(auditPage(tab.page, { timeoutMs: 3_000 })).rejects.toEqual(
      problem('slow', /did not end within 3 s: the page has 500\d\d elements\. Audit a part of it/),
    )
    expect(await tab.page.title()).toBe('Many nodes')
    expect((await auditPage(tab.page, { selector: 'h1', timeoutMs: 180_000 })).engine).toBe('axe-core 4.14.0')
  }, 600_000)

  test('two audits of one page at the same time do not disturb each other', async () => {
    await using tab = await browser.open('/')
    const [all, some] = await Promise.all([auditPage(tab.page, { now: () => 1 }), auditPage(tab.page, { tags: ['cat.color'] })])
    expect(all).toEqual(await auditPage(tab.page, { now: () => 1 }))
    expect(some.faults.map(({ rule }) => rule)).toEqual(['color-contrast'])
  })

  test('after a navigation the new page is audited', async () => {
    await using tab = await browser.open('/nodes?n=20000')
    const auditing = auditPage(tab.page, { timeoutMs: 15_000 })
    await tab.page.goto(`${browser.site.url}/second`)
    expect((await auditing).url).toBe(`${browser.site.url}/second`)
  })

  test('repeated navigations are reported', async () => {
    await using tab = await browser.open('/second', { own: true })
    await tab.context.route('**/second?*', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<script>setTimeout(() => location.replace('/second?' + Math.random()), 60)</script>${'<p>x</p>'.repeat(8_000)}`,
      }),
    )
    await tab.page.goto(`${browser.site.url}/second?0`).catch(() => undefined)
    await expect(auditPage(tab.page, { timeoutMs: 15_000 })).rejects.toEqual(problem('navigated', /navigated twice/))
  })

  test('a closed or crashed tab is reported at once', async () => {
    await using tab = await browser.open('/nodes?n=20000', { own: true })
    const auditing = auditPage(tab.page, { timeoutMs: 60_000 }).catch((error: unknown) => error)
    await tab.page.close()
    expect(await auditing).toEqual(problem('closed', /tab was closed/))
    await using other = await browser.open('/second', { own: true })
    await crash(other.page)
    await expect(auditPage(other.page, { timeoutMs: 60_000 })).rejects.toEqual(problem('crashed', /has crashed/))
  })
})

const worst = ['critical', 'serious', 'moderate', 'minor']
