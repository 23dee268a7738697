import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { testServer } from '../../server/src/testing/server.ts'
import { createToken } from '../src/config/tokens.ts'
import { asking, person } from './proxy-clients.ts'
import { served } from './served.ts'
import { server } from './upstreams.ts'

const eras = ['session', 'stateless'] as const
const manners = { session: 'session', stateless: 'both' } as const

describe('prompts and resources of several servers', () => {
  test('with the same URI get a prefix, each is read from its own server, and the conflict is logged once', async () => {
    await using gateway = await served({
      mcpServers: { one: asking('one', 'session', 'same'), two: asking('two', 'both', 'same') },
      exposure: 'everything',
    })
    await Promise.all(['one', 'two'].map((name) => gateway.ready(name)))
    for (const era of eras) {
      await using me = await person(gateway.url, { era })
      const { client } = me
      const { resources } = await client.listResources()
      expect(resources.map(({ uri }) => uri)).toEqual([
        'unfold://one/memo://shared',
        'memo://one',
        'unfold://two/memo://shared',
        'memo://two',
      ])
      const read = async (uri: string) => (await client.readResource({ uri })).contents[0]
      await expect(read('memo://shared')).rejects.toThrow(/Several servers have the resource "memo:\/\/shared": "one", "two"/u)
      expect(await read('unfold://one/memo://shared')).toEqual({
        uri: 'unfold://one/memo://shared',
        text: 'memo://shared of one',
      })
      expect(await read('unfold://two/memo://shared')).toEqual({
        uri: 'unfold://two/memo://shared',
        text: 'memo://shared of two',
      })
      // A prefixed URI stays valid even while it is unambiguous without the prefix.
      expect(await read('unfold://one/memo://one')).toMatchObject({ text: 'memo://one of one' })
      const { resourceTemplates } = await client.listResourceTemplates()
      const [first, second] = resourceTemplates.map(({ uriTemplate }) => uriTemplate)
      expect([first, second]).toEqual(['unfold://one/memo://each/{id}', 'unfold://two/memo://each/{id}'])
      await expect(read('memo://each/3')).rejects.toThrow(/Read it as unfold:\/\/one\/memo:\/\/each\/3 or unfold:\/\/two\//u)
      expect(await read('unfold://one/memo://each/3')).toMatchObject({ text: 'memo://each/3 of one' })
      expect(await read('unfold://two/memo://each/3')).toMatchObject({ text: 'memo://each/3 of two' })
      await expect(read('memo://missing')).rejects.toThrow(/Unknown resource "memo:\/\/missing"/u)
      const { prompts } = await client.listPrompts()
      expect(prompts.map(({ name }) => name)).toEqual(['one__greet', 'one__inquire', 'two__greet', 'two__inquire'])
      const greeted = await client.getPrompt({ name: 'two__greet', arguments: { to: 'Ada' } })
      expect(greeted.messages[0]?.content).toEqual({ type: 'text', text: 'two greets Ada' })
    }
    expect(gateway.lines.filter((line) => line.includes('both list the resource memo://shared'))).toHaveLength(1)
    expect(gateway.lines.filter((line) => line.includes('overlaps memo://each/{id}'))).toHaveLength(1)
  })

  test('are those of the servers in the profile, and missing capabilities are not declared', async () => {
    const [all, bare] = [createToken('all'), createToken('bare', 'bare')]
    await using gateway = await served({
      mcpServers: { one: asking('one', 'session'), plain: asking('plain', 'session', 'bare') },
      exposure: 'everything',
      profiles: { bare: { servers: ['plain'] }, none: { tools: ['one__*'] } },
      tokens: [all.record, bare.record],
    })
    await Promise.all(['one', 'plain'].map((name) => gateway.ready(name)))
    for (const era of eras) {
      await using me = await person(gateway.url, { era, token: all.token })
      expect(me.client.getServerCapabilities()).toMatchObject({ prompts: {}, resources: { subscribe: true } })
      expect(me.client.getServerCapabilities()).not.toHaveProperty('completions')
      for (const [url, token] of [
        [gateway.url, bare.token],
        [`${gateway.url}/none`, all.token],
      ] as const) {
        await using other = await person(url, { era, token })
        expect(Object.keys(other.client.getServerCapabilities() ?? {}).sort()).toEqual(['extensions', 'logging', 'tools'])
        const asked = other.client.request({ method: 'resources/read', params: { uri: 'memo://one' } })
        await expect(asked).rejects.toThrow(/method not found/iu)
      }
    }
  })

  test('of a slow server are missing at first, and those of the others are listed', async () => {
    await using gateway = await served({
      mcpServers: { slow: asking('slow', 'session', 'slow'), quick: asking('quick', 'session') },
      exposure: 'everything',
    })
    await Promise.all(['slow', 'quick'].map((name) => gateway.ready(name)))
    await using me = await person(gateway.url, { era: 'session' })
    const { prompts } = await me.client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(['quick__greet', 'quick__inquire'])
  })

  test('stay listed while their server is disconnected, and are removed with its configuration', async () => {
    const one = asking('one', 'session')
    await using gateway = await served({ mcpServers: { one, two: asking('two', 'session') }, exposure: 'everything' })
    await Promise.all(['one', 'two'].map((name) => gateway.ready(name)))
    await using me = await person(gateway.url, { era: 'session' })
    await me.client.listPrompts()
    const pid = gateway.gateway.upstreams.get('two')?.connection?.pid ?? 0
    process.kill(pid, 'SIGKILL')
    await until(() => gateway.gateway.upstreams.get('two')?.state !== 'ready', 'it is disconnected')
    expect((await me.client.listPrompts()).prompts).toHaveLength(4)
    await gateway.write({ mcpServers: { one }, exposure: 'everything' })
    await gateway.running.reload()
    await until(() => me.noticed.includes('prompts'), 'the client is notified')
    expect((await me.client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['one__greet', 'one__inquire'])
  })
})

test('a session at startup declares all capabilities, and after a restart the cached ones', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-kept-'))
  const store = { kind: 'sqlite', path: join(folder, 'catalog.db') }
  const config = { store, mcpServers: { one: { ...asking('one', 'session'), start: 'lazy' } }, exposure: 'everything' }
  try {
    for (const isKnown of [false, true]) {
      await using gateway = await served(config)
      const state = () => gateway.gateway.upstreams.get('one')?.state
      await using me = await person(gateway.url, { era: 'session' })
      expect(me.client.getServerCapabilities()).toMatchObject({ prompts: {}, resources: { subscribe: true } })
      // A server that is not known yet may still be starting.
      const isListed = async (): Promise<boolean> => (await me.client.listPrompts()).prompts.length > 0
      await until(async () => isKnown || (state() === 'ready' && (await isListed())), 'the server is listed')
      expect((await me.client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['one__greet', 'one__inquire'])
      expect((await me.client.listResources()).resources.map(({ uri }) => uri)).toEqual(['memo://shared', 'memo://one'])
      expect(state()).toBe(isKnown ? 'idle' : 'ready')
      const { messages } = await me.client.getPrompt({ name: 'one__greet', arguments: { to: 'Ada' } })
      expect(messages[0]?.content).toMatchObject({ text: 'one greets Ada' })
      // Before, the session is notified when the server is known.
      expect(isKnown ? me.noticed : []).toEqual([])
      await gateway.ready('one')
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
})

test('a single server introduces itself with its last self-description, also before it is started', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-kept-'))
  const store = { kind: 'sqlite', path: join(folder, 'catalog.db') }
  const config = { store, mcpServers: { one: { ...asking('one', 'session'), start: 'lazy' } }, exposure: 'everything' }
  try {
    for (const isKnown of [false, true]) {
      await using gateway = await served(config)
      if (!isKnown) await gateway.ready('one')
      await using me = await person(`${gateway.url}/s/one`, { era: 'session' })
      expect(me.client.getServerVersion()).toEqual({ name: 'one', version: '1.0.0' })
      expect((await me.client.listTools()).tools.map(({ name }) => name)).toContain('ask')
      expect((await me.client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['greet', 'inquire'])
      expect(gateway.gateway.upstreams.get('one')?.state).toBe(isKnown ? 'idle' : 'ready')
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
})

test.skipIf(process.platform === 'win32')(
  'a session that starts before all servers are connected is served immediately, and notified of later prompts',
  async () => {
    const { command, args = [] } = server('asking.mjs', 'late', 'session')
    const folder = await mkdtemp(join(tmpdir(), 'unfold-late-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const go = join(folder, 'go')
    const late = { command: 'sh', args: ['-c', `until [ -e '${go}' ]; do sleep 0.1; done; exec "$0" "$@"`, command, ...args] }
    const mcpServers = { plain: asking('plain', 'session', 'bare'), late }
    await using gateway = await served({ mcpServers, exposure: 'everything' })
    await using me = await person(gateway.url, { era: 'session' })
    expect(gateway.gateway.upstreams.get('late')?.state).toBe('starting')
    expect(me.client.getServerCapabilities()).toMatchObject({ prompts: {}, resources: { subscribe: true } })
    expect((await me.client.listPrompts()).prompts).toEqual([])
    await writeFile(go, '')
    await until(() => me.noticed.includes('prompts'), 'the client is notified of prompts')
    expect((await me.client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['late__greet', 'late__inquire'])
  },
)

test.each(eras)('a %s client over stdio is served and elicited', async (era) => {
  await using gateway = await served({ mcpServers: { one: asking('one', 'session') }, exposure: 'everything' })
  await gateway.ready('one')
  await using pipes = await testServer(gateway.gateway.toolbox, { transport: 'stdio', era })
  const connected = await pipes.connect({ listens: false })
  const { client } = connected
  const { resources } = client.getServerCapabilities() ?? {}
  expect(resources).toEqual({ listChanged: true, ...(era === 'session' && { subscribe: true }) })
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }))
  const noticed: string[] = []
  client.setNotificationHandler('notifications/prompts/list_changed', () => void noticed.push('prompts'))
  if (era === 'stateless') await client.listen({ promptsListChanged: true })
  expect((await connected.call('one__ask')).content).toEqual([{ type: 'text', text: 'accept Ada' }])
  await connected.call('one__more', { as: 'fresh' })
  await until(() => noticed.length > 0, 'the change is announced')
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain('one__fresh')
  expect(noticed).toEqual(['prompts'])
})

describe('changes', () => {
  test.each(eras)('of a %s server are announced once to each client that sees it, in its era', async (speaks) => {
    const [all, bare] = [createToken('all'), createToken('other', 'other')]
    await using gateway = await served({
      mcpServers: { one: asking('one', manners[speaks]), other: asking('other', 'session') },
      exposure: 'everything',
      profiles: { other: { servers: ['other'] } },
      tokens: [all.record, bare.record],
    })
    await Promise.all(['one', 'other'].map((name) => gateway.ready(name)))
    await using session = await person(gateway.url, { era: 'session', token: all.token })
    await using stateless = await person(gateway.url, { era: 'stateless', token: all.token })
    await using stranger = await person(gateway.url, { era: 'session', token: bare.token })
    await using strange = await person(gateway.url, { era: 'stateless', token: bare.token })
    const filter = { promptsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['memo://one'] }
    await stateless.client.listPrompts()
    await session.client.listPrompts()
    const streams = [await stateless.client.listen(filter), await strange.client.listen(filter)]
    await session.text('one__more', { as: 'fresh' })
    for (const { noticed, client } of [session, stateless]) {
      await until(() => noticed.length === 2, 'the changes are announced')
      expect([...noticed].sort()).toEqual(['prompts', 'resources'])
      expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain('one__fresh')
      expect((await client.listResources()).resources.map(({ uri }) => uri)).toContain('memo://fresh')
    }
    await session.text('one__touch', { uri: 'memo://one' })
    await until(() => stateless.noticed.includes('memo://one'), 'the update is announced')
    expect(session.noticed).not.toContain('memo://one')
    expect([...stranger.noticed, ...strange.noticed]).toEqual([])
    for (const stream of streams) await stream.close()
  })

  test('of a single server are announced to its clients and to clients of all servers, with the names that each knows', async () => {
    await using gateway = await served({
      mcpServers: { one: asking('one', 'session', 'same'), two: asking('two', 'session', 'same') },
      exposure: 'everything',
    })
    await Promise.all(['one', 'two'].map((name) => gateway.ready(name)))
    const people = await Promise.all(
      ['/s/one', '/s/two', ''].flatMap((at) => eras.map((era) => person(`${gateway.url}${at}`, { era }))),
    )
    try {
      for (const [index, { client }] of people.entries()) {
        const isAlone = index < 4
        await client.listPrompts()
        const uris = (await client.listResources()).resources.map(({ uri }) => uri)
        expect(uris.filter((uri) => uri.endsWith('shared'))).toEqual(
          isAlone ? ['memo://shared'] : ['unfold://one/memo://shared', 'unfold://two/memo://shared'],
        )
        const resourceSubscriptions = uris.filter((uri) => uri.endsWith('shared'))
        if (index % 2 === 1) await client.listen({ promptsListChanged: true, resourcesListChanged: true, resourceSubscriptions })
        else for (const uri of resourceSubscriptions) await client.subscribeResource({ uri })
      }
      const [, , second] = people
      expect((await second?.client.readResource({ uri: 'memo://shared' }))?.contents[0]).toEqual({
        uri: 'memo://shared',
        text: 'memo://shared of two',
      })
      await second?.text('touch', { uri: 'memo://shared' })
      await until(() => people.slice(2).every(({ noticed }) => noticed.length > 0), 'the update is announced')
      await second?.text('more', { as: 'fresh' })
      await until(() => people.slice(2).every(({ noticed }) => noticed.length === 3), 'the changes are announced')
      const expected = (uri: string): readonly string[] => [uri, 'prompts', 'resources']
      expect(people.map(({ noticed }) => noticed.toSorted())).toEqual([
        [],
        [],
        expected('memo://shared'),
        expected('memo://shared'),
        expected('unfold://two/memo://shared').toSorted(),
        expected('unfold://two/memo://shared').toSorted(),
      ])
      expect((await second?.client.listPrompts())?.prompts.map(({ name }) => name)).toEqual(['greet', 'inquire', 'fresh'])
    } finally {
      for (const each of people) await each[Symbol.asyncDispose]()
    }
  })

  test('of a resource are sent to its subscribers, and the server gets one subscription until the last one leaves', async () => {
    await using gateway = await served({ mcpServers: { one: asking('one', 'session') }, exposure: 'everything' })
    const lines: string[] = []
    gateway.gateway.upstreams.events.on('stderr', ({ line }) => lines.push(line))
    await gateway.ready('one')
    await using ada = await person(gateway.url, { era: 'session' })
    await using bob = await person(gateway.url, { era: 'session' })
    await using cyd = await person(gateway.url, { era: 'stateless' })
    for (const { client } of [ada, bob]) await client.subscribeResource({ uri: 'memo://one' })
    const stream = await cyd.client.listen({ resourceSubscriptions: ['memo://one'] })
    await ada.text('one__touch', { uri: 'memo://one' })
    await ada.text('one__touch', { uri: 'memo://shared' })
    await until(() => [ada, bob, cyd].every(({ noticed }) => noticed.length > 0), 'all are notified')
    await ada.client.unsubscribeResource({ uri: 'memo://one' })
    await ada.text('one__touch', { uri: 'memo://one' })
    await until(() => bob.noticed.length === 2 && cyd.noticed.length === 2, 'the others get the next notification')
    expect(ada.noticed).toEqual(['memo://one'])
    expect(lines).toEqual(['subscribe memo://one'])
    await bob.end()
    await stream.close()
    await until(() => lines.includes('unsubscribe memo://one'), 'the server gets the unsubscription')
    expect(lines).toHaveLength(2)
    // A restarted server gets the subscriptions again.
    await ada.client.subscribeResource({ uri: 'memo://shared' })
    gateway.gateway.upstreams.restart('one')
    await until(() => lines.filter((line) => line === 'subscribe memo://shared').length === 2, 'it is subscribed again')
  })

  test('of a resource reach a client that subscribed while the first subscription was pending and then failed', async () => {
    await using gateway = await served({ mcpServers: { one: asking('one', 'session', 'hesitant') }, exposure: 'everything' })
    const lines: string[] = []
    gateway.gateway.upstreams.events.on('stderr', ({ line }) => lines.push(line))
    const received = (line: string, times: number): Promise<void> =>
      until(() => lines.filter((each) => each === line).length === times, `the server receives: ${line}`)
    await gateway.ready('one')
    await using ada = await person(gateway.url, { era: 'session' })
    await using bob = await person(gateway.url, { era: 'session' })
    await using cyd = await person(gateway.url, { era: 'stateless' })
    for (const uri of ['memo://one', 'memo://shared']) {
      const refused = ada.client.subscribeResource({ uri }).catch((error: unknown) => String(error))
      await received(`subscribe ${uri}`, 1)
      const followed = bob.client.subscribeResource({ uri })
      const stream = await cyd.client.listen({ resourceSubscriptions: [uri] })
      // A client that leaves meanwhile does not affect the others.
      if (uri === 'memo://shared') await ada.client.unsubscribeResource({ uri })
      await ada.text('one__go')
      expect(await refused).toContain('not yet')
      await followed
      await received(`subscribe ${uri}`, 2)
      await ada.text('one__touch', { uri })
      await until(() => [bob, cyd].every(({ noticed }) => noticed.includes(uri)), 'the others are notified')
      await stream.close()
      await bob.client.unsubscribeResource({ uri })
      await received(`unsubscribe ${uri}`, 1)
    }
    expect(ada.noticed).toEqual([])
    expect(lines).toHaveLength(6)
  })

  test('of a resource are subscribed again when the server ended before it responded', async () => {
    await using gateway = await served({ mcpServers: { one: asking('one', 'session', 'hesitant') }, exposure: 'everything' })
    const lines: string[] = []
    gateway.gateway.upstreams.events.on('stderr', ({ line }) => lines.push(line))
    await gateway.ready('one')
    await using cyd = await person(gateway.url, { era: 'stateless' })
    await cyd.client.listen({ resourceSubscriptions: ['memo://one'] })
    await until(() => lines.length === 1, 'the server gets the request')
    gateway.gateway.upstreams.restart('one')
    await until(() => lines.length === 2, 'the next process gets the request too')
    expect(lines).toEqual(['subscribe memo://one', 'subscribe memo://one'])
  })
})
