import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Endpoints, maxEndpoints } from '../src/api/endpoints.ts'
import type { Body, NetworkRequest } from '../src/records/records.ts'
import { describeInChromium, watching } from './chromium.ts'
import { RecordSequence } from './generate-records.ts'
import { startSite } from './site.ts'

const origin = 'https://api.example'
const answer = (value: unknown, more: Partial<Body> = {}): Body => {
  const body = JSON.stringify(value)
  return { mimeType: 'application/json', bytes: body.length, text: body, ...more }
}

function seen(...requests: readonly (readonly [path: string, more?: Partial<NetworkRequest>])[]): Endpoints {
  const sequence = new RecordSequence()
  const endpoints = new Endpoints()
  for (const [path, more] of requests) endpoints.observe(sequence.request(`${origin}${path}`, more))
  return endpoints
}

interface Asked {
  readonly path: string
  readonly method: string
  readonly body: unknown
  readonly status: number
}

const paths = (endpoints: Endpoints): readonly string[] => endpoints.list().map(({ path }) => path)

describe('endpoints', () => {
  test('URLs that differ in an id are one endpoint', () => {
    const endpoints = seen(
      ['/api/items/42'],
      ['/api/items/43'],
      ['/api/items'],
      ['/api/items/42/tags/6f1f2a9e-0f2d-4b6a-9d5c-0a1b2c3d4e5f'],
    )
    expect(paths(endpoints)).toEqual(['/api/items', '/api/items/{id}', '/api/items/{id}/tags/{id2}'])
    expect(endpoints.size).toBe(3)
  })

  test('an endpoint has its methods, calls, parameters and responses', () => {
    const endpoints = seen(
      [
        '/api/items?limit=10&q=pin',
        {
          responseBody: answer({ items: [{ id: 1 }], total: 1 }),
          requestHeaders: [{ name: 'Authorization', value: 'Bearer [redacted]' }],
        },
      ],
      [
        '/api/items?limit=5',
        {
          responseBody: answer({ items: [], total: 0 }),
          requestHeaders: [
            { name: 'cookie', value: 'a=[redacted]' },
            { name: 'X-Api-Key', value: '[redacted]' },
          ],
        },
      ],
      [
        '/api/items',
        {
          method: 'POST',
          status: 201,
          requestBody: answer({ name: 'Pin' }),
          responseBody: answer({ id: 2 }),
          startedAt: 0,
          at: 30,
        },
      ],
      [
        '/api/items',
        { method: 'POST', status: 422, requestBody: answer({}), responseBody: answer({ error: 'x' }), startedAt: 0, at: 10 },
      ],
      ['/api/items', { method: 'POST', status: 0, failure: 'net::ERR_FAILED' }],
    )
    expect(endpoints.list()).toEqual([
      {
        origin,
        path: '/api/items',
        calls: 5,
        firstSeq: 1,
        methods: [
          {
            method: 'GET',
            calls: 2,
            firstSeq: 1,
            query: '{ limit: integer, q?: string }',
            answers: [
              { status: 200, calls: 2, contentTypes: ['application/json'], body: '{ items: { id: integer }[], total: integer }' },
            ],
            auth: ['bearer', 'cookie + header x-api-key'],
            latency: { p50: 40, p95: 40, max: 40 },
          },
          {
            method: 'POST',
            calls: 3,
            firstSeq: 3,
            requestTypes: ['application/json'],
            requestBody: '{ name?: string }',
            answers: [
              { status: 201, calls: 1, contentTypes: ['application/json'], body: '{ id: integer }' },
              { status: 422, calls: 1, contentTypes: ['application/json'], body: '{ error: string }' },
            ],
            failed: 1,
            auth: ['none'],
            latency: { p50: 10, p95: 30, max: 30 },
          },
        ],
      },
    ])
  })

  test('only script requests and JSON responses count', () => {
    const endpoints = seen(
      ['/a', { type: 'image' }],
      ['/b', { type: 'document', responseBody: { mimeType: 'text/html', bytes: 1, text: '<' } }],
      ['/c', { type: 'xhr' }],
      ['/d', { type: 'document', responseBody: answer({}) }],
      ['/e', { type: 'other', responseBody: answer({}, { mimeType: 'application/problem+json; charset=utf-8' }) }],
      ['/f', { type: 'manifest', responseBody: answer({}, { mimeType: 'application/manifest+json' }) }],
    )
    endpoints.observe({ ...new RecordSequence().request(origin), url: 'http://[broken' })
    endpoints.observe({ ...new RecordSequence().request(origin), url: 'data:text/plain,x' })
    expect(paths(endpoints)).toEqual(['/c', '/d', '/e'])
  })

  test('a truncated body is ignored and counted', () => {
    const endpoints = seen(
      ['/a', { responseBody: answer({ id: 1 }) }],
      ['/a', { responseBody: { mimeType: 'application/json', bytes: 99_999, text: '{"id": 1, "na', cut: true } }],
      ['/a', { responseBody: { mimeType: 'application/json', bytes: 99_999_999, omitted: 'larger than 2 MB' } }],
      ['/a', { responseBody: { mimeType: 'application/json', bytes: 9, text: '{broken' } }],
    )
    expect(endpoints.list()[0]?.methods[0]).toMatchObject({
      calls: 4,
      cutBodies: 2,
      answers: [{ status: 200, calls: 4, body: '{ id: integer }' }],
    })
  })

  test('form bodies are parsed too', () => {
    const endpoints = seen([
      '/a',
      { method: 'POST', requestBody: { mimeType: 'application/x-www-form-urlencoded', bytes: 1, text: 'n=1&tag=a&tag=b' } },
    ])
    expect(endpoints.list()[0]?.methods[0]?.requestBody).toBe('{ n: integer, tag: string[] }')
  })

  test('no sent or received value is kept', () => {
    const secret = 'hush-hush'
    const endpoints = seen([
      `/a?q=${secret}`,
      {
        method: 'POST',
        requestBody: answer({ text: secret }),
        responseBody: answer([{ deep: { text: secret } }]),
        requestHeaders: [{ name: 'authorization', value: `Bearer ${secret}` }],
      },
    ])
    expect(JSON.stringify([endpoints.list(), endpoints.openapi()])).not.toContain(secret)
  })

  test('siblings with the same response shape become one parameter', () => {
    const names = ['ann', 'bob', 'cid', 'dee', 'eve', 'fay', 'gil', 'hal', 'ida']
    const user = (name: string) => [`/users/${name}`, { responseBody: answer({ name, mail: null, age: 3, city: 'x' }) }] as const
    expect(paths(seen(...names.slice(0, 7).map(user)))).toHaveLength(7)
    const endpoints = seen(
      ['/users/ann/posts'],
      ...names.map(user),
      ['/users/ida/posts'],
      ['/users/search', { responseBody: answer({ found: [] }) }],
    )
    expect(paths(endpoints)).toEqual(['/users/ida/posts', '/users/search', '/users/{id}', '/users/{id}/posts'])
    expect(endpoints.list().find(({ path }) => path === '/users/{id}')?.calls).toBe(9)
  })

  test('siblings with different response shapes stay separate, up to a limit', () => {
    const method = (i: number) => [`/rpc/method${String.fromCharCode(97 + Math.floor(i / 26), 97 + (i % 26))}`] as const
    expect(paths(seen(...Array.from({ length: 100 }, (_, i) => method(i))))).toHaveLength(100)
    expect(paths(seen(...Array.from({ length: 150 }, (_, i) => method(i))))).toEqual(['/rpc/{id}'])
  })

  test('beyond the limit, the endpoints that were seen longest ago are evicted and counted', () => {
    const sequence = new RecordSequence()
    const endpoints = new Endpoints()
    for (let i = 0; i < maxEndpoints + 25; i++) endpoints.observe(sequence.request(`https://host${i}.example/a`))
    endpoints.observe(sequence.request('https://host26.example/a'))
    expect([endpoints.size, endpoints.evicted]).toEqual([maxEndpoints, 25])
    expect(endpoints.list().map(({ origin: each }) => each)).not.toContain('https://host24.example')
    endpoints.clear()
    expect([endpoints.size, endpoints.evicted, endpoints.list()]).toEqual([0, 0, []])
  })

  test('a page that never requests the same URL twice does not fill the memory', () => {
    const sequence = new RecordSequence()
    const endpoints = new Endpoints()
    const word = (n: number): string => Array.from(String(n), (digit) => String.fromCharCode(97 + Number(digit))).join('')
    for (let i = 0; i < 3_000; i++) {
      const body = Object.fromEntries(Array.from({ length: 40 }, (_, j) => [word(i * 40 + j), { [word(i)]: { [word(j)]: i } }]))
      endpoints.observe(
        sequence.request(`${origin}/${word(i % 90)}/${word(i % 7)}`, {
          status: 200 + (i % 50),
          method: i % 2 ? 'GET' : word(i),
          responseBody: answer(body),
        }),
      )
    }
    expect(JSON.stringify(endpoints.openapi()).length).toBeLessThan(10_000_000)
    expect(endpoints.size).toBeLessThanOrEqual(maxEndpoints)
  })

  test('the result does not depend on the order of the requests', () => {
    const request = fc.record({
      path: fc.constantFrom('/a', '/a/1', '/a/2', '/b?x=1', '/b?x=y&z=1', '/b'),
      method: fc.constantFrom('GET', 'POST'),
      body: fc.constantFrom<unknown>(undefined, { id: 1 }, { id: null, n: 'x' }, [1], [], {}, 'text'),
      status: fc.constantFrom(200, 404, 0),
    })
    const known = (requests: readonly Asked[]) => {
      const endpoints = seen(
        ...requests.map(
          ({ path, method, body, status }) =>
            [path, { method, status, seq: 1, ...(body !== undefined && { responseBody: answer(body) }) }] as const,
        ),
      )
      return endpoints
        .list()
        .map((each) => ({ ...each, methods: each.methods.toSorted((a, b) => (a.method < b.method ? -1 : 1)) }))
    }
    fc.assert(
      fc.property(fc.array(request, { maxLength: 12 }), (requests) => {
        expect(known(requests.toReversed())).toEqual(known(requests))
      }),
    )
  })

  test('hostile URLs, names and bodies are accepted', () => {
    fc.assert(
      fc.property(fc.webPath(), fc.webQueryParameters(), fc.string(), fc.json(), (path, query, method, text) => {
        const endpoints = seen([
          `${path}?${query}&__proto__=1`,
          {
            method,
            responseBody: { mimeType: 'application/json', bytes: 1, text },
            requestBody: { mimeType: 'text/plain', bytes: 1, text: method },
          },
        ])
        expect(() => JSON.stringify([endpoints.list(), endpoints.openapi()])).not.toThrow()
        expect(endpoints.size).toBe(1)
      }),
    )
  })
})

describe('the OpenAPI document', () => {
  test('describes the origin with the most calls, with parameters, bodies and authorization', () => {
    const endpoints = seen(
      [
        '/items/1?deep=true',
        {
          responseBody: answer({ id: 1, at: '2026-01-02T10:00:00Z' }),
          requestHeaders: [{ name: 'authorization', value: 'Bearer x' }],
        },
      ],
      ['/items', { method: 'POST', status: 201, requestBody: answer({ name: 'x' }) }],
    )
    endpoints.observe(new RecordSequence().request('https://other.example/x'))
    expect(endpoints.openapi()).toEqual({
      openapi: '3.1.0',
      info: { title: `API of ${origin}`, version: '0.0.0', description: expect.any(String) },
      servers: [{ url: origin }],
      paths: {
        '/items': {
          post: {
            requestBody: {
              content: {
                'application/json': { schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
              },
            },
            responses: { 201: { description: 'Seen once.' } },
            'x-calls': 1,
          },
        },
        '/items/{id}': {
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          get: {
            parameters: [{ name: 'deep', in: 'query', required: true, schema: { type: 'boolean' } }],
            responses: {
              200: {
                description: 'Seen once.',
                content: {
                  'application/json': {
                    schema: {
                      type: 'object',
                      properties: { at: { type: 'string', format: 'date-time' }, id: { type: 'integer' } },
                      required: ['at', 'id'],
                    },
                  },
                },
              },
            },
            security: [{ bearer: [] }],
            'x-calls': 1,
          },
        },
      },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
      'x-other-origins': ['https://other.example'],
    })
    expect(endpoints.openapi('https://other.example')).toMatchObject({
      paths: { '/x': {} },
      servers: [{ url: 'https://other.example' }],
    })
    expect(new Endpoints().openapi()).toMatchObject({ paths: {} })
  })
})

describeInChromium('endpoints of a real page', () => {
  test('its API is derived from its traffic', async () => {
    await using site = await startSite()
    await using watch = await watching({ open: `${site.url}/busy` })
    const { endpoints } = watch.recording
    await watch.until('the page has asked for all', () => endpoints.list().some(({ path }) => path === '/api/private'))
    const known = Object.fromEntries(
      endpoints.list().map(({ path, methods }) => [path, Object.fromEntries(methods.map((each) => [each.method, each]))]),
    )
    expect(Object.keys(known)).toEqual(['/api/fail', '/api/items', '/api/items/{id}', '/api/private'])
    expect(known['/api/items']?.GET).toMatchObject({
      query: '{ limit: integer }',
      answers: [
        {
          status: 200,
          body: '{ items: { addedAt: date-time, id: integer, name: string, price: number, tags: string[] }[], total: integer }',
        },
      ],
    })
    expect(known['/api/items/{id}']?.GET?.answers.map(({ status }) => status)).toEqual([200, 404])
    expect(known['/api/private']?.GET?.auth).toEqual([expect.stringContaining('bearer')])
    expect(watch.recording.facts.get('endpoints')).toBe(4)
  })
})
