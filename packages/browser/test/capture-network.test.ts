import { afterAll, beforeAll, expect, test } from 'vitest'
import { readableBodyLimit, requestBodyLimit, responseBodyLimit } from '../src/capture/bodies.ts'
import type { NetworkRequest } from '../src/records/records.ts'
import { describeInChromium, type Watching, watching } from './chromium.ts'
import { type Site, startSite } from './site.ts'

describeInChromium('network requests', () => {
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

  const requests = (): readonly NetworkRequest[] => [...watch.recording.of('network')]
  const request = (path: string, isMeant: (request: NetworkRequest) => boolean = () => true): Promise<NetworkRequest> =>
    watch.until(`a request for ${path}`, () => requests().find((each) => withoutOrigin(each).startsWith(path) && isMeant(each)))
  const withoutOrigin = ({ url }: NetworkRequest): string => url.slice(new URL(url).origin.length)
  const fresh = async (path: string): Promise<void> => {
    await watch.browser.open('about:blank')
    watch.recording.clear()
    await watch.browser.open(`${site.url}${path}`)
  }
  const header = ({ responseHeaders }: NetworkRequest, wanted: string): string | undefined =>
    responseHeaders.find(({ name }) => name.toLowerCase() === wanted)?.value

  test('a page load consists of its document, its subresources and its fetches, each with its type', async () => {
    await fresh('/')
    await request('/api/items')
    const [document, script, picture, data] = await Promise.all(
      ['/', '/front.js', '/picture.svg', '/api/items?limit=10'].map((path) =>
        request(path, ({ url }) => url === site.url + path),
      ),
    )
    expect([document?.type, script?.type, picture?.type, data?.type]).toEqual(['document', 'script', 'image', 'fetch'])
    expect(data).toMatchObject({
      method: 'GET',
      status: 200,
      statusText: 'OK',
      protocol: 'http/1.1',
      fromCache: false,
      pageUrl: `${site.url}/`,
      tab: 'tab-1',
    })
  })

  test('a text body is recorded with its type and length', async () => {
    await fresh('/')
    const { responseBody } = await request('/api/items')
    expect(responseBody).toMatchObject({ mimeType: 'application/json' })
    expect(JSON.parse(responseBody?.text ?? '')).toMatchObject({ total: 4 })
    expect(responseBody?.bytes).toBe(Buffer.byteLength(responseBody?.text ?? ''))
  })

  test('request and response are recorded', async () => {
    await fresh('/')
    await watch.page.getByTestId('add').click()
    const { requestBody, status, responseBody } = await request('/api/items', ({ method }) => method === 'POST')
    expect(JSON.parse(requestBody?.text ?? '')).toMatchObject({ name: 'Pin' })
    expect(requestBody?.mimeType).toBe('application/json')
    expect(status).toBe(201)
    expect(JSON.parse(responseBody?.text ?? '')).toMatchObject({ id: 42 })
  })

  test('long bodies are truncated, with their original length', async () => {
    await fresh('/second')
    await watch.page.evaluate(() =>
      fetch('/api/items', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'ü'.repeat(10_000) }).then(
        (response) => response.text(),
      ),
    )
    const { requestBody, responseBody } = await request('/api/items')
    expect(requestBody).toMatchObject({ bytes: 20_000, cut: true })
    expect(Buffer.byteLength(requestBody?.text ?? '')).toBe(requestBodyLimit)
    expect(responseBody?.cut).toBe(true)
    expect(responseBody?.bytes).toBeGreaterThan(20_000)
    expect(Buffer.byteLength(responseBody?.text ?? '')).toBeLessThanOrEqual(responseBodyLimit)
  })

  test('a large upload is not read', async () => {
    await fresh('/second')
    await watch.page.evaluate(() =>
      fetch('/api/items', { method: 'POST', body: 'x'.repeat(300_000) }).then((response) => response.text()),
    )
    const { requestBody } = await request('/api/items')
    expect(requestBody).toMatchObject({ bytes: 300_000, omitted: expect.stringContaining('too large') })
    expect(requestBody?.text).toBeUndefined()
  })

  test('binary bodies are omitted', async () => {
    await fresh('/fetches?path=/huge%3Fmb=1%26type=image/png')
    const { responseBody } = await request('/huge')
    expect(responseBody).toEqual({ mimeType: 'image/png', bytes: 1024 * 1024, omitted: 'not text' })
  })

  test('a body larger than the limit is omitted, with its length', async () => {
    await fresh('/fetches?path=/huge%3Fmb=5')
    const { responseBody } = await request('/huge')
    expect(responseBody).toMatchObject({ mimeType: 'text/plain', omitted: 'larger than 2 MB' })
    expect(responseBody?.bytes).toBeGreaterThan(readableBodyLimit)
  })

  test('a redirect is a separate request before its target', async () => {
    await fresh('/')
    await watch.page.getByTestId('redirected').click()
    const moved = await request('/api/moved')
    const arrived = await request('/api/items', ({ url }) => url === `${site.url}/api/items`)
    expect(moved).toMatchObject({ status: 302, redirectedTo: `${site.url}/api/items` })
    expect(header(moved, 'location')).toBe('/api/items')
    expect(arrived.status).toBe(200)
    expect(arrived.startedAt).toBeGreaterThanOrEqual(moved.startedAt)
  })

  test('error responses are recorded like others', async () => {
    await fresh('/')
    await watch.page.getByTestId('fail').click()
    await watch.page.getByTestId('missing').click()
    expect(await request('/api/fail')).toMatchObject({
      status: 500,
      responseBody: { text: '{"error":"the server failed as asked"}' },
    })
    expect(await request('/api/items/999')).toMatchObject({ status: 404 })
  })

  test('a request without a response has a failure reason', async () => {
    await fresh('/second')
    await watch.page.evaluate(() => fetch('http://127.0.0.1:1/').catch(() => undefined))
    expect(await request('/', ({ url }) => url === 'http://127.0.0.1:1/')).toMatchObject({
      status: 0,
      failure: expect.stringContaining('net::ERR_'),
    })
  })

  test('a request is pending until it ends or the page aborts it', async () => {
    await fresh('/second')
    await watch.page.evaluate(() => {
      const controller = new AbortController()
      Object.assign(window, { giveUp: () => controller.abort() })
      fetch('/never', { signal: controller.signal }).catch(() => undefined)
    })
    const pending = await watch.until('a pending request', () =>
      watch.recording.pending().find(({ url }) => url.endsWith('/never')),
    )
    expect(pending).toMatchObject({ method: 'GET', type: 'fetch', tab: 'tab-1' })
    await watch.page.evaluate(() => (window as unknown as { giveUp: () => void }).giveUp())
    expect(await request('/never')).toMatchObject({ status: 0, failure: expect.stringContaining('canceled') })
    await watch.until('nothing is pending', () => watch.recording.pending().length === 0)
  })

  test('navigating away ends pending requests', async () => {
    await fresh('/fetches?path=/never')
    await watch.until('a pending request', () => watch.recording.pending().length > 0)
    await watch.browser.open(`${site.url}/second`)
    expect(await request('/never')).toMatchObject({ status: 0, failure: expect.stringContaining('net::ERR_ABORTED') })
    await watch.until('nothing is pending', () => watch.recording.pending().length === 0)
    expect(requests().filter((each) => withoutOrigin(each) === '/never')).toHaveLength(1)
  })

  test('the phases of the timing add up to the total', async () => {
    await fresh('/fetches?path=/slow%3Fms=200')
    const { timings, startedAt, at } = await request('/slow?')
    const { ssl: _, ...parts } = timings
    const sum = Object.values(parts).reduce((total, ms) => total + Math.max(0, ms), 0)
    expect(Math.abs(sum - (at - startedAt))).toBeLessThan(5)
    expect(timings.wait).toBeGreaterThan(100)
    expect(timings.ssl).toBe(-1)
  })

  test('headers are those sent over the network', async () => {
    await fresh('/secrets')
    const sent = await request('/api/private')
    const names = sent.requestHeaders.map(({ name }) => name.toLowerCase())
    expect(names).toEqual(expect.arrayContaining(['authorization', 'cookie', 'x-api-key', 'user-agent']))
    expect(header(sent, 'set-cookie')).toBeDefined()
  })

  test('no secret in a header, query, body or console message is recorded', async () => {
    await fresh('/secrets')
    await watch.page.waitForFunction(() => document.title === 'Secrets are sent')
    await request('/api/items', ({ method }) => method === 'POST')
    const asked = site.requests.filter(({ path }) => path.startsWith('/api/private')).at(-1)
    expect(asked?.headers.authorization).toBe('Bearer token-in-the-header')
    // The page's own source, which any visitor can read, is not in scope.
    const traffic = requests().map((each) => (each.type === 'document' ? { ...each, responseBody: undefined } : each))
    const kept = JSON.stringify([traffic, [...watch.recording.of('logs')], watch.recording.pending()])
    const secrets = ['token-in-', 'key-in-', 'password-in-', 'cookie-of-', 'cookie-made-']
    expect(secrets.filter((secret) => kept.includes(secret))).toEqual([])
  })

  test('a response that the page does not read still completes', async () => {
    await fresh('/secrets')
    expect(await request('/api/private')).toMatchObject({ status: 200, responseBody: { omitted: 'not read by the page' } })
  })

  test('a stream that is read to its end is not a failure', async () => {
    await fresh('/fetches?path=/huge%3Fmb=1')
    expect((await request('/huge')).failure).toBeUndefined()
  })

  test('requests of cross-origin frames and workers are recorded', async () => {
    await fresh('/frames')
    const framed = await request('/framed', ({ url }) => url.startsWith('http://localhost'))
    expect(framed).toMatchObject({ type: 'document', status: 200, tab: 'tab-1' })
    expect(framed.responseBody?.text).toContain('Inside')
    await request('/api/items', ({ url }) => url.startsWith('http://localhost'))
    await watch.page.evaluate(() => {
      new Worker(URL.createObjectURL(new Blob([`fetch('${location.origin}/slow?ms=1&worker')`], { type: 'text/javascript' })))
    })
    expect(await request('/slow?ms=1&worker')).toMatchObject({ status: 200, tab: 'tab-1' })
  })

  test('data URLs are not recorded', async () => {
    await fresh('/second')
    await watch.page.evaluate(() =>
      fetch('data:text/plain,hello')
        .then(() => fetch('/api/items'))
        .then((response) => response.text()),
    )
    await request('/api/items')
    expect(requests().some(({ url }) => url.startsWith('data:'))).toBe(false)
  })
})
