import { expect, test } from 'vitest'
import { describePage, queryDom } from '../src/dom/dom.ts'
import { PageProblem, type PageProblemReason } from '../src/page/page-problem.ts'
import { crash, describeInChromium } from './chromium.ts'
import { looking } from './looking.ts'

const problem = (reason: PageProblemReason, message: RegExp) =>
  expect.objectContaining({ constructor: PageProblem, reason, message: expect.stringMatching(message) })

describeInChromium('querying elements', () => {
  const browser = looking()

  test('an element has its text, role, name, attributes, position and a unique selector', async () => {
    await using tab = await browser.open('/')
    const { total, elements, url } = await queryDom(tab.page, { selector: 'button[type=submit]' })
    expect({ total, url }).toEqual({ total: 1, url: `${browser.site.url}/` })
    expect(elements).toEqual([
      {
        tag: 'button',
        selector: '[data-testid="order"]',
        role: 'button',
        text: 'Order',
        attributes: { type: 'submit', 'data-testid': 'order' },
        isVisible: true,
        isInView: expect.any(Boolean),
        box: expect.objectContaining({ width: expect.any(Number), height: expect.any(Number) }),
      },
    ])
    expect(elements[0]?.box.width).toBeGreaterThan(20)
  })

  test('roles follow the markup', async () => {
    await using tab = await browser.open('/second')
    await tab.page.evaluate(() => {
      document.body.innerHTML = `<select class=x size=4></select><select class=x multiple></select><select class=x size=1></select>
        <input class=x type=constructor><button class=x role=" "></button><div class=x role="TAB button"></div><img class=x alt="">`
    })
    const { elements } = await queryDom(tab.page, { selector: '.x' })
    const roles = ['listbox', 'listbox', 'combobox', undefined, 'button', 'tab', undefined]
    expect(elements.map(({ role }) => role)).toEqual(roles)
  })

  test('the selector of every element of the page matches that element and no other', async () => {
    await using tab = await browser.open('/')
    await tab.page.waitForSelector('li')
    const { elements } = await queryDom(tab.page, { selector: '*', limit: 100 })
    expect(elements.length).toBeGreaterThan(50)
    for (const { selector, tag, box } of elements) {
      const again = await queryDom(tab.page, { selector: selector ?? '' })
      expect(again.elements).toEqual([expect.objectContaining({ tag, box, selector })])
    }
  })

  test('for many matches, the count and the first few are returned', async () => {
    const timeoutMs = 60_000
    await using tab = await browser.open('/nodes?n=100000')
    const { total, elements } = await queryDom(tab.page, { selector: '.node', timeoutMs })
    expect(total).toBe(100_000)
    expect(elements.map(({ selector }) => selector).slice(0, 2)).toEqual([
      'html > body > div > i:nth-of-type(1)',
      'html > body > div > i:nth-of-type(2)',
    ])
    expect(elements).toHaveLength(20)
    expect((await queryDom(tab.page, { selector: '.node', limit: 1_000_000, timeoutMs })).elements).toHaveLength(100)
  }, 300_000)

  test('an XPath works as well', async () => {
    await using tab = await browser.open('/')
    for (const selector of ['//li[text()="Thread"]', '(//li)[3]', 'xpath=//ul/li[3]']) {
      await tab.page.waitForSelector('li')
      expect((await queryDom(tab.page, { selector })).elements.map(({ text }) => text)).toEqual(['Thread'])
    }
  })

  test('an invalid selector is reported with the browser error', async () => {
    await using tab = await browser.open('/')
    await expect(queryDom(tab.page, { selector: 'div[' })).rejects.toEqual(problem('selector', /"div\[".*not a valid selector/))
    await expect(queryDom(tab.page, { selector: '//div[' })).rejects.toEqual(problem('selector', /not a valid XPath/))
    await expect(queryDom(tab.page, { selector: '//a/@href' })).rejects.toEqual(
      problem('selector', /selects attributes or text instead of elements/),
    )
    await expect(queryDom(tab.page, { selector: 'count(//a)' })).rejects.toEqual(problem('selector', /not a valid selector/))
    await expect(queryDom(tab.page, { selector: ' ' })).rejects.toEqual(problem('selector', /is empty/))
  })

  test('no match is not an error', async () => {
    await using tab = await browser.open('/')
    expect(await queryDom(tab.page, { selector: '#absent' })).toEqual({ url: `${browser.site.url}/`, total: 0, elements: [] })
  })

  test('values of secret and hidden fields are never returned', async () => {
    await using tab = await browser.show(`
      <form><input type=password value=secret-1><input type=hidden name=csrf value=secret-2><input name=api_token value=secret-3>
      <input autocomplete=one-time-code value=secret-4><div data-session-token=secret-5></div><textarea name=password>secret-6</textarea>
      <script nonce=secret-7>secret-8</script><input name=city value=Paris></form><meta name=csrf-token content=secret-9>`)
    await tab.page.fill('input[type=password]', 'secret-typed')
    const found = await queryDom(tab.page, { selector: '*', html: true, limit: 100, properties: ['value'] })
    expect(found.total).toBeGreaterThan(10)
    const returned = JSON.stringify([found, await describePage(tab.page)])
    expect(returned).not.toContain('secret-')
    expect(returned).toContain('Paris')
  })

  test('only requested attributes, properties and styles are returned', async () => {
    await using tab = await browser.show(
      '<a id=x href="/y" title=t style="color: rgb(1, 2, 3)">Go</a><input type=checkbox checked>',
    )
    const [link] = (await queryDom(tab.page, { selector: 'a', attributes: ['title'], properties: ['href'], styles: ['color'] }))
      .elements
    expect(link).toMatchObject({ attributes: { title: 't' }, styles: { color: 'rgb(1, 2, 3)' } })
    expect(link?.properties).toEqual({ href: `${browser.site.url}/y` })
    const [box] = (await queryDom(tab.page, { selector: 'input', properties: ['checked', 'scrollTop'] })).elements
    expect(box?.properties).toEqual({ checked: true, scrollTop: 0 })
    await expect(queryDom(tab.page, { selector: 'a', properties: ['ownerDocument'] })).rejects.toEqual(
      problem('option', /"ownerDocument".*checked, childElementCount/),
    )
  })

  test('markup is truncated', async () => {
    await using tab = await browser.show(
      `<p class="a&quot;b">One &amp; <b>two</b><br></p><div id=long>${'<i>x</i>'.repeat(5_000)}</div>`,
    )
    const html = async (selector: string) => (await queryDom(tab.page, { selector, html: true })).elements[0]?.html
    expect(await html('p')).toBe('<p class="a&quot;b">One &amp; <b>two</b><br></p>')
    expect(await html('#long')).toMatch(/^<div id="long"><i>x<\/i><i>.*…$/)
    expect((await html('#long'))?.length).toBe(500)
  })

  test('invisible elements are marked', async () => {
    await using tab = await browser.show(
      '<p id=a>a</p><p id=b style="display:none">b</p><p id=c style="visibility:hidden">c</p><p id=d style="position:absolute;top:9999px">d</p>',
    )
    const { elements } = await queryDom(tab.page, { selector: 'p' })
    expect(elements.map(({ isVisible, isInView }) => [isVisible, isInView])).toEqual([
      [true, true],
      [false, false],
      [false, false],
      [true, false],
    ])
  })

  test('elements in shadow roots are found through their hosts and by their own selector', async () => {
    await using tab = await browser.show('<my-box id=host></my-box>')
    await tab.page.evaluate(() => {
      const root = document.querySelector('#host')?.attachShadow({ mode: 'open' })
      if (root) root.innerHTML = '<p>first</p><p>second</p>'
    })
    const { elements } = await queryDom(tab.page, { selector: 'my-box >>> p' })
    expect(elements.map(({ text, selector }) => [text, selector])).toEqual([
      ['first', '#host >>> p:nth-of-type(1)'],
      ['second', '#host >>> p:nth-of-type(2)'],
    ])
    expect((await queryDom(tab.page, { selector: elements[1]?.selector ?? '' })).elements).toEqual([elements[1]])
  })

  test('a page that breaks built-ins and shadows properties can still be queried', async () => {
    await using hostile = await browser.open('/hostile')
    expect((await queryDom(hostile.page, { selector: '#real' })).elements).toMatchObject([{ tag: 'button', text: 'Real' }])
    await using clobbering = await browser.show(`<form name=querySelectorAll id=f><input name=attributes><input name=parentNode>
      <input name=localName><input name=getAttribute><input name=id></form><img name=title><form name=readyState></form>`)
    expect((await queryDom(clobbering.page, { selector: '#f' })).elements).toMatchObject([
      { tag: 'form', selector: '#f', attributes: { name: 'querySelectorAll', id: 'f' } },
    ])
    expect(await describePage(clobbering.page)).toMatchObject({ title: '', loadState: 'complete', counts: { fields: 5 } })
  })

  test('a query leaves nothing in the page', async () => {
    await using tab = await browser.open('/second')
    const names = () => tab.page.evaluate(() => Object.getOwnPropertyNames(globalThis).length)
    const before = await names()
    await queryDom(tab.page, { selector: 'h1' })
    expect(await names()).toBe(before)
    expect(await tab.page.evaluate(() => Reflect.get(globalThis, 'unfoldKit'))).toBeUndefined()
  })

  test('frames are selected by name or URL, also cross-site ones', async () => {
    await using tab = await browser.open('/frames')
    const near = await queryDom(tab.page, { selector: 'h1', frame: '/second' })
    expect(near).toMatchObject({ url: `${browser.site.url}/second`, elements: [{ text: 'Second page' }] })
    const far = await queryDom(tab.page, { selector: 'button', frame: '/framed' })
    expect(far).toMatchObject({ url: expect.stringContaining('/framed'), elements: [{ text: 'Inside' }] })
    await expect(queryDom(tab.page, { selector: 'p', frame: 'none' })).rejects.toEqual(problem('frame', /"none".*\/second/))
  })

  test('a page with a strict content security policy can be queried', async () => {
    await using tab = await browser.open('/strict')
    expect((await queryDom(tab.page, { selector: 'body' })).total).toBe(1)
  })

  test('a query times out while the page is busy, and works again afterwards', async () => {
    await using tab = await browser.open('/second')
    const blocked = tab.page.evaluate(() => {
      for (const end = Date.now() + 2_500; Date.now() < end; );
    })
    await expect(queryDom(tab.page, { selector: 'h1', timeoutMs: 300 })).rejects.toEqual(
      problem('busy', /did not respond within 0.3 s/),
    )
    await blocked
    expect((await queryDom(tab.page, { selector: 'h1' })).total).toBe(1)
  })

  test('a slow selector times out', async () => {
    // The page continues with the query.
    await using tab = await browser.open('/nodes?n=50000', { own: true })
    expect((await queryDom(tab.page, { selector: 'h1', timeoutMs: 15_000 })).total).toBe(1)
    const slow = queryDom(tab.page, { selector: '//i[count(preceding::i) > 49998]', timeoutMs: 500 })
    await expect(slow).rejects.toEqual(problem('slow', /longer than 0.5 s/))
  })

  test('closing or crashing the tab ends the query immediately', async () => {
    await using tab = await browser.open('/second', { own: true })
    const page = tab.page
    void page
      .evaluate(() => {
        for (const end = Date.now() + 60_000; Date.now() < end; );
      })
      .catch(() => undefined)
    const look = queryDom(page, { selector: 'h1', timeoutMs: 60_000 }).catch((error: unknown) => error)
    await page.close()
    expect(await look).toEqual(problem('closed', /tab was closed/))
    await expect(queryDom(page, { selector: 'h1' })).rejects.toEqual(problem('closed', /tab was closed/))

    await using other = await browser.open('/second', { own: true })
    await crash(other.page)
    await expect(queryDom(other.page, { selector: 'h1', timeoutMs: 60_000 })).rejects.toEqual(problem('crashed', /has crashed/))
  })

  test('a query can be cancelled', async () => {
    await using tab = await browser.open('/second')
    const calling = new AbortController()
    const look = queryDom(tab.page, { selector: 'h1', signal: calling.signal })
    calling.abort()
    await expect(look).rejects.toEqual(problem('cancelled', /cancelled/))
  })
})

describeInChromium('describing a page', () => {
  const browser = looking()

  test('outline, landmarks, forms without values, counts and the beginning of the text', async () => {
    await using tab = await browser.open('/')
    await tab.page.waitForSelector('li')
    await tab.page.fill('[name=email]', 'typed@example.com')
    const page = await describePage(tab.page)
    expect(page).toMatchObject({
      url: `${browser.site.url}/`,
      title: 'Shop of small things',
      loadState: 'complete',
      viewport: { width: 1280, height: 720 },
      headings: [
        { level: 1, text: 'Shop of small things' },
        { level: 2, text: 'Things' },
      ],
      landmarks: [
        { role: 'banner' },
        { role: 'navigation' },
        { role: 'main' },
        { role: 'region', name: 'Talk' },
        { role: 'region', name: 'Requests' },
      ],
      counts: { links: 2, buttons: 16, images: 1, forms: 1, fields: 7 },
      looseFields: [{ selector: '#nameless', type: 'text', name: 'nameless' }],
      focus: expect.stringContaining('input'),
    })
    expect(page.language).toBeUndefined()
    expect(page.forms).toEqual([
      {
        selector: '#order',
        method: 'post',
        action: '/ordered',
        fields: [
          expect.objectContaining({ type: 'text', name: 'name', label: 'Name' }),
          expect.objectContaining({ type: 'email', name: 'email', label: 'Email' }),
          expect.objectContaining({ type: 'password', name: 'password', label: 'Password' }),
          expect.objectContaining({ type: 'text', name: 'card', label: 'Card number' }),
          expect.objectContaining({ type: 'select', name: 'size', options: 3 }),
          expect.objectContaining({ type: 'checkbox', name: 'gift', label: 'It is a gift' }),
        ],
      },
    ])
    expect(page.text).toMatch(/^Shop of small things Second page Details This sentence is hardly to be seen\. Things Button/)
    expect(page.text).not.toContain('A notice that moves')
    expect(JSON.stringify(page)).not.toContain('typed@example.com')
  })

  test('the description of a page of any size is short', async () => {
    const many = Array.from(
      { length: 300 },
      (_, i) => `<h2>${'heading '.repeat(100)}${i}</h2><form><input name="${'n'.repeat(500)}${i}"></form>`,
    )
    await using tab = await browser.show(`<title>${'t'.repeat(10_000)}</title>${many.join('')}${'<div>'.repeat(5_000)}deep`)
    const page = await describePage(tab.page)
    expect(page.counts).toMatchObject({ headings: 300, forms: 300, fields: 300 })
    expect([page.headings.length, page.forms.length, page.text.length, page.title.length]).toEqual([50, 20, 2_000, 300])
    expect(JSON.stringify(page).length).toBeLessThan(25_000)
  })

  test('an empty tab can be described as well', async () => {
    await using tab = await browser.show('')
    await tab.page.goto('about:blank')
    expect(await describePage(tab.page)).toMatchObject({ url: 'about:blank', title: '', text: '', headings: [] })
  })
})
