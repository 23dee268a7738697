import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { har } from '../src/generate/har/har.ts'
import type { NetworkRequest } from '../src/records/records.ts'
import { chromiumArgs, chromiumPath, describeInChromium } from './chromium.ts'
import { jsonBody, RecordSequence } from './generate-records.ts'
import { harErrors } from './generate-schemas.ts'

const page = 'http://shop.example/'
const version = '1.2.3'

function shopping(): readonly NetworkRequest[] {
  const sequence = new RecordSequence()
  const html =
    '<!doctype html><title>Shop</title><h1>Things</h1><img src="/dot.png"><p id="items"></p><script src="/shop.js"></script>'
  const script = `fetch('/api/items?limit=2').then((r) => r.json()).then((items) => { document.getElementById('items').textContent = items.join() })`
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const text = (mimeType: string, body: string): Partial<NetworkRequest> => ({
    responseHeaders: [{ name: 'content-type', value: mimeType }],
    responseBody: { mimeType, bytes: body.length, text: body },
  })
  return [
    sequence.request(`${page}old`, {
      type: 'document',
      status: 302,
      statusText: 'Found',
      redirectedTo: page,
      responseHeaders: [{ name: 'location', value: '/' }],
    }),
    sequence.request(page, { type: 'document', ...text('text/html', html) }),
    sequence.request(`${page}shop.js`, { type: 'script', ...text('text/javascript', script) }),
    sequence.request(`${page}dot.png`, {
      type: 'image',
      responseHeaders: [{ name: 'content-type', value: 'image/png' }],
      responseBody: { mimeType: 'image/png', bytes: 70, text: dot, encoding: 'base64' },
    }),
    sequence.request(`${page}api/items?limit=2`, {
      // The encoded size; the recorded body is already decoded.
      responseHeaders: [
        { name: 'content-type', value: 'application/json' },
        { name: 'content-encoding', value: 'gzip' },
        { name: 'set-cookie', value: 'a=1; Path=/; HttpOnly\nb=[redacted]; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Secure' },
      ],
      requestHeaders: [{ name: 'cookie', value: 'session=[redacted]; theme=dark' }],
      responseBody: jsonBody(['Needle', 'Thread']),
      remoteAddress: '[::1]:443',
    }),
    sequence.request(`${page}api/items`, {
      method: 'POST',
      status: 201,
      requestBody: { mimeType: 'application/json', bytes: 13, text: '{"name":"Pin"}' },
      responseBody: { mimeType: 'application/json', bytes: 90_000, text: '{"id":', cut: true },
    }),
    sequence.request(`${page}gone`, { status: 0, statusText: '', protocol: '', failure: 'net::ERR_CONNECTION_REFUSED' }),
  ]
}

test('the file is valid against the published schema', () => {
  const sequence = new RecordSequence()
  const snapshots = [sequence.snapshot(page, { domContentLoaded: 120, load: 200.5 })]
  const file = har(shopping(), { version, browser: { name: 'Chromium', version: '156' }, snapshots })
  expect(harErrors(file)).toBeNull()
  expect(file.log.pages).toEqual([
    {
      startedDateTime: '2026-01-02T10:00:00.060Z',
      id: 'page_1',
      title: page,
      pageTimings: { onContentLoad: 120, onLoad: 200.5 },
    },
  ])
})

test('the schema check works: it rejects an invalid file', () => {
  const { log } = har(shopping(), { version })
  const [entry] = log.entries
  const wrong = { ...entry, request: { ...entry?.request, url: 'not an address' } }
  expect(harErrors({ log: { ...log, entries: [wrong] } })).not.toBeNull()
  expect(harErrors({ log: { ...log, creator: undefined } })).not.toBeNull()
})

test('an entry contains everything known about its request', () => {
  const entry = har(shopping(), { version }).log.entries.find(({ request }) => request.url.includes('limit'))
  expect(entry).toMatchObject({
    time: 23.5,
    timings: { blocked: 1, dns: -1, connect: -1, ssl: -1, send: 0.5, wait: 20, receive: 2 },
    serverIPAddress: '::1',
    request: {
      cookies: [
        { name: 'session', value: '[redacted]' },
        { name: 'theme', value: 'dark' },
      ],
      queryString: [{ name: 'limit', value: '2' }],
      headersSize: -1,
    },
    response: {
      cookies: [
        { name: 'a', value: '1', path: '/', httpOnly: true, secure: false },
        { name: 'b', value: '[redacted]', expires: '2026-10-21T07:28:00.000Z', httpOnly: false, secure: true },
      ],
      content: { size: 19, mimeType: 'application/json', text: '["Needle","Thread"]' },
    },
  })
})

test('a truncated body is marked, and a failed request has its reason', () => {
  const { entries } = har(shopping(), { version }).log
  expect(entries.find(({ request }) => request.method === 'POST')?.response.content.comment).toBe('Only its beginning is kept.')
  expect(entries.at(-1)?.response).toMatchObject({ status: 0, _error: 'net::ERR_CONNECTION_REFUSED' })
})

test('a file that would be too large omits its largest bodies first, then its oldest requests', () => {
  const sequence = new RecordSequence()
  const requests = [...shopping(), sequence.request(`${page}api/large`, { responseBody: jsonBody('x'.repeat(5_000)) })]
  const whole = JSON.stringify(har(requests, { version })).length
  const smaller = har(requests, { version, limit: whole - 1_000 })
  expect(JSON.stringify(smaller).length).toBeLessThan(whole - 1_000)
  expect(smaller.log.entries).toHaveLength(requests.length)
  const left = smaller.log.entries.filter(({ response }) => response.content.comment?.includes('too long'))
  expect(left.map(({ request }) => request.url)).toEqual([`${page}api/large`])
  const smallest = har(requests, { version, limit: 2_000 })
  expect(smallest.log.entries.length).toBeLessThan(requests.length)
  expect(smallest.log.comment).toMatch(/The \d oldest requests are omitted/)
  expect(JSON.stringify(smallest.log.entries).length).toBeLessThanOrEqual(2_000)
})

describeInChromium('an HTTP archive in a browser', () => {
  test('a browser can replay the file without the site', { timeout: 300_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'unfold-har-'))
    const file = join(folder, 'shop.har')
    await writeFile(file, JSON.stringify(har(shopping(), { version })))
    const browser = await chromium.launch({ executablePath: chromiumPath(), args: [...chromiumArgs] })
    try {
      const context = await browser.newContext()
      await context.routeFromHAR(file, { notFound: 'abort' })
      const tab = await context.newPage()
      await tab.goto(`${page}old`)
      expect(tab.url()).toBe(page)
      await tab.locator('#items', { hasText: 'Needle,Thread' }).waitFor({ timeout: 120_000 })
      expect(await tab.locator('img').evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).toBe(1)
      const posted = tab.evaluate(`fetch('/api/items', { method: 'POST', body: '{"name":"Pin"}' }).then((r) => r.status)`)
      expect(await posted).toBe(201)
    } finally {
      await browser.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    }
  })
})

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.constantFrom(
    '',
    '\ud800',
    'a=b; Expires=+275760',
    'x\ny',
    'http://[::1]:80/[a]|{b}?c=[d]^`#e#f',
    'http://a/%zz%',
    'data:text/html,[<b>]',
  ),
)
const body = fc.option(
  fc.record(
    {
      mimeType: hostile,
      bytes: fc.nat(),
      text: hostile,
      encoding: fc.constant('base64' as const),
      cut: fc.constant(true as const),
    },
    { requiredKeys: ['mimeType', 'bytes'] },
  ),
  { nil: undefined },
)

test('the file is valid for any recording', () => {
  const headers = fc.array(fc.record({ name: fc.oneof(hostile, fc.constantFrom('Cookie', 'Set-Cookie')), value: hostile }), {
    maxLength: 3,
  })
  const requests = fc.array(
    fc.record({
      url: hostile,
      pageUrl: hostile,
      headers,
      text: hostile,
      at: fc.double(),
      ms: fc.double(),
      status: fc.integer(),
      body,
    }),
    { maxLength: 4 },
  )
  fc.assert(
    fc.property(requests, (all) => {
      const sequence = new RecordSequence()
      const recorded = all.map(({ url, pageUrl, headers: both, text, at, ms, status, body: kept }) => ({
        ...sequence.request(page, { pageUrl, startedAt: at, requestHeaders: both, responseHeaders: both, method: text, status }),
        ...{ url, statusText: text, protocol: text, type: 'document', redirectedTo: text, remoteAddress: text, transferred: ms },
        timings: { blocked: ms, dns: ms, connect: ms, ssl: ms, send: ms, wait: ms, receive: ms },
        ...(kept && ({ requestBody: kept, responseBody: kept } as Partial<NetworkRequest>)),
      }))
      const file = har(recorded, { version })
      expect(harErrors(file)).toBeNull()
    }),
    { numRuns: 300 },
  )
})
