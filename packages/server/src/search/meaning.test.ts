import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { asUsual, type Embeddings, embedded, embeddings, json, type Manner, vectorOf } from '../../test/embeddings.ts'
import { replyData, type TestContext, testContext } from '../testing/index.ts'
import type { Report } from '../tool/report.ts'
import { defineToolbox, type Toolbox, type ToolboxOptions } from '../toolbox.ts'
import { type Embedder, openAiEmbedder } from './index.ts'

const info = { name: 'hub', version: '1.0.0', exposure: 'search' } as const

const abouts = {
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
  for (const [name, about] of Object.entries(abouts)) box.tool(name, { about }, () => name)
  return box
}

/** A toolbox with this endpoint, the problems it reports, and a clock that stands until it is moved. */
function town({ url }: Pick<Embeddings, 'url'>, options: Partial<ToolboxOptions<never>> = {}, deadlineMs = 5_000) {
  const reports: Report[] = []
  const clock = { ms: 0 }
  const settings = { embedder: openAiEmbedder({ url, model: 'small' }), deadlineMs }
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

/** The same once the tools have their vectors. */
const searchWhenReady = (client: TestContext, query: string): Promise<Reply> =>
  vi.waitFor(async () => {
    const reply = await search(client, query)
    expect(reply.fallback).not.toBe('embedder_not_ready')
    return reply
  })

/** What words alone would have found. */
async function byWords(query: string): Promise<Reply> {
  await using client = await testContext(townTools(defineToolbox(info)))
  return search(client, query)
}

const hopeless = 'automobile sunshine tune'

describe('a toolbox with an embedder', () => {
  test('finds by meaning what no word would find, and does not claim to be sure', async () => {
    await using endpoint = await embeddings()
    await using client = await testContext(town(endpoint).box)
    expect(await byWords('sunshine')).toMatchObject({ names: [], confidence: 'none' })
    expect(await searchWhenReady(client, 'sunshine')).toMatchObject({ names: ['forecast'], confidence: 'weak' })
  })

  test('answers by words, and says so, until the meaning of the tools was read', async () => {
    await using endpoint = await embeddings(async (asked, response) => {
      if (asked.input.length === 1) await asUsual(asked, response)
    })
    await using client = await testContext(town(endpoint).box)
    const reply = await search(client, 'letter')
    expect(reply).toMatchObject({ names: ['post'], fallback: 'embedder_not_ready' })
    expect(reply.text).toContain('Found by words alone: the meaning of the tools is still being read.')
  })

  test('says that there is nothing where neither word nor meaning fits', async () => {
    await using endpoint = await embeddings()
    await using client = await testContext(town(endpoint).box)
    await searchWhenReady(client, 'letter')
    expect(await search(client, 'quantum chromodynamics')).toMatchObject({ names: [], confidence: 'none' })
  })

  test('reads each text once, for all principals, and never the same query for two of them from memory', async () => {
    await using endpoint = await embeddings()
    const { box } = town(endpoint)
    await using ada = await testContext(box, { principal: { id: 'ada' } })
    await using bob = await testContext(box, { principal: { id: 'bob' } })
    await searchWhenReady(ada, 'tune')
    const before = endpoint.asked.length
    await search(bob, 'tune')
    await search(ada, 'tune')
    expect(endpoint.asked.slice(before).map(({ input }) => input)).toEqual([['tune'], ['tune']])
    box.tool('play_again', { about: 'Play more music' }, () => 'again')
    await searchWhenReady(ada, 'tune')
    const added = endpoint.asked.slice(before).flatMap(({ input }) => input.filter((text) => text !== 'tune'))
    expect(added).toEqual(['play again\nPlay more music\n'])
  })

  test('does without the vector of a text that the endpoint refuses, and has those of all others', async () => {
    await using endpoint = await embeddings((asked, response) =>
      asked.input.some((text) => text.includes('railway'))
        ? json(response, { error: 'too long' }, 400)
        : asUsual(asked, response),
    )
    const { box } = town(endpoint)
    await using client = await testContext(box)
    await vi.waitFor(async () => expect((await search(client, hopeless)).names.toSorted()).toEqual(['forecast', 'hire', 'play']))
    await vi.waitFor(async () => {
      const before = endpoint.asked.length
      expect((await search(client, 'train')).names).toEqual([])
      expect(endpoint.asked.length).toBe(before + 1)
    })
  })

  test('of a query of any length only the beginning is sent', async () => {
    await using endpoint = await embeddings()
    await using client = await testContext(town(endpoint).box)
    await search(client, 'car '.repeat(250_000))
    for (const { input } of endpoint.asked) for (const text of input) expect(text.length).toBeLessThanOrEqual(2_000)
  })
})

describe('tools that the query names or fits literally stay on top', () => {
  /** An embedder for which every query means one and the same tool. */
  const obsessedWith = (word: string): Embedder => ({
    embed: async (texts) =>
      texts.map((text, index) => Float32Array.of(text.includes(word) || texts.length === 1 ? 1 : 0, 0.1, index / 1_000)),
  })

  test('whatever the embedder holds of the others', async () => {
    const names = Object.keys(abouts)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), fc.constantFrom(...Object.values(abouts)), async (named, about) => {
        const box = townTools(defineToolbox({ ...info, search: { embedder: obsessedWith(about), deadlineMs: 5_000 } }))
        await using client = await testContext(box)
        expect((await searchWhenReady(client, named)).names[0]).toBe(named)
        const other = Object.values(abouts)[names.indexOf(named)] ?? ''
        expect((await search(client, other)).names[0]).toBe(named)
      }),
      { numRuns: 20 },
    )
  })

  test('and what means the same comes after', async () => {
    await using endpoint = await embeddings()
    await using client = await testContext(town(endpoint).box.tool('find_tune', { about: 'Find one' }, () => ''))
    const { names } = await searchWhenReady(client, 'tune')
    expect(names).toEqual(['find_tune', 'play'])
  })
})

describe('an embedder that does not work costs an answer nothing but meaning', () => {
  const wrong: { readonly [what: string]: Manner } = {
    fails: (_, response) => json(response, { error: 'out of memory' }, 500),
    'hangs up': (_, response) => void response.destroy(),
    'talks nonsense': (_, response) => void response.end('OK'),
    'gives no vectors': (_, response) => json(response, { data: [] }),
    'gives numbers that are none': ({ input }, response) => json(response, { data: input.map(() => ({ embedding: [null] })) }),
  }
  test.each(Object.entries(wrong))('one that %s', async (_, manner) => {
    await using endpoint = await embeddings(manner)
    const { box, reports } = town(endpoint)
    await using client = await testContext(box)
    for (const query of ['letter', 'rain', 'sunshine']) {
      const { names, confidence } = await byWords(query)
      expect(await search(client, query)).toMatchObject({ names, confidence, fallback: 'embedder_failed' })
    }
    expect(reports).toMatchObject([{ reason: 'search_degraded' }])
    expect(reports[0]?.message).toContain('Search goes by words alone for now. The embedder at http://127.0.0.1:')
  })

  test('one that throws something odd, or gives something odd', async () => {
    const odd: Embedder[] = [
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
    for (const embedder of odd) {
      const reports: Report[] = []
      const box = townTools(defineToolbox({ ...info, search: { embedder }, report: (report) => reports.push(report) }))
      await using client = await testContext(box)
      expect(await search(client, 'letter')).toMatchObject({ names: ['post'], fallback: 'embedder_failed' })
      expect(reports).toHaveLength(1)
    }
  })

  test('one that is slow, which is waited for once, and asked again after a rest', async () => {
    await using endpoint = await embeddings(() => undefined)
    const { box, reports, clock } = town(endpoint, {}, 40)
    await using client = await testContext(box)
    const reply = await search(client, 'letter')
    expect(reply).toMatchObject({ names: ['post'], fallback: 'embedder_late' })
    expect(reply.text.split('\n').at(-1)).toBe('Found by words alone: reading the meaning took too long.')
    const before = endpoint.asked.length
    expect(await search(client, 'rain')).toMatchObject({ names: ['forecast'], fallback: 'embedder_failed' })
    expect(endpoint.asked.length).toBe(before)
    expect(reports).toHaveLength(1)
    clock.ms += 6_000
    await search(client, 'rain')
    expect(endpoint.asked.length).toBeGreaterThan(before)
    expect(reports).toHaveLength(1)
  })

  test('one that ignores its signal, within the deadline all the same', async () => {
    const embedder: Embedder = { embed: () => new Promise(() => undefined) }
    await using client = await testContext(
      townTools(defineToolbox({ ...info, search: { embedder, deadlineMs: 20 }, report: () => undefined })),
    )
    expect(await search(client, 'letter')).toMatchObject({ names: ['post'], fallback: 'embedder_late' })
  })

  test('once it works again it is used again, and its next failure is reported again', async () => {
    await using endpoint = await embeddings((_, response) => json(response, {}, 503))
    const { box, reports, clock } = town(endpoint)
    await using client = await testContext(box)
    await search(client, 'sunshine')
    endpoint.manner = asUsual
    clock.ms += 6_000
    expect(await searchWhenReady(client, 'sunshine')).toMatchObject({ names: ['forecast'] })
    endpoint.manner = (_, response) => json(response, {}, 503)
    expect(await search(client, 'sunshine')).toMatchObject({ names: [], fallback: 'embedder_failed' })
    expect(reports).toHaveLength(2)
  })

  test('one whose vectors change their length: they are made again', async () => {
    await using endpoint = await embeddings()
    const { box, reports, clock } = town(endpoint)
    await using client = await testContext(box)
    await searchWhenReady(client, 'sunshine')
    endpoint.manner = ({ input }, response) =>
      json(response, { data: input.map((text, index) => ({ ...embedded(text, index), embedding: [...vectorOf(text), 0] })) })
    expect(await search(client, 'sunshine')).toMatchObject({ names: [], fallback: 'embedder_failed' })
    expect(reports[0]?.message).toContain('vectors of 11 dimensions for tools and of 12 for a query')
    clock.ms += 6_000
    expect(await searchWhenReady(client, 'sunshine')).toMatchObject({ names: ['forecast'] })
  })
})

describe('tools that somebody may not know of leave no trace', () => {
  const secret = { about: 'Music of the secret band' }
  const permit: ToolboxOptions<never>['permit'] = (principal, tool) => tool.name !== 'secret' || principal?.id === 'ada'
  const queries = ['tune', 'music', 'secret', 'secret band', hopeless, 'sunshine', 'Hire a vehicle']

  test('in what is found, in counts, in confidence, nor in what is said', async () => {
    await using endpoint = await embeddings()
    const withSecret = town(endpoint, { permit }).box.tool('secret', secret, () => '')
    const without = town(endpoint).box
    await using ada = await testContext(withSecret, { principal: { id: 'ada' } })
    await using bob = await testContext(withSecret, { principal: { id: 'bob' } })
    await using stranger = await testContext(without)
    expect((await searchWhenReady(ada, 'tune')).names).toContain('secret')
    await searchWhenReady(stranger, 'tune')
    for (const query of queries) expect(await search(bob, query)).toEqual(await search(stranger, query))
  })

  test('nor in what is sent for them', async () => {
    await using endpoint = await embeddings()
    await using bob = await testContext(
      town(endpoint, { permit }).box.tool('secret', secret, () => ''),
      { principal: { id: 'bob' } },
    )
    await searchWhenReady(bob, 'tune')
    expect(endpoint.asked.flatMap(({ input }) => input).filter((text) => text.includes('secret'))).toEqual([])
  })
})

test('a deadline that is none is refused at once', () => {
  for (const deadlineMs of [0, -1, Number.NaN, 1.5]) {
    expect(() => defineToolbox({ ...info, search: { deadlineMs } })).toThrow(/search.deadlineMs must be a whole number above 0/)
  }
})
