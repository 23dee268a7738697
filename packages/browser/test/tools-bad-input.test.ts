import { testTransports } from '@unfold-mcp/server/testing'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { replyLimit } from '../src/reply/reply.ts'
import { crash, describeInChromium, until } from './chromium.ts'
import { dataOf, failureOf, reasonOf, textOf } from './replies.ts'
import { serving } from './served.ts'

// The server's sentence, the tools that an observation adds, and the limit itself.
const maxReplyBytes = replyLimit + 4_000

describeInChromium('invalid input and failing pages', () => {
  const served = serving()
  const { observing } = served
  beforeAll(() => served.calm(), 60_000)

  /** A second tab, closed at the end unless the test has closed it. */
  const inNewTab = async (path: string, work: (page: Page, id: string) => Promise<void>): Promise<void> => {
    const { browser, page: first } = served.watch
    const before = browser.tabs().map(({ id }) => id)
    const page = await first.context().newPage()
    try {
      await page.goto(`${served.site.url}${path}`)
      const id = await until('the tab is known', () => browser.tabs().find((tab) => !before.includes(tab.id))?.id)
      await work(page, id)
    } finally {
      await page.close().catch(() => undefined)
      await until('the tab is gone', () => browser.tabs().length === before.length)
    }
  }

  describe('arguments', () => {
    const wrong = [
      ['observe', {}, 'invalid_arguments', '- what: is missing. Choose one of: errors, logs, page'],
      ['observe', { what: 'erors' }, 'invalid_arguments', 'Nearest: errors'],
      ['observe', { what: 7 }, 'invalid_arguments', 'Choose one of'],
      ['observe', { what: '__proto__' }, 'invalid_arguments', 'Choose one of'],
      ['observe', { what: 'logs', limit: 'many' }, 'invalid_arguments', '- limit:'],
      ['observe', { what: 'logs', limit: 0 }, 'invalid_arguments', '- limit:'],
      ['observe', { what: 'logs', limit: 100_000 }, 'invalid_arguments', '- limit:'],
      ['observe', { what: 'logs', bodies: 'full' }, 'invalid_arguments', 'it belongs to network'],
      ['observe', { what: 'logs', since: 'yesterday' }, 'tool_failed', 'cannot be understood as `since`'],
      ['observe', { what: 'logs', since: '99999999' }, 'tool_failed', 'the latest is'],
      ['observe', { what: 'logs', cursor: '00-00' }, 'tool_failed', 'Invalid cursor.'],
      ['observe', { what: 'page', tab: 'tab-99' }, 'tool_failed', 'Open tabs: tab-1'],
      ['analyze', { target: 'changes', since: 99_999_999 }, 'mode_unavailable', 'open a page'],
      ['analyze', { target: 'accessibility', selector: '###' }, 'tool_failed', 'Invalid selector "###"'],
      ['analyze', { target: 'accessibility', selector: '.nothing' }, 'tool_failed', 'No element matches'],
      ['analyze', { target: 'accessibility', tags: ['wcag9'] }, 'tool_failed', 'No rule has one of the tags "wcag9"'],
      ['generate', { format: 'pdf' }, 'invalid_arguments', 'Choose one of'],
      ['generate', { format: 'sarif', title: 'Audit' }, 'invalid_arguments', 'does not go with format: "sarif"'],
      ['configure', { action: 'buffers', kind: 'cookies' }, 'invalid_arguments', '- kind:'],
      ['configure', { action: 'buffers', kind: 'logs', bytes: 1 }, 'invalid_arguments', '- bytes:'],
      ['configure', { action: 'save', name: '../elsewhere' }, 'tool_failed', "cannot be a session's name"],
      ['configure', { action: 'load', session: 'never-saved' }, 'tool_failed', 'Unknown session "never-saved"'],
      ['configure', { action: 'redaction', add: { name: 'x', pattern: '[' } }, 'tool_failed', 'Invalid pattern'],
      ['query_dom', {}, 'invalid_arguments', '- selector'],
      ['query_dom', { selector: '###' }, 'tool_failed', 'Give a CSS selector such as'],
      ['query_dom', { selector: '//[' }, 'tool_failed', 'is not a valid XPath expression'],
      ['query_dom', { selector: 'x'.repeat(2_001) }, 'invalid_arguments', '- selector'],
    ] as const

    test.each(wrong)('%s %j is answered with %s and what to do', async (tool, args, reason, message) => {
      const client = await observing()
      served.watch.recording.clear()
      const result = await client.call(tool, args)
      expect(textOf(result)).toContain(message)
      expect(reasonOf(result)).toBe(reason)
    })

    const empty = [
      ['observe', { what: 'network' }, 'open or reload a page'],
      ['observe', { what: 'websocket_events' }, 'open or reload a page that uses one'],
      ['observe', { what: 'websocket_status' }, 'open or reload a page that uses one'],
      ['observe', { what: 'actions' }, 'ask the user to use the page'],
      ['observe', { what: 'vitals' }, 'open or reload a page'],
      ['analyze', { target: 'performance' }, 'open or reload a page'],
      ['analyze', { target: 'api' }, 'use the page'],
      ['analyze', { target: 'changes' }, 'open a page'],
      ['analyze', { target: 'timeline' }, 'ask the user to use the page'],
      ['generate', { format: 'reproduction' }, 'ask the user to use the page'],
      ['generate', { format: 'test' }, 'ask the user to use the page'],
      ['generate', { format: 'pr_summary' }, 'open a page'],
      ['generate', { format: 'har' }, 'open or reload a page'],
    ] as const

    test.each(empty)('%s %j without data explains how to get some', async (tool, args, advice) => {
      const client = await observing()
      served.watch.recording.clear()
      const result = await client.call(tool, args)
      expect(reasonOf(result)).toBe('mode_unavailable')
      expect(textOf(result)).toContain(advice)
      expect(textOf(result)).toContain('Choose one of')
    })
  })

  describe('pages', () => {
    test('100,000 matches are counted, some are shown, and the reply stays small', async () => {
      const client = await observing()
      await inNewTab('/nodes?n=100000', async (_page, tab) => {
        const result = await client.call('query_dom', { selector: '.node', tab, limit: 100, html: true })
        const { total, elements } = dataOf(result) as { readonly total: number; readonly elements: readonly unknown[] }
        expect(total).toBe(100_000)
        expect(elements.length).toBeLessThanOrEqual(101)
        expect(textOf(result).length).toBeLessThan(maxReplyBytes)
        const page = await client.call('observe', { what: 'page', tab })
        expect(textOf(page).length).toBeLessThan(maxReplyBytes)
      })
    }, 300_000)

    test('closing a tab during a query ends the call, and other calls continue', async () => {
      const client = await observing()
      await inNewTab('/second', async (page, tab) => {
        // A busy page cannot answer before it is closed.
        await page.evaluate(() =>
          setTimeout(() => {
            for (const end = performance.now() + 4_000; performance.now() < end; );
          }, 50),
        )
        await new Promise((resolve) => setTimeout(resolve, 200))
        const asked = client.call('query_dom', { selector: 'h1', tab })
        await new Promise((resolve) => setTimeout(resolve, 200))
        await page.close()
        const result = await asked
        expect(result.isError).toBe(true)
        expect(textOf(result)).toMatch(/closed/)
      })
      expect(dataOf(await client.call('query_dom', { selector: 'h1' }))).toMatchObject({ total: 1 })
    }, 300_000)

    test('a crashed page is reported, and the others can still be read', async () => {
      const client = await observing()
      await inNewTab('/second', async (page, tab) => {
        await crash(page)
        for (const [tool, args] of [
          ['query_dom', { selector: 'h1', tab }],
          ['observe', { what: 'page', tab }],
          ['analyze', { target: 'accessibility', tab }],
        ] as const) {
          const result = await client.call(tool, args)
          expect(result.isError).toBe(true)
          expect(textOf(result)).toMatch(/crashed/)
        }
        expect(textOf(await client.call('configure', { action: 'health' }))).toContain('"hasCrashed":true')
      })
      expect(dataOf(await client.call('observe', { what: 'page', tab: 'tab-1' }))).toMatchObject({ title: 'Second page' })
    }, 300_000)

    test('a navigation during an audit is reported, and the next audit works', async () => {
      const client = await observing()
      await inNewTab('/nodes?n=8000', async (page, tab) => {
        await page.evaluate(() => setTimeout(() => location.assign('/second'), 100))
        const result = await client.call('analyze', { target: 'accessibility', tab })
        // An audit that finished before the navigation is acceptable too.
        expect(failureOf(result) ?? 'done').toMatch(/navigated.*Try again|^done$/)
        await page.waitForURL('**/second')
        expect(dataOf(await client.call('analyze', { target: 'accessibility', tab }))).toMatchObject({
          url: `${served.site.url}/second`,
        })
      })
    }, 300_000)

    test('concurrent audits are all answered', async () => {
      await served.calm('/')
      const [one, other] = [await observing(), await observing()]
      const results = await Promise.all([
        one.call('analyze', { target: 'accessibility' }),
        other.call('analyze', { target: 'accessibility' }),
        other.call('generate', { format: 'sarif' }),
        one.call('query_dom', { selector: 'h1' }),
      ])
      expect(results.map(failureOf)).toEqual(results.map(() => undefined))
    }, 300_000)

    test('however much was recorded, a reply stays small and is valid data', async () => {
      await served.calm()
      await served.watch.page.evaluate(() => {
        for (let i = 0; i < 150; i++) console.error(`line ${i} ${'long '.repeat(2_000)}`)
      })
      await until('the lines are recorded', () => served.watch.recording.facts.read().logs >= 150)
      const client = await observing()
      for (const [tool, args] of [
        ['observe', { what: 'logs', limit: 200 }],
        ['observe', { what: 'errors', limit: 1 }],
        ['analyze', { target: 'changes' }],
      ] as const) {
        const result = await client.call(tool, args)
        expect(textOf(result).length).toBeLessThan(maxReplyBytes)
        expect(Object.keys(dataOf(result))).not.toEqual([])
      }
    }, 300_000)

    test.each(testTransports)(
      'over $transport in the era $era, two clients read the same data concurrently',
      async (testTransport) => {
        await served.calm()
        const server = await served.serve(testTransport)
        const clients = [await server.connect(), await server.connect()]
        await served.watch.page.evaluate(() => console.error('seen by both'))
        await until('it is recorded', () => served.watch.recording.facts.read().errors === 1)
        const replies = await Promise.all(clients.map((client) => client.call('observe', { what: 'errors' })))
        expect(replies.map((reply) => (dataOf(reply) as { readonly records: readonly object[] }).records)).toMatchObject([
          [{ text: 'seen by both' }],
          [{ text: 'seen by both' }],
        ])
      },
    )
  })
})
