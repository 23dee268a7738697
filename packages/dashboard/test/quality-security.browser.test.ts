import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInChromium } from '../../browser/test/chromium.ts'
import { until } from '../../client/test/processes.ts'
import { createToken } from '../../gateway/src/config/tokens.ts'
import { hostile, rawClient } from '../../gateway/test/hostile.ts'
import { server } from '../../gateway/test/upstreams.ts'
import { type Dashboard, dashboardOf, loaded, screensOf, show, shown, tabsOf } from './quality-page.ts'

const minute = 60_000
const outside = 'https://outside.invalid'
const rebound = 'rebound.invalid'
// No other name resolves: the page works offline.
const offline = `MAP ${rebound} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost`
const viewer = createToken('watcher', { role: 'viewer' })
const attacks = [
  '<img src=x onerror="attacked=1">',
  '<script>attacked=1</script>',
  '"><svg onload=attacked=1>',
  `</pre></textarea></title><iframe src="javascript:parent.attacked=1"></iframe>`,
  'javascript:attacked=1',
  `[link](javascript:attacked=1) ![image](${outside}/image)`,
  `<a href="${outside}/link" target=_top>`,
  `<link rel=stylesheet href=${outside}/style.css><style>@import "${outside}/import.css"</style>`,
  `<form action=${outside}/form><button autofocus onfocus=attacked=1>`,
  `<base href=${outside}/><meta http-equiv=refresh content="0;url=${outside}/refresh">`,
  '{{constructor.constructor("attacked=1")()}}',
  '\u202Egnp.exe \u001B]8;;https://outside.invalid\u0007link',
]
const attack = attacks.join(' ')
const icons = [{ src: `${outside}/icon.png` }, { src: 'javascript:attacked=1' }]
const tool = (name: string): object => ({
  name,
  title: attack,
  description: attack,
  icons,
  annotations: { title: attack },
  inputSchema: {
    type: 'object',
    title: attack,
    description: attack,
    required: ['choice'],
    properties: {
      choice: { type: 'string', enum: attacks, title: attack, description: attack },
      text: { type: 'string', default: attack, examples: attacks, format: 'uri', pattern: '<script>' },
      [attacks[0] ?? '']: { type: 'object', properties: { inner: { const: attack, description: attack } } },
    },
  },
})
const uri = 'javascript:attacked=1'
const contents = {
  title: attack,
  instructions: attack,
  tools: [tool('attack'), tool(attacks[1] ?? '')],
  prompts: [{ name: attack, title: attack, description: attack, icons, arguments: [{ name: attack, description: attack }] }],
  resources: [{ uri, name: attack, title: attack, description: attack, icons, mimeType: attack }],
  templates: [{ uriTemplate: `${uri}{id}`, name: attack, description: attack }],
}
const config = {
  mcpServers: {
    attacker: hostile(contents),
    // Its definitions wait on the screen for reviews.
    held: hostile(contents, { trust: 'review' }),
    broken: { command: process.execPath, args: ['-e', `console.error(${JSON.stringify(attack)}); process.exit(3)`] },
    mirror: server('mirror.mjs'),
  },
  tokens: [viewer.record],
}

describeInChromium('the security of the dashboard', () => {
  let dashboard: Dashboard
  let page: Page
  const problems: string[] = []

  beforeAll(async () => {
    dashboard = await dashboardOf(config, { args: [`--host-resolver-rules=${offline}`] })
    const { edge } = dashboard
    await Promise.all(['attacker', 'mirror', 'held'].map((name) => edge.ready(name)))
    await until(() => edge.gateway.upstreams.get('broken')?.state === 'failed', 'broken has failed')
    const client = await rawClient(`${edge.url}?host=${encodeURIComponent(attack)}`, { era: 'session' })
    const log = { method: 'notifications/message', params: { level: 'error', logger: attack, data: { attack } } }
    for (const args of [
      { say: log },
      {
        result: {
          content: [
            { type: 'text', text: attack },
            { type: 'resource_link', uri, name: attack },
          ],
          isError: true,
        },
      },
      { error: { code: -32_000, message: attack } },
    ])
      await client.ask('tools/call', { name: 'attacker__attack', arguments: { choice: 'x', ...args } })
    await client.ask('tools/call', { name: attack, arguments: {} })
    page = await dashboard.signedIn()
    watch(page, edge.origin, problems)
  }, 5 * minute)

  afterAll(() => dashboard?.[Symbol.asyncDispose]())

  test('text of a server in every field is shown as text on every screen', async () => {
    const seen = new Set<string>()
    const check = async (where: string): Promise<void> => {
      problems.push(...(await intruders(page)).map((problem) => `${where}: ${problem}`))
      const text = ((await page.locator('body').textContent()) ?? '').replaceAll(/\s+/gu, ' ')
      if (text.includes('onerror="attacked=1"')) seen.add(where)
    }
    for (const [hash, title] of screensOf(['attacker', 'held', 'broken'])) {
      await show(page, hash, title)
      await check(hash)
      if (hash.startsWith('#/servers/') || hash === '#/usage') for await (const tab of tabsOf(page)) await check(`${hash} ${tab}`)
    }
    await show(page, '#/tools/attacker__attack', 'attacker__attack')
    await check('tool')
    for await (const tab of tabsOf(page)) await check(`tool ${tab}`)
    await show(page, `#/clients?tool=${encodeURIComponent(attack)}`)
    await page.reload()
    await shown(page, 'View as client')
    await check('why')
    await show(page, `#/servers/${encodeURIComponent(attack)}`)
    await page.getByRole('alert').waitFor()
    await check('unknown server')
    await show(page, `#/activity?filter=${encodeURIComponent(attack)}`, 'Activity')
    await check('filter')
    expect(problems).toEqual([])
    // Otherwise the attacks were not on the page, and the test proves nothing.
    const expected = ['#/overview', '#/servers/broken stderr', '#/tools', '#/review', 'tool', 'why', 'unknown server']
    expect(expected.filter((where) => !seen.has(where))).toEqual([])
  })

  test('the browser refuses inline code, markup from text, and other hosts', async () => {
    const own = await dashboard.signedIn()
    const refused = await own.evaluate(async (address) => {
      const directives: string[] = []
      const isConnectReported = new Promise<void>((resolve) => {
        document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
          directives.push(effectiveDirective)
          if (effectiveDirective === 'connect-src') resolve()
        })
      })
      const tried = (run: () => void): string => {
        try {
          run()
          return 'done'
        } catch (error) {
          return error instanceof Error ? error.name : ''
        }
      }
      const results = [
        tried(() => {
          document.body.insertAdjacentHTML('beforeend', '<p>')
        }),
        tried(() => {
          const script = document.createElement('script')
          script.textContent = 'attacked = 1'
        }),
        tried(() => void setTimeout('attacked = 1' as unknown as () => void)),
      ]
      const image = new Image()
      await new Promise((resolve) => {
        image.onerror = resolve
        image.src = `${address}/image`
      })
      results.push(
        await fetch(`${address}/fetch`).then(
          () => 'done',
          () => 'refused',
        ),
      )
      await isConnectReported
      return { results, directives, attacked: 'attacked' in globalThis }
    }, outside)
    expect(refused.attacked).toBe(false)
    expect(refused.results).not.toContain('done')
    expect(refused.directives).toEqual(expect.arrayContaining(['require-trusted-types-for', 'img-src', 'connect-src']))
    await own.context().close()
  })

  test('no code and no token stay in the address, in the storage or in the document', async () => {
    const context = await dashboard.browser.newContext()
    const own = await context.newPage()
    await own.goto(`${dashboard.edge.origin}/ui/`)
    await own.getByLabel('Or enter an access token with a role').fill(viewer.token)
    await own.getByRole('button', { name: 'Sign in', exact: true }).click()
    await shown(own, 'Overview')
    for (const each of [own, page]) {
      await loaded(each)
      const traces = await each.evaluate(async () => ({
        address: location.href,
        navigation: performance.getEntriesByType('navigation').map(({ name }) => name),
        referrer: document.referrer,
        cookie: document.cookie,
        stored: [...Object.entries(localStorage), ...Object.entries(sessionStorage)],
        databases: await indexedDB.databases(),
        caches: await caches.keys(),
        document: document.documentElement.outerHTML,
      }))
      expect(JSON.stringify(traces)).not.toMatch(new RegExp(`code=|${viewer.token}|${dashboard.edge.admin}`, 'u'))
      expect(traces).toMatchObject({ referrer: '', cookie: '', stored: [], databases: [], caches: [] })
    }
    await context.close()
  })

  test('a page of another port or site can neither read nor change anything, with any kind of request', async () => {
    const { origin } = dashboard.edge
    const pid = (): unknown => dashboard.edge.gateway.upstreams.statuses().find(({ name }) => name === 'mirror')?.pid
    const before = pid()
    await using foreign = await foreignSite()
    for (const host of ['127.0.0.1', 'localhost']) {
      // In the same browser, so that the cookie is there.
      const own = await page.context().newPage()
      own.setDefaultTimeout(minute)
      await own.goto(`http://${host}:${foreign.port}/`)
      for (const enctype of ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'])
        for (const path of ['/api/upstreams/mirror/restart', '/api/reload', '/api/links', '/api/session', '/api/review']) {
          const answered = own.waitForResponse(`${origin}${path}`)
          await own.evaluate(
            ([action = '', kind = '']) => {
              // A frame for each, because one that still loads may drop the next form.
              const target = `frame ${document.forms.length}`
              document.body.append(Object.assign(document.createElement('iframe'), { name: target }))
              const form = Object.assign(document.createElement('form'), {
                action,
                method: 'post',
                enctype: kind,
                target,
              })
              form.append(Object.assign(document.createElement('input'), { name: '{"a', value: '":1}' }))
              document.body.append(form)
              form.submit()
            },
            [`${origin}${path}`, enctype],
          )
          const status = (await answered).status()
          // Another site cannot send the cookie; another port of the same host can, which proves nothing.
          const expected = host === 'localhost' && path !== '/api/session' ? 401 : 403
          expect([host, path, enctype, status]).toEqual([host, path, enctype, expected])
        }
      const read = await own.evaluate(
        async (base) =>
          Promise.all(
            [{ mode: 'cors' }, { mode: 'cors', headers: { 'x-unfold-csrf': '1' } }, { mode: 'no-cors', method: 'POST' }].map(
              async (init) => {
                const response = await fetch(`${base}/api/status`, { ...init, credentials: 'include' } as RequestInit).catch(
                  () => undefined,
                )
                return (await response?.text().catch(() => '')) ?? ''
              },
            ),
          ),
        origin,
      )
      expect(read).toEqual(['', '', ''])
      await own.close()
    }
    expect(pid()).toBe(before)
  })

  test('a host name that was rebound to the gateway gets nothing, and uses up no link', async () => {
    const url = new URL(await dashboard.link())
    const context = await dashboard.browser.newContext()
    const own = await context.newPage()
    for (const path of ['/ui/', '/api/status', `${url.pathname}${url.search}`]) {
      const response = await own.goto(`http://${rebound}:${url.port}${path}`)
      expect([path, response?.status()]).toEqual([path, 403])
    }
    expect(await context.cookies()).toEqual([])
    await own.goto(url.href)
    await shown(own, 'Overview')
    await context.close()
  })
})

/** Records everything that text of a server must not cause. */
function watch(page: Page, own: string, problems: string[]): void {
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('popup', (popup) => problems.push(`popup: ${popup.url()}`))
  page.on('download', (download) => problems.push(`download: ${download.url()}`))
  page.on('pageerror', ({ message }) => problems.push(`error: ${message}`))
  page.on('console', (message) => {
    // A removed server and a missing one answer with 404.
    if (['error', 'warning'].includes(message.type()) && !message.text().includes('404'))
      problems.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== own && protocol !== 'data:') problems.push(`request: ${request.url()}`)
  })
}

/** Elements and attributes that the page itself never has, and code that ran. */
function intruders(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const found = 'attacked' in globalThis ? ['code ran'] : []
    const names = [
      'img',
      'iframe',
      'object',
      'embed',
      'base',
      'style',
      'marquee',
      'meta[http-equiv]',
      'script:not([type=module][src])',
    ]
    for (const element of document.querySelectorAll(names.join())) found.push(element.outerHTML.slice(0, 200))
    for (const element of document.querySelectorAll<HTMLElement>('*'))
      for (const { name, value } of element.attributes) {
        if (name.startsWith('on')) found.push(`${name}=${value}`)
        if (!['href', 'src', 'action', 'formaction', 'srcdoc', 'data'].includes(name)) continue
        const { protocol, origin } = new URL(value, location.href)
        if (value !== 'data:,' && (protocol !== location.protocol || origin !== location.origin)) found.push(`${name}=${value}`)
      }
    return found
  })
}

async function foreignSite(): Promise<{ readonly port: number } & AsyncDisposable> {
  const site: Server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Foreign</title>')
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  return {
    port: (site.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      site.closeAllConnections()
      await new Promise((resolve) => site.close(resolve))
    },
  }
}
