import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changesSince } from '../src/analyze/changes.ts'
import { buildTimeline, timelineKinds } from '../src/analyze/timeline.ts'
import { Recording } from '../src/recording/recording.ts'
import { currentSeq } from '../src/recording/sequence.ts'
import type { Kind, NewRecord, Records } from '../src/records/records.ts'
import { Redactor } from '../src/redaction/redaction.ts'
import { describeInChromium, watching } from './chromium.ts'
import { startSite } from './site.ts'

const page = 'https://shop.example/'
const recorded = (limits = {}): Recording => new Recording({ redactor: new Redactor(), limits })

function add<K extends Kind>(recording: Recording, kind: K, at: number, more: Partial<Records[K]> = {}, tab = 'tab-1'): void {
  const plain: { readonly [Each in Kind]: object } = {
    logs: { level: 'log', from: 'console', text: 'hello', url: page },
    network: {
      method: 'GET',
      url: `${page}api`,
      type: 'fetch',
      requestHeaders: [],
      status: 200,
      statusText: 'OK',
      protocol: 'h2',
      responseHeaders: [],
      fromCache: false,
      startedAt: at - 30,
      timings: { blocked: -1, dns: -1, connect: -1, ssl: -1, send: 0, wait: 20, receive: 10 },
      transferred: 100,
      pageUrl: page,
    },
    sockets: { socket: 's', url: 'wss://shop.example/', event: 'sent', text: 'hi', bytes: 2 },
    actions: {
      action: 'click',
      url: page,
      selectors: { role: { role: 'button', name: 'Save' }, css: '#save', xpath: '//button' },
    },
    snapshots: { url: page, lcp: 1_200, longTasks: { count: 0, total: 0, longest: 0 }, requests: 1, transferred: 1 },
    audits: { url: page, engine: 'x', faults: [], passes: 0, incomplete: 0 },
  }
  recording.add(kind, { at, tab, ...plain[kind], ...more } as unknown as NewRecord<Records[K]>)
}

describe('the timeline', () => {
  test('shows the effects of each action, in order of start time', () => {
    const recording = recorded()
    add(recording, 'logs', 900)
    add(recording, 'actions', 1_000)
    add(recording, 'logs', 1_040, { level: 'error', text: 'it broke' })
    // Recorded at its end, shown at its start.
    add(recording, 'network', 1_050, { method: 'POST', status: 500 })
    add(recording, 'sockets', 1_060)
    add(recording, 'snapshots', 1_500)
    add(recording, 'actions', 2_000, { action: 'navigation', url: `${page}next`, cause: 'link' })
    expect(buildTimeline(recording).entries).toEqual([
      { seq: 1, kind: 'logs', at: 900, tab: 'tab-1', what: 'log: hello' },
      { seq: 2, kind: 'actions', at: 1_000, tab: 'tab-1', what: 'click button "Save"' },
      { seq: 4, kind: 'network', at: 1_020, tab: 'tab-1', afterMs: 20, afterSeq: 2, what: `POST ${page}api → 500`, tookMs: 30 },
      { seq: 3, kind: 'logs', at: 1_040, tab: 'tab-1', afterMs: 40, afterSeq: 2, what: 'error: it broke' },
      { seq: 5, kind: 'sockets', at: 1_060, tab: 'tab-1', afterMs: 60, afterSeq: 2, what: 'socket sent: hi (2 bytes)' },
      { seq: 6, kind: 'snapshots', at: 1_500, tab: 'tab-1', afterMs: 500, afterSeq: 2, what: `measured ${page}: LCP 1200` },
      { seq: 7, kind: 'actions', at: 2_000, tab: 'tab-1', afterMs: 1_000, afterSeq: 2, what: `navigation (link) to ${page}next` },
    ])
  })

  test('events in another tab are not linked to the action', () => {
    const recording = recorded()
    add(recording, 'actions', 1_000)
    add(recording, 'logs', 1_010, {}, 'tab-2')
    expect(buildTimeline(recording).entries[1]).not.toHaveProperty('afterMs')
    expect(buildTimeline(recording, { tab: 'tab-2' }).entries.map(({ seq }) => seq)).toEqual([2])
  })

  test('typed values are shown, secrets are not', () => {
    const recording = recorded()
    add(recording, 'actions', 1, { action: 'input', value: 'Pin' })
    add(recording, 'actions', 2, { action: 'input', secret: true })
    add(recording, 'actions', 3, { action: 'check', checked: false })
    add(recording, 'actions', 4, { action: 'key', key: 'Enter' })
    add(recording, 'actions', 5, { action: 'scroll', scroll: { x: 0, y: 300 } })
    expect(buildTimeline(recording, { kinds: ['actions'] }).entries.map(({ what }) => what)).toEqual([
      'input button "Save": "Pin"',
      'input button "Save" (secret)',
      'check button "Save" off',
      'key Enter button "Save"',
      'scroll to 0, 300',
    ])
  })

  test('its pages contain each record once, while more is recorded', () => {
    const kind = fc.constantFrom(...timelineKinds)
    fc.assert(
      fc.property(fc.array(fc.tuple(kind, fc.nat(5)), { maxLength: 60 }), fc.integer({ min: 1, max: 9 }), (records, limit) => {
        const recording = recorded()
        let at = 0
        for (const [each, later] of records) {
          at += later
          add(recording, each, at)
        }
        const seen: number[] = []
        let before: number | undefined
        for (let part = 0; part <= records.length; part++) {
          const timeline = buildTimeline(recording, { limit, ...(before !== undefined && { before }) })
          expect(timeline.entries.length).toBeLessThanOrEqual(limit)
          seen.push(...timeline.entries.map(({ seq }) => seq))
          if (timeline.before === undefined) break
          before = timeline.before
          add(recording, 'logs', at)
        }
        expect(seen.sort((a, b) => a - b)).toEqual(records.map((_, i) => i + 1))
      }),
    )
  })

  test('dropped older records are reported', () => {
    const recording = recorded({ logs: { entries: 3, bytes: 1_000_000 } })
    for (let i = 0; i < 5; i++) add(recording, 'logs', i)
    expect(buildTimeline(recording)).toMatchObject({ isOlderGone: true, entries: [{ seq: 3 }, { seq: 4 }, { seq: 5 }] })
  })

  test('its size is limited, however large a record is', () => {
    const recording = recorded()
    for (let i = 0; i < 300; i++) add(recording, 'logs', i, { text: 'x'.repeat(5_000) })
    const { entries } = buildTimeline(recording, { limit: 1_000_000 })
    expect(entries).toHaveLength(200)
    expect(Math.max(...entries.map(({ what }) => what.length))).toBeLessThan(300)
  })
})

describe('changes', () => {
  test('are counted by kind, with grouped messages and failures, and new ones are marked', () => {
    const recording = recorded()
    add(recording, 'logs', 1, { level: 'error', text: 'Item 17 is missing' })
    add(recording, 'network', 2, { status: 404, url: `${page}api/items/17` })
    add(recording, 'network', 3)
    const place = currentSeq(recording)
    for (const text of ['Item 42 is missing', 'Item 43 is missing', 'Broken'])
      add(recording, 'logs', 4, { level: 'error', text, source: { url: `${page}a.js`, line: 3, column: 7 } })
    add(recording, 'logs', 5, { level: 'warning', text: 'Careful' })
    add(recording, 'logs', 6)
    add(recording, 'network', 7, { status: 404, url: `${page}api/items/99` })
    add(recording, 'network', 8, { status: 500, url: `${page}api/orders`, method: 'POST' })
    add(recording, 'network', 9, { status: 0, failure: 'net::ERR_ABORTED', url: `${page}api/slow` })
    add(recording, 'actions', 10, { action: 'navigation', url: `${page}next`, cause: 'typed' })
    add(recording, 'actions', 11)
    const changes = changesSince(recording, place)
    expect(changes).toEqual({
      since: 3,
      latest: 13,
      counts: { logs: 5, network: 3, sockets: 0, actions: 2, snapshots: 0, audits: 0 },
      errors: [
        { text: 'Item 42 is missing', count: 2, firstSeq: 4, lastSeq: 5, source: `${page}a.js:3:7`, isNew: false },
        { text: 'Broken', count: 1, firstSeq: 6, lastSeq: 6, source: `${page}a.js:3:7`, isNew: true },
      ],
      warnings: [{ text: 'Careful', count: 1, firstSeq: 7, lastSeq: 7, isNew: true }],
      failures: [
        { method: 'GET', url: `${page}api/items/99`, status: 404, count: 1, firstSeq: 9, lastSeq: 9, isNew: false },
        { method: 'POST', url: `${page}api/orders`, status: 500, count: 1, firstSeq: 10, lastSeq: 10, isNew: true },
        {
          method: 'GET',
          url: `${page}api/slow`,
          status: 0,
          failure: 'net::ERR_ABORTED',
          count: 1,
          firstSeq: 11,
          lastSeq: 11,
          isNew: true,
        },
      ],
      endpoints: [
        { method: 'POST', url: `${page}api/orders`, calls: 1 },
        { method: 'GET', url: `${page}api/slow`, calls: 1 },
      ],
      navigations: [{ seq: 12, at: 10, url: `${page}next`, cause: 'typed' }],
    })
  })

  test('no change is reported if nothing happened', () => {
    const recording = recorded()
    add(recording, 'logs', 1, { level: 'error' })
    expect(changesSince(recording, recording.seq)).toMatchObject({
      errors: [],
      failures: [],
      endpoints: [],
      navigations: [],
      counts: { logs: 0 },
    })
  })

  test('dropped new records are counted', () => {
    const recording = recorded({ logs: { entries: 10, bytes: 1_000_000 } })
    for (let i = 0; i < 8; i++) add(recording, 'logs', i)
    const place = currentSeq(recording)
    for (let i = 0; i < 15; i++) add(recording, 'logs', i)
    const { gone, note, counts } = changesSince(recording, place)
    expect([counts.logs, gone]).toEqual([10, { logs: 5 }])
    expect(note).toMatch(/^5 records since then are gone/)
    expect(changesSince(recording, currentSeq(recording)).gone).toBeUndefined()
  })

  test('a flood of different messages is limited', () => {
    const recording = recorded()
    for (let i = 0; i < 900; i++)
      add(recording, 'logs', i, {
        level: 'error',
        text: `${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))} ${'x'.repeat(2_000)}`,
      })
    const changes = changesSince(recording, 0)
    expect([changes.errors.length, changes.more?.errors]).toEqual([20, 480])
    expect(JSON.stringify(changes).length).toBeLessThan(20_000)
  })
})

describeInChromium('the timeline of a real page', () => {
  test('a click is followed by its effects', async () => {
    await using site = await startSite()
    await using watch = await watching({ open: site.url })
    const { recording } = watch
    await watch.page.waitForSelector('li')
    const place = currentSeq(recording)
    await watch.page.click('[data-testid=fail]')
    await watch.page.click('[data-testid=throw]')
    await watch.until('both are recorded', () => {
      const { errors, failures, counts } = changesSince(recording, place)
      return errors.some(({ text }) => text.includes('thrown by the page')) && failures.length > 0 && counts.actions >= 2
    })
    const changes = changesSince(recording, place)
    expect(changes.failures).toMatchObject([{ method: 'GET', url: `${site.url}/api/fail`, status: 500, isNew: true }])
    expect(changes.endpoints).toEqual([{ method: 'GET', url: `${site.url}/api/fail`, calls: 1 }])
    const { entries } = buildTimeline(recording)
    const click = entries.find(({ what }) => what === 'click button "Fail on the server"')
    const request = entries.find(({ what }) => what.startsWith(`GET ${site.url}/api/fail`))
    expect(request).toMatchObject({ kind: 'network', afterSeq: click?.seq, tookMs: expect.any(Number) })
  })
})
