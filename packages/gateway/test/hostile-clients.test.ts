import { describe, expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { createToken } from '../src/config/tokens.ts'
import { eras } from './composition.ts'
import { hostile, rawClient } from './hostile.ts'
import { served } from './served.ts'

/** Everything outside the profile contains one of these. */
const secret = /vault|canary|kanarie/iu

const vault = hostile({
  title: 'Canary',
  instructions: 'The canary keeps secrets.',
  tools: [{ name: 'canary_tool', description: 'A canary that sings songs' }],
  prompts: [{ name: 'canary_prompt', description: 'Canary', arguments: [{ name: 'canary' }] }],
  resources: [
    { uri: 'memo://canary', name: 'canary' },
    { uri: 'memo://shared', name: 'canary' },
  ],
  templates: [{ uriTemplate: 'canary://{id}', name: 'canary' }],
})
const shed = hostile({
  title: 'Shed',
  tools: [{ name: 'sing', description: 'A bird that sings songs' }],
  prompts: [{ name: 'greet' }],
  resources: [{ uri: 'memo://shared', name: 'shared' }],
})
const pond = hostile({ title: 'Pond', tools: ['moo'], resources: [] })

type Request = readonly [method: string, params: { readonly [key: string]: unknown }]

const call = (name: string, args: object = {}): Request => ['tools/call', { name, arguments: args }]
const complete = (ref: object): Request => ['completion/complete', { ref, argument: { name: 'x', value: '' } }]

const reads: readonly Request[] = [
  ['server/discover', {}],
  ['tools/list', {}],
  ['tools/describe', { name: 'shed__sang' }],
  ['server/identity', {}],
  ['io.github.unfold-mcp/changes', { since: 'none' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'shed__grete' }],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'memo://shared' }],
  ['resources/read', { uri: 'memo://other' }],
  complete({ type: 'ref/prompt', name: 'shed__greet' }),
  call('search_tools', { query: 'bird that sings songs' }),
  call('search_tools', { query: '' }),
  call('describe_tools', { names: ['shed__sing'] }),
  call('call_tool', { name: 'shed__sang' }),
  call('manage_tools', { action: 'list' }),
  call('activate_shed'),
  call('activate_shad'),
  call('shed__sin'),
  call('read_result', { handle: 'x' }),
]

/** Requests for hidden items. */
const tries: readonly Request[] = [
  call('vault__canary_tool'),
  call('call_tool', { name: 'vault__canary_tool' }),
  call('describe_tools', { names: ['vault__canary_tool'] }),
  call('activate_vault'),
  call('activate_kanarie'),
  ['tools/describe', { name: 'vault__canary_tool' }],
  ['prompts/get', { name: 'vault__canary_prompt' }],
  ['resources/read', { uri: 'memo://canary' }],
  ['resources/read', { uri: 'unfold://vault/memo://canary' }],
  ['resources/read', { uri: 'canary://1' }],
  ['resources/subscribe', { uri: 'memo://canary' }],
  complete({ type: 'ref/prompt', name: 'vault__canary_prompt' }),
  complete({ type: 'ref/resource', uri: 'canary://{id}' }),
]

/** The same text about nonexistent items. */
const invented = (text: string): string => text.replaceAll(/vault|canary|kanarie/gu, (word) => 'x'.repeat(word.length))

const withoutId = (text: string): string => text.replace(/"id":\d+/u, '')

describe('a client with a profile', () => {
  const whole = createToken('whole')
  const part = createToken('part', 'shed')
  const config = {
    mcpServers: { vault, shed, pond_of_ducks: pond },
    groups: { kanarie: { description: 'Birds such as the canary', servers: ['vault'] } },
    profiles: { shed: { servers: ['shed', 'pond_of_ducks'] }, canary: { servers: ['vault'] } },
    tokens: [whole.record, part.record],
  }

  test.each(eras)('reveals nothing outside the profile, whatever the request, in the era: %s', async (era) => {
    await using gateway = await served(config)
    for (const name of ['vault', 'shed', 'pond_of_ducks']) await gateway.ready(name)
    const all = await rawClient(gateway.url, { era, token: whole.token })
    // The hidden items do exist.
    expect((await all.ask('tools/call', { name: 'search_tools', arguments: { query: 'canary' } })).text).toMatch(/canary/iu)
    expect((await all.ask('resources/read', { uri: 'memo://canary' })).text).toContain('of Canary')
    for (const exposure of ['groups', 'lazy', 'search', 'everything']) {
      const client = await rawClient(`${gateway.url}?exposure=${exposure}`, { era, token: part.token })
      expect(client.greeting).not.toMatch(secret)
      for (const [method, params] of reads) expect((await client.ask(method, params)).text).not.toMatch(secret)
      for (const [method, params] of tries) {
        const hidden = await client.ask(method, params)
        const missing = await client.ask(method, JSON.parse(invented(JSON.stringify(params))))
        expect([hidden.status, withoutId(invented(hidden.text))]).toEqual([missing.status, withoutId(missing.text)])
      }
    }
    const elsewhere = await rawClient(`${gateway.url}/canary`, { era: 'stateless', token: part.token })
    expect(await elsewhere.ask('tools/list')).toMatchObject({ status: 404, text: expect.stringContaining('unknown_profile') })
  })
})

test('a token whose name looks like another with a profile is not that other', async () => {
  const [whole, part] = [createToken('team/shed'), createToken('team')]
  await using gateway = await served({
    mcpServers: { vault, shed },
    exposure: 'everything',
    profiles: { shed: { servers: ['shed'] } },
    tokens: [whole.record, part.record],
  })
  await gateway.ready('vault')
  await gateway.ready('shed')
  const everything = await rawClient(gateway.url, { era: 'session', token: whole.token })
  expect((await everything.ask('tools/list')).text).toContain('vault__canary_tool')
  const some = await rawClient(`${gateway.url}/shed`, { era: 'session', token: part.token })
  expect((await some.ask('tools/list')).text).not.toMatch(secret)
  const foreign = await fetch(gateway.url, { headers: { ...everything.headers, authorization: `Bearer ${part.token}` } })
  expect(foreign.status).toBe(404)
})

describe('the holder of a revoked token', () => {
  test.each(eras)('receives nothing more, and others are unaffected, in the era: %s', async (era) => {
    const [leaves, stays] = [createToken('leaves'), createToken('stays')]
    const config = { mcpServers: { shed }, exposure: 'everything' }
    await using gateway = await served({ ...config, tokens: [leaves.record, stays.record] })
    await gateway.ready('shed')
    const uri = 'memo://shared'
    const [gone, still] = await Promise.all(
      [leaves, stays].map(async ({ token }) => {
        const client = await rawClient(gateway.url, { era, token })
        if (era === 'session') await client.ask('resources/subscribe', { uri })
        return { client, stream: await client.listen({ resourceSubscriptions: [uri] }) }
      }),
    )
    const update = { method: 'notifications/resources/updated', params: { uri } }
    // The same name with another token is another client.
    await gateway.write({ ...config, tokens: [createToken('leaves').record, stays.record] })
    expect(await gateway.running.reload()).toEqual({ isApplied: true, problems: [] })
    await gone?.stream.ended
    expect((await gone?.client.ask('tools/list'))?.status).toBe(401)
    expect((await still?.client.ask('tools/call', { name: 'shed__sing', arguments: { say: update } }))?.status).toBe(200)
    await until(() => still?.stream.received().includes(uri) === true, 'the update')
    expect(gone?.stream.received()).not.toContain('resources/updated')
  })
})

test('names of Object.prototype members are ordinary names', async () => {
  const names = ['constructor', 'toString', 'hasOwnProperty']
  const odd = (title: string): object =>
    hostile({
      title,
      tools: ['__proto__', 'constructor'],
      prompts: [{ name: '__proto__' }],
      resources: [{ uri: '__proto__', name: 'x' }],
    })
  const config = {
    mcpServers: Object.fromEntries(names.map((name) => [name, odd(name)])),
    groups: { isPrototypeOf: { description: 'x', servers: ['constructor'] } },
    profiles: { constructor: { servers: ['toString'] }, valueOf: { groups: ['isPrototypeOf'] } },
    exposure: 'everything',
  }
  await using gateway = await served(config)
  for (const name of names) await gateway.ready(name)
  const arguments_: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')
  for (const [profile, server, other] of [
    ['constructor', 'toString', 'constructor'],
    ['valueOf', 'constructor', 'toString'],
  ]) {
    const client = await rawClient(`${gateway.url}/${profile}`, { era: 'session' })
    const called = await client.ask('tools/call', { name: `${server}__constructor`, arguments: arguments_ })
    expect(called.text).toContain(`constructor of ${server}`)
    expect((await client.ask('tools/call', { name: `${other}__constructor` })).text).toContain('not found')
    expect((await client.ask('prompts/list')).text).toContain(`${server}___proto__`)
    expect((await client.ask('resources/read', { uri: '__proto__' })).text).toContain(`of ${server}`)
  }
  for (const profile of ['toString', '__proto__'])
    expect((await gateway.ask(`/mcp/${profile}`, { headers: { 'mcp-session-id': 'x' } })).status).toBe(404)
  await gateway.write({ mcpServers: { shed } })
  expect(await gateway.running.reload()).toEqual({ isApplied: true, problems: [] })
  await gateway.ready('shed')
  expect(gateway.gateway.source.entries().map(({ tool }) => tool.name)).toEqual(['shed__sing'])
  expect((await gateway.ask('/api/upstreams/constructor', { token: gateway.admin })).status).toBe(404)
  expect('polluted' in {}).toBe(false)
})
