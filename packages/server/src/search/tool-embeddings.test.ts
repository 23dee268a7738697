import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { type Embeddings, embedded, embeddings, json, type Responder, respondNormally, vectorOf } from '../../test/embeddings.ts'
import { ToolRegistry } from '../registry.ts'
import { replyData, type TestContext, testContext } from '../testing/index.ts'
import type { Report } from '../tool/report.ts'
import { defineToolbox, type Toolbox } from '../toolbox.ts'
import type { ToolboxOptions } from '../toolbox-options.ts'
import { type Embedder, openAiEmbedder } from './index.ts'

const info = { name: 'hub', version: '1.0.0', exposure: 'search' } as const

const descriptions = {
  hire: 'Hire a vehicle for a day',
  settle: 'Pay what a supplier wants: a bill',
  post: 'Write a letter to somebody',
  forecast: 'Whether there will be rain',
  develop: 'Make a picture larger',
  invite: 'Propose an appointment',
  play: 'Play some music',
  bake: 'How to make a dish',
  travel: 'The timetable of a railway',
  interpret: 'Say it in another language',
}

function townTools<T extends Toolbox<never>>(box: T): T {
  for (const [name, description] of Object.entries(descriptions)) box.tool(name, { description }, () => name)
  return box
}

function town({ url }: Pick<Embeddings, 'url'>, options: Partial<ToolboxOptions<never>> = {}) {
  const reports: Report[] = []
  const clock = { ms: 0 }
  const settings = { embedder: openAiEmbedder({ url, model: 'small' }), deadlineMs: 5_000 }
  const box = defineToolbox({
    ...info,
    search: settings,
    report: (report) => reports.push(report),
    now: () => clock.ms,
    ...options,
  })
  return { box: townTools(box), reports, clock }
}

interface Reply {
  readonly names: readonly string[]
  readonly confidence: string
  readonly total: number
  readonly fallback?: string
  readonly text: string
}

async function search(client: TestContext, query: string, more: object = {}): Promise<Reply> {
  const reply = await client.call('search_tools', { query, ...more })
  const { content } = reply
  return {
    ...(replyData(reply) as Omit<Reply, 'text'>),
    text: (content as { text: string }[]).map(({ text }) => text).join('\n'),
  }
}

const timeout = { timeout: 120_000 }

/** Retries until the tools have their vectors. */
const searchWhenReady = (client: TestContext, query: string): Promise<Reply> =>
  vi.waitFor(async () => {
    const reply = await search(client, query)
    expect(reply.fallback).not.toBe('embedder_not_ready')
    return reply
  }, timeout)

async function keywordSearch(query: string): Promise<Reply> {
  await using client = await testContext(townTools(defineToolbox(info)))
  return search(client, query)
}

test('copies of one tool take two of five places, if there are other sources', async () => {
  const isMeant = (text: string): boolean => /umbrella|rain/iu.test(text)
  const embedder: Embedder = {
    embed: async (texts) => texts.map((text) => Float32Array.from(isMeant(text) ? [1, 0.01] : [0.01, 1])),
  }
  const copies = new ToolRegistry({ name: 'copies' })
  for (let number = 0; number < 6; number++)
    copies.register(`umbrella_${number}`, { description: 'Umbrellas for everybody who gets wet' }, () => '')
  const box = townTools(defineToolbox({ ...info, search: { embedder, deadlineMs: 5_000 } })).use(copies)
  await using client = await testContext(box)
  const { names } = await searchWhenReady(client, 'umbrella')
  expect(names.filter((name) => name.startsWith('umbrella_'))).toHaveLength(2)
  expect(names).toContain('forecast')
})

const synonymsOnly = 'wagentje zonneschijn deuntje'

describe('a toolbox with an embedder', () => {
  test('finds tools by similarity where no keyword matches, with weak confidence', async () => {
    await using endpoint = await embeddings()
    await using client = await testContext(town(endpoint).box)
    expect(await keywordSearch('zonneschijn')).toMatchObject({ names: [], confidence: 'none' })
    expect(await searchWhenReady(client, 'zonneschijn')).toMatchObject({ names: ['forecast'], confidence: 'weak' })
  })

  test('falls back to keywords, and says so, until the embeddings are ready', async () => {
    await using endpoint = await embeddings(async (request, response) => {
      if (request.input.length === 1) await respondNormally(request, response)
    })
    await using client = await testContext(town(endpoint).box)
    const reply = await search(client, 'letter')
    expect(reply).toMatchObject({ names: ['post'], fallback: 'embedder_not_ready' })
    expect(reply.text).toContain('Without the embedder: tool embeddings are still being computed.')
  })

  test('finds nothing if neither keywords nor embeddings match', async () => {
    await using endpoint = await embeddings()
    await using client = await testContext(town(endpoint).box)
    await searchWhenReady(client, 'letter')
    expect(await search(client, 'quantum chromodynamics')).toMatchObject({ names: [], confidence: 'none' })
  })

  test('embeds each tool once for all principals, and each query every time', async () => {
    await using endpoint = await embeddings()
    const { box } = town(endpoint)
    await using ada = await testContext(box, { principal: { id: 'ada' } })
    await using bob = await testContext(box, { principal: { id: 'bob' } })
    await searchWhenReady(ada, 'deuntje')
    const before = endpoint.requests.length
    await search(bob, 'deuntje')
    await search(ada, 'deuntje')
    expect(endpoint.requests.slice(before).map(({ input }) => input)).toEqual([['deuntje'], ['deuntje']])
    box.tool('play_again', { description: 'Play more music' }, () => 'again')
    await searchWhenReady(ada, 'deuntje')
    const added = endpoint.requests.slice(before).flatMap(({ input }) => input.filter((text) => text !== 'deuntje'))
    expect(added).toEqual(['play again\nPlay more music\n'])
  })

  test('embeds all other texts when the endpoint rejects one', async () => {
    await using endpoint = await embeddings((request, response) =>
      request.input.some((text) => text.includes('railway'))
        ? json(response, { error: 'too long' }, 400)
        : respondNormally(request, response),
    )
    const { box } = town(endpoint)
    await using client = await testContext(box)
    await vi.waitFor(
      async () => expect((await search(client, synonymsOnly)).names.toSorted()).toEqual(['forecast', 'hire', 'play']),
      { timeout: 120_000 },
    )
    await vi.waitFor(async () => {
      const before = endpoint.requests.length
      expect((await search(client, 'train')).names).toEqual([])
      expect(endpoint.requests.length).toBe(before + 1)
    }, timeout)
  })

  test('sends only the beginning of a long query', async () => {
    await using endpoint = await embeddings()
    await using client = await testContext(town(endpoint).box)
    await search(client, 'car '.repeat(250_000))
    for (const { input } of endpoint.requests) for (const text of input) expect(text.length).toBeLessThanOrEqual(2_000)
  })
})

describe('tools that the query names or matches literally stay on top', () => {
  /** Finds every query most similar to the tool with this word. */
  const biasedTowards = (word: string): Embedder => ({
    embed: async (texts) =>
      texts.map((text, index) => Float32Array.of(text.includes(word) || texts.length === 1 ? 1 : 0, 0.1, index / 1_000)),
  })

  test('whatever the embedder returns', async () => {
    const names = Object.keys(descriptions)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), fc.constantFrom(...Object.values(descriptions)), async (named, description) => {
        const box = townTools(defineToolbox({ ...info, search: { embedder: biasedTowards(description), deadlineMs: 5_000 } }))
        await using client = await testContext(box)
        expect((await searchWhenReady(client, named)).names[0]).toBe(named)
        const other = Object.values(descriptions)[names.indexOf(named)] ?? ''
        expect((await search(client, other)).names[0]).toBe(named)
      }),
      { numRuns: 20 },
    )
  })

  test('and similar tools come after them', async () => {
    await using endpoint = await embeddings()
    await using client = await testContext(town(endpoint).box.tool('find_deuntje', { description: 'Find one' }, () => ''))
    const { names } = await searchWhenReady(client, 'deuntje')
    expect(names).toEqual(['find_deuntje', 'play'])
  })
})

describe('with a broken embedder, search falls back to keywords', () => {
  const failures: { readonly [what: string]: Responder } = {
    fails: (_, response) => json(response, { error: 'out of memory' }, 500),
    'closes the connection': (_, response) => void response.destroy(),
    'returns no JSON': (_, response) => void response.end('OK'),
    'returns no vectors': (_, response) => json(response, { data: [] }),
    'returns values that are not numbers': ({ input }, response) =>
      json(response, { data: input.map(() => ({ embedding: [null] })) }),
  }
  test.each(Object.entries(failures))('one that %s', async (_, respond) => {
    await using endpoint = await embeddings(respond)
    const { box, reports } = town(endpoint)
    await using client = await testContext(box)
    for (const query of ['letter', 'rain', 'zonneschijn']) {
      const { names, confidence } = await keywordSearch(query)
      expect(await search(client, query)).toMatchObject({ names, confidence, fallback: 'embedder_failed' })
    }
    expect(reports).toMatchObject([{ reason: 'search_degraded' }])
    expect(reports[0]?.message).toContain('Search uses its built-in table for now. The embedder at http://127.0.0.1:')
  })

  test('one that throws or returns unexpected values', async () => {
    const broken: Embedder[] = [
      {
        embed() {
          throw undefined
        },
      },
      { embed: async () => undefined as never },
      { embed: async (texts) => texts.map(() => [1, 2]) as never },
      { embed: async (texts) => texts.map(() => new Float32Array(20_000)) },
      { embed: async (texts) => texts.map(() => Float32Array.of(Number.NaN)) },
    ]
    for (const embedder of broken) {
      const reports: Report[] = []
      const box = townTools(defineToolbox({ ...info, search: { embedder }, report: (report) => reports.push(report) }))
      await using client = await testContext(box)
      expect(await search(client, 'letter')).toMatchObject({ names: ['post'], fallback: 'embedder_failed' })
      expect(reports).toHaveLength(1)
    }
  })

  test('one that times out, which is retried after a backoff', async () => {
    await using endpoint = await embeddings(() => undefined)
    const embedder = openAiEmbedder({ url: endpoint.url, model: 'small' })
    // On a busy machine, a request may be cancelled before it arrives.
    const embed = vi.spyOn(embedder, 'embed')
    const { box, reports, clock } = town(endpoint, { search: { embedder, deadlineMs: 40 } })
    await using client = await testContext(box)
    const reply = await search(client, 'letter')
    expect(reply).toMatchObject({ names: ['post'], fallback: 'embedder_timeout' })
    expect(reply.text.split('\n').at(-1)).toBe('Without the embedder: the embedder timed out.')
    const before = embed.mock.calls.length
    expect(await search(client, 'rain')).toMatchObject({ names: ['forecast'], fallback: 'embedder_failed' })
    expect(embed).toHaveBeenCalledTimes(before)
    expect(reports).toHaveLength(1)
    clock.ms += 6_000
    await search(client, 'rain')
    expect(embed.mock.calls.length).toBeGreaterThan(before)
    expect(reports).toHaveLength(1)
  })

  test('one that ignores its signal', async () => {
    const embedder: Embedder = { embed: () => new Promise(() => undefined) }
    await using client = await testContext(
      townTools(defineToolbox({ ...info, search: { embedder, deadlineMs: 20 }, report: () => undefined })),
    )
    expect(await search(client, 'letter')).toMatchObject({ names: ['post'], fallback: 'embedder_timeout' })
  })

  test('one that recovers is used again, and its next failure is reported again', async () => {
    await using endpoint = await embeddings((_, response) => json(response, {}, 503))
    const { box, reports, clock } = town(endpoint)
    await using client = await testContext(box)
    await search(client, 'zonneschijn')
    endpoint.respond = respondNormally
    clock.ms += 6_000
    expect(await searchWhenReady(client, 'zonneschijn')).toMatchObject({ names: ['forecast'] })
    endpoint.respond = (_, response) => json(response, {}, 503)
    expect(await search(client, 'zonneschijn')).toMatchObject({ names: [], fallback: 'embedder_failed' })
    expect(reports).toHaveLength(2)
  })

  test('one whose vectors change their length: they are recomputed', async () => {
    await using endpoint = await embeddings()
    const { box, reports, clock } = town(endpoint)
    await using client = await testContext(box)
    await searchWhenReady(client, 'zonneschijn')
    endpoint.respond = ({ input }, response) =>
      json(response, { data: input.map((text, index) => ({ ...embedded(text, index), embedding: [...vectorOf(text), 0] })) })
    expect(await search(client, 'zonneschijn')).toMatchObject({ names: [], fallback: 'embedder_failed' })
    expect(reports[0]?.message).toContain('vectors of 11 dimensions for tools and of 12 for a query')
    clock.ms += 6_000
    expect(await searchWhenReady(client, 'zonneschijn')).toMatchObject({ names: ['forecast'] })
  })
})

describe('tools that are not permitted leave no trace', () => {
  const secret = { description: 'Music of the secret band' }
  const permit: ToolboxOptions<never>['permit'] = (principal, tool) => tool.name !== 'secret' || principal?.id === 'ada'
  const queries = ['deuntje', 'music', 'secret', 'secret band', synonymsOnly, 'zonneschijn', 'Hire a vehicle']

  test('in results, counts, confidence or messages', async () => {
    await using endpoint = await embeddings()
    const withSecret = town(endpoint, { permit }).box.tool('secret', secret, () => '')
    const without = town(endpoint).box
    await using ada = await testContext(withSecret, { principal: { id: 'ada' } })
    await using bob = await testContext(withSecret, { principal: { id: 'bob' } })
    await using anonymous = await testContext(without)
    expect((await searchWhenReady(ada, 'deuntje')).names).toContain('secret')
    await searchWhenReady(anonymous, 'deuntje')
    for (const query of queries) expect(await search(bob, query)).toEqual(await search(anonymous, query))
  })

  test('in requests to the embedder', async () => {
    await using endpoint = await embeddings()
    await using bob = await testContext(
      town(endpoint, { permit }).box.tool('secret', secret, () => ''),
      { principal: { id: 'bob' } },
    )
    await searchWhenReady(bob, 'deuntje')
    expect(endpoint.requests.flatMap(({ input }) => input).filter((text) => text.includes('secret'))).toEqual([])
  })
})

test('an invalid deadline throws at once', () => {
  for (const deadlineMs of [0, -1, Number.NaN, 1.5]) {
    expect(() => defineToolbox({ ...info, search: { deadlineMs } })).toThrow(/search.deadlineMs must be a whole number above 0/)
  }
})
