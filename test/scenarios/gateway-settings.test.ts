import { expect } from 'vitest'
import { until } from '../../packages/client/test/processes.ts'
import { createToken } from '../../packages/gateway/src/config/tokens.ts'
import { plain } from '../../packages/gateway/test/composition.ts'
import { gatewayFolder } from '../../packages/gateway/test/gateway-file.ts'
import { served } from '../../packages/gateway/test/served.ts'
import { type Embeddings, embeddings, json } from '../../packages/server/test/embeddings.ts'
import { textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const descriptions = {
  hire: 'Hire a vehicle for a day',
  settle: 'Pay what a supplier wants: a bill',
  post: 'Write a letter to somebody',
  forecast: 'Whether there will be rain',
  develop: 'Make a picture larger',
  invite: 'Propose an appointment',
  play: 'Play some music',
  bake: 'How to make a dish',
}

const town = plain({ tools: Object.entries(descriptions).map(([name, description]) => ({ name, description })) })
const mcpServers = { town, shop: plain({ tools: ['buy', 'sell'] }) }
const [ann, bob] = [createToken('ann'), createToken('bob', 'other')]
const tokens = [ann.record, bob.record]
const reference = (name: string): string => `$\{${name}}`

type Client = Awaited<ReturnType<Awaited<ReturnType<typeof served>>['connect']>>

/** Returns the names that a search finds, best first. */
async function found(client: Client, query: string): Promise<readonly string[]> {
  const text = textOf(await client.call('search_tools', { query }))
  return [...text.matchAll(/^- ([\w-]+)\(/gmu)].map(([, name = '']) => name)
}

/** Waits until a search finds a tool by meaning, without common words. */
const findsByMeaning = (client: Client, name: string): Promise<void> =>
  until(async () => (await found(client, 'wagentje huren'))[0] === name, 'the tool is found by meaning')

const embedderOf = ({ url }: Embeddings): object => ({ url, model: 'small', apiKey: reference('EMBED_KEY') })
const environment = { EMBED_KEY: 'canary-embedder-4d1c' }

verifies('K01', async ({ testTransport: { era } }) => {
  await using endpoint = await embeddings()
  await using edge = await served(
    {
      mcpServers,
      tokens,
      exposure: 'search',
      search: { embedder: embedderOf(endpoint), deadlineMs: 10_000 },
      profiles: { other: { search: {} } },
    },
    { environment },
  )
  await edge.ready('town')
  await using byWords = await edge.connect('', { era, token: bob.token })
  expect(await found(byWords, 'wagentje huren')).toEqual([])
  expect(endpoint.requests).toEqual([])
  await using first = await edge.connect('', { era, token: ann.token })
  await findsByMeaning(first, 'town__hire')
  await using alone = await edge.connect('/s/town', { era, token: ann.token })
  await findsByMeaning(alone, 'hire')
  expect(endpoint.requests[0]).toMatchObject({ authorization: 'Bearer canary-embedder-4d1c', model: 'small' })
  expect(await found(byWords, 'wagentje huren')).toEqual([])
})

verifies('K02', async ({ testTransport: { era } }) => {
  const report = { description: 'Send the monthly report to the accounting department' }
  const names = ['report_a', 'report_b', 'report_c']
  const office = plain({ tools: [...names.map((name) => ({ name, ...report })), 'brew_coffee', 'water_plants'] })
  const profiles = { other: { search: { learn: false } } }
  await using edge = await served({ mcpServers: { office }, tokens, exposure: 'search', search: { learn: true }, profiles })
  await edge.ready('office')
  const usual = names.map((name) => `office__${name}`)
  for (const [token, after] of [
    [ann.token, ['office__report_c', 'office__report_a', 'office__report_b']],
    [bob.token, usual],
  ] as const) {
    await using client = await edge.connect('', { era, token })
    expect((await found(client, 'send monthly report')).slice(0, 3)).toEqual(usual)
    await client.call('call_tool', { name: 'office__report_c' })
    expect((await found(client, 'send monthly report')).slice(0, 3)).toEqual(after)
  }
})

verifies('K03', async ({ testTransport: { era } }) => {
  await using folder = await gatewayFolder()
  const config = {
    mcpServers: { town },
    tokens,
    exposure: 'groups',
    store: { kind: 'sqlite' },
    remember: 'reconnect',
    profiles: { other: { remember: 'session' } },
  }
  /** Connects, returns whether the tools are already active, and activates them. */
  const isOpen = async (edge: Awaited<ReturnType<typeof served>>, token: string): Promise<boolean> => {
    await using client = await edge.connect('', { era, token })
    const names = await client.toolNames()
    await client.call('activate_town')
    return names.includes('town__hire')
  }
  for (const isFirst of [true, false]) {
    await using edge = await served(config, { folder: folder.path })
    await edge.ready('town')
    expect([await isOpen(edge, ann.token), await isOpen(edge, bob.token)]).toEqual([!isFirst, false])
    expect([await isOpen(edge, ann.token), await isOpen(edge, bob.token)]).toEqual([true, false])
  }
})

verifies('K04', async ({ testTransport: { era } }) => {
  const profiles = { other: { exposure: 'groups', remember: 'principal' } }
  await using edge = await served({ mcpServers, tokens, exposure: 'groups', profiles })
  await edge.ready('town')
  await using one = await edge.connect('', { era, token: bob.token })
  expect(await one.toolNames()).not.toContain('town__hire')
  await one.call('activate_town')
  for (const each of ['session', 'stateless'] as const) {
    await using same = await edge.connect('', { era: each, token: bob.token })
    expect(await same.toolNames()).toContain('town__hire')
  }
  await using stranger = await edge.connect('', { era: 'session', token: ann.token })
  expect(await stranger.toolNames()).not.toContain('town__hire')
})

verifies('K05', async ({ testTransport: { era } }) => {
  await using endpoint = await embeddings()
  const config = { mcpServers, tokens: [ann.record], exposure: 'search' }
  await using edge = await served(config, { environment })
  await edge.ready('town')
  await using client = await edge.connect('', { era, token: ann.token })
  expect(await found(client, 'wagentje huren')).toEqual([])
  const search = { embedder: embedderOf(endpoint), deadlineMs: 10_000 }
  await edge.write({ ...config, search, remember: 'principal' })
  expect(await edge.running.reload()).toMatchObject({ isApplied: true })
  await findsByMeaning(client, 'town__hire')
  await using opening = await edge.connect('?exposure=groups', { token: ann.token })
  await opening.call('activate_town')
  await using next = await edge.connect('?exposure=groups', { token: ann.token })
  expect(await next.toolNames()).toContain('town__hire')
  // Edits of other settings do not embed tools again: from now on only queries are sent.
  const sent = endpoint.requests.length
  await edge.write({ ...config, search, budgetTokens: 100 })
  await edge.running.reload()
  expect((await found(client, 'wagentje huren'))[0]).toBe('town__hire')
  expect(endpoint.requests.slice(sent).map(({ input }) => input)).toEqual([['wagentje huren']])
  expect(edge.lines.filter((line) => /Changes of .*(?:search|remember)/u.test(line))).toEqual([])
  await edge.write(config)
  await edge.running.reload()
  expect(await found(client, 'wagentje huren')).toEqual([])
})

verifies('K06', async () => {
  await using endpoint = await embeddings(({ authorization }, response) =>
    json(response, { error: `wrong key ${String(authorization)}` }, 401),
  )
  const literal = 'canary-literal-77aa'
  await using edge = await served(
    {
      mcpServers,
      tokens,
      exposure: 'search',
      search: { embedder: embedderOf(endpoint) },
      profiles: {
        other: { search: { embedder: { url: `${endpoint.url}?key=canary-query-90b1`, model: 'm', apiKey: literal } } },
      },
    },
    { environment },
  )
  await edge.ready('town')
  for (const { token } of [ann, bob]) {
    await using client = await edge.connect('', { token })
    expect(textOf(await client.call('search_tools', { query: 'hire' }))).toContain('town__hire')
  }
  await until(
    () => edge.lines.filter((line) => line.includes('Search uses its built-in table')).length === 2,
    'both warnings are logged',
  )
  const responses = await Promise.all(['/status', '/logs?level=debug', '/upstreams'].map((path) => edge.api(path)))
  const everything = [...edge.lines, JSON.stringify(responses)].join('\n')
  for (const secret of [environment.EMBED_KEY, literal, 'canary-query-90b1']) expect(everything).not.toContain(secret)
})
