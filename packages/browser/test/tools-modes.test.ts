import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { TestClient } from '@unfold-mcp/server/testing'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { describeInChromium, until } from './chromium.ts'
import { harErrors, sarifErrors } from './generate-schemas.ts'
import { dataOf, documentOf, modesOf, noteOf, textOf } from './replies.ts'
import { serving } from './served.ts'

type Page = {
  readonly records: readonly { readonly [name: string]: unknown }[]
  readonly latest: number
  readonly next_cursor?: string
}

describeInChromium('every mode of every tool, on a page that does everything', () => {
  const served = serving()
  let client: TestClient

  const observe = (args: object): Promise<CallToolResult> => client.call('observe', { ...args })
  const analyze = (args: object): Promise<CallToolResult> => client.call('analyze', { ...args })
  const generate = (args: object): Promise<CallToolResult> => client.call('generate', { ...args })
  const configure = (args: object): Promise<CallToolResult> => client.call('configure', { ...args })
  const records = async (args: object): Promise<Page['records']> => (dataOf(await observe(args)) as Page).records
  const facts = () => served.watch.recording.facts.read()

  /** A user tries the shop, which uses all its features. */
  beforeAll(async () => {
    await served.calm()
    const { watch, site } = served
    await watch.browser.open(`${site.url}/busy`)
    await until('the page has done everything', () => facts().errors >= 6 && facts().sockets >= 5 && facts().snapshots >= 1)
    await watch.page.getByTestId('load').click()
    await watch.page.getByLabel('Name', { exact: true }).fill('Ada')
    await watch.page.getByLabel('Password').fill('hunter2')
    await watch.page.getByText('It is a gift').click()
    await until('what the person did is recorded', () => facts().actions >= 5 && facts().network >= 11)
  }, 300_000)

  beforeEach(async () => {
    client = await served.observing()
  })

  describe('observe', () => {
    test('errors are the entries of that level, newest first, with their sources', async () => {
      const errors = await records({ what: 'errors' })
      expect(new Set(errors.map(({ level }) => level))).toEqual(new Set(['error']))
      expect(errors.map(({ text }) => text)).toEqual(
        expect.arrayContaining([
          'Uncaught TypeError: thrown by the page',
          'Uncaught (in promise) RangeError: rejected by the page',
        ]),
      )
      const places = errors.map(({ seq }) => Number(seq))
      expect(places).toEqual(places.toSorted((a, b) => b - a))
      expect(errors.every(({ source }) => String(source).startsWith(served.site.url))).toBe(true)
      expect(await records({ what: 'errors', contains: 'rejected' })).toHaveLength(1)
    })

    test('logs are all entries, or those of a level', async () => {
      expect(await records({ what: 'logs', limit: 200 })).toHaveLength(facts().logs)
      const [warning, ...others] = await records({ what: 'logs', level: 'warning' })
      expect(others).toEqual([])
      expect(warning).toMatchObject({ text: 'a warning line', from: 'console' })
    })

    test('pages joined by cursors contain every entry once', async () => {
      const seen: unknown[] = []
      let cursor: string | undefined
      for (let round = 0; round < 20; round++) {
        const page = dataOf(await observe({ what: 'logs', limit: 5, ...(cursor !== undefined && { cursor }) })) as Page
        seen.push(...page.records.map(({ seq }) => seq))
        cursor = page.next_cursor
        if (cursor === undefined) break
      }
      expect(seen).toEqual((await records({ what: 'logs', limit: 200 })).map(({ seq }) => seq))
    })

    test('since an earlier reply, only new entries are returned', async () => {
      const { latest } = dataOf(await observe({ what: 'logs' })) as Page
      expect(await records({ what: 'logs', since: String(latest) })).toEqual([])
      await served.watch.page.evaluate(() => console.log('after that'))
      await until('it is recorded', () => served.watch.recording.seq > latest)
      expect(await records({ what: 'logs', since: String(latest) })).toMatchObject([{ text: 'after that' }])
      expect(await records({ what: 'logs', since: '1h', contains: 'after that' })).toHaveLength(1)
    })

    test('network filters requests by status and method, with headers and bodies on request', async () => {
      expect((await records({ what: 'network', status: 'error' })).map(({ status }) => status)).toEqual([404, 500])
      const [posted] = await records({ what: 'network', method: 'POST' })
      expect(posted).toMatchObject({ status: 201, url: `${served.site.url}/api/items` })
      expect(posted).not.toHaveProperty('responseBody')
      const whole = textOf(await observe({ what: 'network', seq: posted?.seq, bodies: 'full', headers: true }))
      expect(whole).toContain('Pin')
      expect(whole).toContain('content-type')
      expect(await records({ what: 'network', type: 'image' })).toMatchObject([{ url: `${served.site.url}/picture.svg` }])
    })

    test('a pending request is reported as pending', async () => {
      await served.watch.page.evaluate(() => {
        const gone = new AbortController()
        Object.assign(globalThis, { gone })
        fetch('/never', { signal: gone.signal }).catch(() => undefined)
      })
      await until('it is under way', () => served.watch.recording.pending().length === 1)
      const { pending } = dataOf(await observe({ what: 'network' })) as { readonly pending: unknown }
      expect(pending).toMatchObject([{ method: 'GET', url: `${served.site.url}/never` }])
      await served.watch.page.evaluate(() => (globalThis as unknown as { gone: AbortController }).gone.abort())
      await until('it is over', () => served.watch.recording.pending().length === 0)
      expect(await records({ what: 'network', status: 'failed' })).toMatchObject([{ url: `${served.site.url}/never` }])
    })

    test('WebSockets are reported with their state and their messages', async () => {
      const { connections } = dataOf(await observe({ what: 'websocket_status' })) as {
        readonly connections: readonly { readonly id: string }[]
      }
      expect(connections).toMatchObject([{ state: 'open', sent: { messages: 2, bytes: 9 }, received: { messages: 2, bytes: 9 } }])
      const socket = connections[0]?.id
      expect(await records({ what: 'websocket_events', socket, direction: 'sent', contains: 'hello' })).toMatchObject([
        { event: 'sent', text: 'hello', bytes: 5 },
      ])
      expect((await records({ what: 'websocket_events' })).map(({ event }) => event)).toContain('opened')
    })

    test('actions have several selectors, and no secrets', async () => {
      const [click] = await records({ what: 'actions', action: 'click' })
      expect(click?.selectors).toMatchObject({
        testId: 'load',
        role: { role: 'button', name: 'Load things' },
        css: '[data-testid="load"]',
      })
      const typed = await records({ what: 'actions', action: 'input' })
      expect(typed.map(({ value, secret }) => ({ value, secret }))).toEqual([{ secret: true }, { value: 'Ada' }])
    })

    test('vitals are measured again on request', async () => {
      const newest = async () => (await records({ what: 'vitals' }))[0]
      for (const name of ['ttfb', 'fcp', 'lcp', 'cls', 'load']) expect((await newest())?.[name]).toEqual(expect.any(Number))
      const { count = 0 } = ((await newest())?.long_tasks ?? {}) as { readonly count?: number }
      await served.watch.page.evaluate(() =>
        setTimeout(() => {
          for (const end = performance.now() + 120; performance.now() < end; );
        }),
      )
      await expect.poll(newest, { timeout: 120_000 }).toMatchObject({ long_tasks: { count: count + 1 } })
    })

    test('page is the current state', async () => {
      const page = dataOf(await observe({ what: 'page' }))
      expect(page).toMatchObject({ title: 'Shop of small things', url: `${served.site.url}/busy`, counts: { forms: 1 } })
      expect(page.text).toContain('Thimble')
      expect(JSON.stringify(page)).not.toContain('hunter2')
    })
  })

  describe('analyze', () => {
    test('performance compares with a baseline that can be set and cleared', async () => {
      const pages = async (args: object = {}) =>
        (
          dataOf(await analyze({ target: 'performance', ...args })) as {
            readonly pages: readonly { readonly url: string; readonly metrics: readonly { readonly name: string }[] }[]
          }
        ).pages
      const [page] = await pages({ url: '/busy', baseline: 'set' })
      expect(page?.metrics.map(({ name }) => name)).toEqual(expect.arrayContaining(['LCP', 'CLS', 'FCP', 'TTFB']))
      expect(await pages({ url: '/nowhere' })).toEqual([])
      expect(await pages({ baseline: 'clear' })).not.toEqual([])
    })

    test('api returns endpoints, methods and shapes, also as OpenAPI', async () => {
      const { endpoints } = dataOf(await analyze({ target: 'api', url: '/api/' })) as {
        readonly endpoints: readonly { readonly path: string; readonly methods: readonly { readonly method: string }[] }[]
      }
      expect(endpoints.map(({ path }) => path)).toEqual(['/api/fail', '/api/items', '/api/items/{id}', '/api/private'])
      expect(endpoints[1]?.methods.map(({ method }) => method)).toEqual(['GET', 'POST'])
      expect(JSON.stringify(endpoints)).toContain('addedAt: date-time')
      const openapi = dataOf(await analyze({ target: 'api', form: 'openapi' }))
      expect(openapi.openapi).toMatch(/^3\.1/)
      expect(Object.keys(openapi.paths as object)).toContain('/api/items/{id}')
    })

    test('accessibility finds the violations of the page, or of a part of it', async () => {
      const faults = async (args: object = {}) =>
        (
          dataOf(await analyze({ target: 'accessibility', ...args })) as { readonly faults: readonly { readonly rule: string }[] }
        ).faults.map(({ rule }) => rule)
      expect(await faults()).toEqual(expect.arrayContaining(['image-alt', 'label', 'color-contrast', 'html-has-lang']))
      expect(await faults({ selector: '#nameless' })).toEqual(['label'])
      expect(await faults({ tags: ['wcag2aa'] })).not.toContain('image-alt')
    })

    test('changes are those after a sequence number', async () => {
      const { latest } = dataOf(await analyze({ target: 'changes' })) as Page
      await served.watch.page.evaluate(() => console.error('a new fault'))
      await until('it is recorded', () => served.watch.recording.seq > latest)
      const news = dataOf(await analyze({ target: 'changes', since: latest }))
      expect(news).toMatchObject({
        counts: { logs: 1, network: 0 },
        errors: [{ text: 'a new fault', isNew: true }],
        failures: [],
      })
    })

    test('timeline lists effects after the user action', async () => {
      const { entries } = dataOf(await analyze({ target: 'timeline', limit: 100 })) as {
        readonly entries: readonly { readonly kind: string; readonly what: string }[]
      }
      const output = entries.map(({ what }) => what)
      const click = output.findIndex((what) => what.includes('click'))
      const request = output.findIndex((what, index) => index > click && what.includes('/api/items?limit=10'))
      expect(click).toBeGreaterThan(0)
      expect(request).toBeGreaterThan(click)
    })
  })

  describe('generate', () => {
    const formats = [
      ['reproduction', '.mjs', (text: string) => text.includes("from 'playwright-core'") && text.includes('getByTestId("load")')],
      ['test', '.spec.ts', (text: string) => text.includes("from '@playwright/test'") && text.includes('/api/items')],
      ['pr_summary', '.md', (text: string) => text.includes('thrown by the page') && text.includes('/api/fail')],
      ['sarif', '.sarif', (text: string) => sarifErrors(JSON.parse(text)) === null && text.includes('image-alt')],
      ['har', '.har', (text: string) => harErrors(JSON.parse(text)) === null && text.includes('/api/items')],
    ] as const

    test.each(formats)(
      '%s is returned complete in a reply, and in a file of the output folder',
      async (format, suffix, isWhole) => {
        expect(isWhole(documentOf(await generate({ format })))).toBe(true)
        const reply = await generate({ format, file: `made-${format}` })
        const path = join(served.output, `made-${format}${suffix}`)
        expect(noteOf(reply)).toContain(path)
        expect(isWhole(await readFile(path, 'utf8'))).toBe(true)
        // The file is readable only by its owner.
        expect(process.platform === 'win32' ? 0 : (await stat(path)).mode & 0o077).toBe(0)
        const again = await generate({ format, file: `made-${format}${suffix}` })
        expect(again.isError).toBe(true)
        expect(textOf(again)).toContain('already exists. Choose another name.')
      },
    )

    test('a title and another base URL of the site are used', async () => {
      const script = documentOf(
        await generate({ format: 'reproduction', title: 'The order fails', base_url: 'https://shop.example', last: 2 }),
      )
      expect(script).toContain('The order fails')
      expect(script).toContain('https://shop.example')
      expect(script).not.toContain('getByTestId("load")')
    })

    test.each(['../out', '/tmp/out', 'a/b', 'a\\b', '..', '.hidden', '', 'a\0b', 'CON/..', 'x'.repeat(101)])(
      'a file named %j is rejected and nothing is written',
      async (file) => {
        const before = await readdir(served.output).catch(() => [])
        const reply = await generate({ format: 'har', file })
        expect(reply.isError).toBe(true)
        expect(await readdir(served.output).catch(() => [])).toEqual(before)
      },
    )
  })

  describe('configure', () => {
    test('health reports tabs, buffers, evicted and redacted records', async () => {
      const health = dataOf(await configure({ action: 'health' }))
      expect(health).toMatchObject({
        tabs: [{ id: 'tab-1', url: `${served.site.url}/busy`, isCurrent: true, hasCrashed: false }],
        buffers: { logs: { records: facts().logs, evicted: 0 } },
        endpoints: facts().endpoints,
        latest: served.watch.recording.seq,
      })
      expect(Object.keys(health.redacted as object)).toEqual(expect.arrayContaining(['cookie', 'header']))
    })

    test('a smaller buffer keeps the newest records, and the reply has the number of evicted ones', async () => {
      await configure({ action: 'save', name: 'before-shrinking' })
      const before = facts().logs
      const [newest] = await records({ what: 'logs', limit: 1 })
      const buffers = dataOf(await configure({ action: 'buffers', kind: 'logs', entries: 2 }))
      expect(buffers.logs).toMatchObject({ records: 2, evicted: before - 2, limits: { entries: 2 } })
      const kept = await records({ what: 'logs' })
      expect(kept).toHaveLength(2)
      expect(kept[0]).toEqual(newest)
      await configure({ action: 'buffers', kind: 'logs', entries: 1_000 })
      await configure({ action: 'load', session: 'before-shrinking' })
      expect(facts().logs).toBe(before)
    })

    test('a size without a buffer changes nothing, and is reported', async () => {
      const reply = await configure({ action: 'buffers', entries: 5 })
      expect(reply.isError).toBe(true)
      expect(textOf(reply)).toContain('Missing kind')
    })

    test('filters exclude records, count them, and can be reset', async () => {
      await configure({ action: 'filters', levels: ['error'], ignore_urls: ['/api/items'] })
      const { logs, network } = facts()
      await served.watch.page.evaluate(async () => {
        console.log('not wanted')
        await (await fetch('/api/items/1')).text()
        await (await fetch('/api/private')).text()
        console.error('wanted')
      })
      await until('what is wanted is recorded', () => facts().network === network + 1 && facts().logs >= logs + 2)
      const now = dataOf(await configure({ action: 'filters' }))
      expect(now).toMatchObject({ levels: ['error'], ignoreUrls: ['/api/items'] })
      expect(Number(now.kept_out)).toBeGreaterThanOrEqual(2)
      expect(textOf(await observe({ what: 'logs' }))).not.toContain('not wanted')
      expect(dataOf(await configure({ action: 'filters', reset: true }))).toMatchObject({ levels: [], ignoreUrls: [] })
    })

    test('an added pattern is redacted in existing and in new records', async () => {
      const say = async (text: string): Promise<void> => {
        const { logs } = facts()
        await served.watch.page.evaluate((line) => console.log(line), text)
        await until('it is recorded', () => facts().logs > logs)
      }
      await say('order UNF-1234-A')
      expect(textOf(await observe({ what: 'logs' }))).toContain('UNF-1234-A')
      const reply = await configure({ action: 'redaction', add: { name: 'order', pattern: 'UNF-\\d+-[A-Z]' } })
      expect(dataOf(reply)).toEqual({ patterns: [{ name: 'order', pattern: 'UNF-\\d+-[A-Z]' }] })
      await say('order UNF-5678-B')
      const output = textOf(await observe({ what: 'logs' }))
      expect(output).not.toMatch(/UNF-\d/)
      expect(output).toContain('order ')
      expect(dataOf(await configure({ action: 'redaction', remove: 'order' }))).toEqual({ patterns: [] })
      const unknown = await configure({ action: 'redaction', remove: 'order' })
      expect(unknown.isError).toBe(true)
    })

    test('clear removes one kind or everything; save and load restore it', async () => {
      const before = await modesOf(client)
      const counts = facts()
      await configure({ action: 'save', name: 'everything' })
      await configure({ action: 'clear', which: ['network'] })
      expect(facts()).toMatchObject({ network: 0, endpoints: 0, logs: counts.logs, actions: counts.actions })
      await configure({ action: 'clear' })
      expect(Object.values(facts()).every((count) => count === 0)).toBe(true)
      expect(await modesOf(client)).toMatchObject({ observe: ['errors', 'logs', 'page'] })
      const { sessions } = dataOf(await configure({ action: 'load' })) as {
        readonly sessions: readonly { readonly name: string }[]
      }
      expect(sessions.map(({ name }) => name)).toContain('everything')
      expect(noteOf(await configure({ action: 'load', session: 'everything' }))).toContain('Loaded "everything"')
      expect(facts()).toEqual(counts)
      expect(await modesOf(client)).toEqual(before)
      expect(documentOf(await generate({ format: 'reproduction' }))).toContain('getByTestId("load")')
    })
  })

  test('query_dom returns the current elements, by CSS and by XPath, with their markup on request', async () => {
    const query = async (args: object) =>
      dataOf(await client.call('query_dom', { ...args })) as { readonly total: number; readonly elements: readonly object[] }
    expect(await query({ selector: '#items li' })).toMatchObject({
      total: 4,
      elements: [{ tag: 'li', text: 'Button' }, {}, {}, {}],
    })
    expect(await query({ selector: '//h1' })).toMatchObject({ total: 1, elements: [{ text: 'Shop of small things' }] })
    const [marked] = (await query({ selector: 'h2', html: true, limit: 1 })).elements
    expect(JSON.stringify(marked)).toContain('<h2 id=')
    expect(await query({ selector: '.nothing' })).toMatchObject({ total: 0, elements: [] })
  })
})
