import { describe, expect, test } from 'vitest'
import { SimulatedClock } from '../../test/simulated-clock.ts'
import { sanitizePrompt, sanitizeResource, sanitizeTemplate } from './document-definitions.ts'
import { listAll } from './paginated-list.ts'
import type { ProxiedRequest } from './proxied-request.ts'
import { RequestStateCipher } from './request-state-cipher.ts'
import { SuspendedRequests } from './suspended-request.ts'
import { matchesTemplate, mayOverlap, parsePrefixedUri, parseTemplate, prefixedUri } from './uris.ts'

describe('the URI of a resource', () => {
  test('with a prefix can be parsed again', () => {
    for (const uri of ['memo://a', 'file:///x/y?z#1', '/', '', 'unfold://two/memo://a', 'memo://{id}'])
      expect(parsePrefixedUri(prefixedUri('my-server_1', uri))).toEqual({ slug: 'my-server_1', uri })
    for (const other of ['memo://a', 'unfold:two', 'unfold://two']) expect(parsePrefixedUri(other)).toBeUndefined()
  })

  test('matches a template if its literal parts occur in order', () => {
    const yes = [
      ['memo://{id}', 'memo://1'],
      ['memo://{a}/x/{b}', 'memo://1/x/2'],
      ['{+path}', 'anything'],
      ['memo://{a}{b}', 'memo://'],
      ['memo://a', 'memo://a'],
    ] as const
    const no = [
      ['memo://{id}', 'file://1'],
      ['memo://{a}/x/{b}', 'memo://1/2'],
      ['memo://{a}ab', 'memo://a'],
      ['memo://{a', 'memo://1'],
      ['memo://a', 'memo://ab'],
    ] as const
    for (const [template, uri] of yes) expect(matchesTemplate(parseTemplate(template), uri), `${template} ${uri}`).toBe(true)
    for (const [template, uri] of no) expect(matchesTemplate(parseTemplate(template), uri), `${template} ${uri}`).toBe(false)
  })

  test('may match two templates whose prefixes and suffixes agree', () => {
    const overlaps = (one: string, other: string): boolean => {
      const [a, b] = [parseTemplate(one), parseTemplate(other)]
      expect(mayOverlap(b, a)).toBe(mayOverlap(a, b))
      return mayOverlap(a, b)
    }
    expect(overlaps('file:///{+path}', 'file:///home/{+path}')).toBe(true)
    expect(overlaps('{+all}', 'memo://{id}')).toBe(true)
    expect(overlaps('memo://{id}', 'memo://1')).toBe(true)
    expect(overlaps('memo://{id}', 'note://{id}')).toBe(false)
    expect(overlaps('file:///{name}.txt', 'file:///{name}.md')).toBe(false)
    expect(overlaps('memo://1', 'memo://2')).toBe(false)
  })
})

describe('a list from a server', () => {
  test('is read page by page until it ends, repeats a cursor, or reaches the limit', async () => {
    const asked: unknown[] = []
    const pages: Record<string, object> = {
      first: { prompts: [{ name: 'a' }, { name: '' }, 7, { name: 'b' }], nextCursor: '2' },
      2: { prompts: [{ name: 'c' }], nextCursor: '3' },
      3: { prompts: [{ name: 'd' }], nextCursor: '2' },
    }
    const ask = async (_method: string, { cursor = 'first' }: { readonly cursor?: string }) => {
      asked.push(cursor)
      return pages[cursor]
    }
    const how = { method: 'prompts/list', member: 'prompts', parse: sanitizePrompt }
    const all = await listAll(ask, { ...how, limit: 100 })
    expect(all.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd'])
    expect(asked).toEqual(['first', '2', '3'])
    expect(await listAll(ask, { ...how, limit: 1 })).toEqual([{ name: 'a' }])
    for (const odd of [undefined, null, 'no', { prompts: 'many' }, { prompts: {} }])
      expect(await listAll(async () => odd, { ...how, limit: 100 })).toEqual([])
  })

  test('is accepted with known fields, within limits and without hidden characters', () => {
    const hidden = 'say\u{200B}\u{E0041} it'
    expect(sanitizePrompt({ name: 'p', description: hidden, icons: [{ src: 'javascript:1' }], more: 1 })).toEqual({
      name: 'p',
      description: 'say it',
    })
    expect(sanitizePrompt({ name: 'p', arguments: [{ name: 'a', required: true, description: hidden }, 3, {}] })).toEqual({
      name: 'p',
      arguments: [{ name: 'a', required: true, description: 'say it' }],
    })
    expect(sanitizeResource({ uri: 'memo://a', name: 'a', size: 'big', mimeType: 'text/plain' })).toEqual({
      uri: 'memo://a',
      name: 'a',
      mimeType: 'text/plain',
    })
    expect(sanitizeTemplate({ uriTemplate: 'memo://{id}', name: 'a' })).toEqual({ uriTemplate: 'memo://{id}', name: 'a' })
    expect(sanitizeResource({ uri: 'memo://a' })).toBeUndefined()
    expect(sanitizePrompt({ name: 'x'.repeat(2_000) })).toBeUndefined()
    expect(sanitizePrompt({ name: 'p', description: 'x'.repeat(70_000) })).toBeUndefined()
  })
})

test('encrypted state can only be decrypted unmodified, for the same client and request', () => {
  const seal = new RequestStateCipher()
  const closed = seal.encrypt('state ✓', 'ada')
  expect(seal.decrypt(closed, 'ada')).toBe('state ✓')
  expect(closed).not.toContain('state')
  expect(seal.decrypt(closed, 'bob')).toBeUndefined()
  expect(new RequestStateCipher().decrypt(closed, 'ada')).toBeUndefined()
  expect(seal.decrypt(`${closed.slice(0, -2)}AA`, 'ada')).toBeUndefined()
  for (const odd of ['', 'sealed.', 'sealed.AAAA', 'state ✓']) expect(seal.decrypt(odd, 'ada')).toBeUndefined()
})

describe('a request that waits for its client', () => {
  const asked = (id: string): ProxiedRequest => ({
    server: 'old',
    what: 'tools/call ask',
    client: { id },
    era: 'stateless',
    port: undefined,
    envelope: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } },
    inputResponses: undefined,
    requestState: undefined,
    capabilities: undefined,
    signal: new AbortController().signal,
    progress: async () => undefined,
  })
  const requestedSchema = { type: 'object' as const, properties: {} }
  const question = { method: 'elicitation/create', params: { mode: 'form', message: 'Who?', requestedSchema } } as const

  test('ends if the client does not return', async () => {
    const clock = new SimulatedClock()
    const held = new SuspendedRequests(clock)
    let ended: unknown
    const answer = await held.begin(asked('ada'), async (relay, { signal }) => {
      signal.addEventListener('abort', () => {
        ended = signal.reason
      })
      return relay.onRequest(question, signal)
    })
    expect(answer).toMatchObject({ resultType: 'input_required' })
    await clock.run(299_999)
    expect(ended).toBeUndefined()
    await clock.run(300_000)
    expect(String(ended)).toContain('did not answer in time')
  })

  test('is limited in number, in total and per client', async () => {
    const held = new SuspendedRequests(new SimulatedClock())
    const begin = (id: string) =>
      held.begin(asked(id), (relay, { signal }) =>
        relay.onRequest(question, signal).catch((error: Error) => ({ message: error.message })),
      )
    const answers = await Promise.all(Array.from({ length: 33 }, () => begin('ada')))
    expect(answers.filter((each) => 'message' in each)).toEqual([{ message: expect.stringContaining('Too many') }])
    expect(await begin('bob')).toMatchObject({ resultType: 'input_required' })
    held.close()
  })
})
