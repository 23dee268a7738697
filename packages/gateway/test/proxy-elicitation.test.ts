import { describe, expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { createToken } from '../src/config/tokens.ts'
import { asking, person } from './proxy-clients.ts'
import { served } from './served.ts'
import { serveSessions } from './session-http.ts'

const eras = ['session', 'stateless'] as const
const named = (name: string) => () => ({ action: 'accept' as const, content: { name } })

describe('a request of a server', () => {
  test('on a shared connection is rejected while it cannot be assigned to a call', async () => {
    await using gateway = await served({ mcpServers: { old: asking('old', 'session') }, exposure: 'everything' })
    await gateway.ready('old')
    await using ada = await person(gateway.url, { era: 'session', answer: named('Ada') })
    await using bob = await person(gateway.url, { era: 'stateless', answer: named('Bob') })
    const running = () => gateway.gateway.upstreams.get('old')?.status.calls.running
    const both = [ada.text('old__ask_later'), bob.text('old__ask_later')]
    await until(() => running() === 2, 'both calls are running')
    await ada.text('old__go')
    for (const answer of await Promise.all(both)) expect(answer).toMatch(/does not tell which one/u)
    expect([...ada.asked, ...bob.asked]).toEqual([])
    expect(await ada.text('old__ask')).toBe('accept Ada')
    expect(await bob.text('old__ask')).toBe('accept Bob')
    expect(await ada.text('old__able')).toBe('elicitation sampling')
    expect(ada.asked.length + bob.asked.length).toBe(2)
  })

  test('on the stream of a call reaches the client that made the call', async () => {
    await using sessions = await serveSessions()
    await using gateway = await served({ mcpServers: { web: { url: sessions.url } }, exposure: 'everything' })
    await gateway.ready('web')
    const people = await Promise.all(
      ['Ada', 'Bob', 'Cyd'].map((name, index) =>
        person(gateway.url, { era: index === 1 ? 'stateless' : 'session', answer: named(name) }),
      ),
    )
    const answers = people.map((each) => each.text('web__ask_later'))
    await until(() => sessions.waiting === 3, 'all calls have arrived')
    sessions.go()
    expect(await Promise.all(answers)).toEqual(['accept Ada', 'accept Bob', 'accept Cyd'])
    for (const { asked } of people) expect(asked).toHaveLength(1)
    // On 2026-07-28, this client did not request log messages.
    expect(people.map(({ logged }) => logged.map(({ data, logger }) => `${logger}: ${String(data)}`))).toEqual([
      ['web: asking'],
      [],
      ['web: asking'],
    ])
    for (const { client } of people) await client.close()
  })

  test('in place of a result works in both eras, and its state is bound to the client', async () => {
    const [adas, bobs] = [createToken('ada'), createToken('bob')]
    await using gateway = await served({
      mcpServers: { new: asking('new', 'both') },
      exposure: 'everything',
      tokens: [adas.record, bobs.record],
    })
    await gateway.ready('new')
    expect(gateway.gateway.upstreams.get('new')?.connection?.era).toBe('stateless')
    for (const era of eras) {
      await using ada = await person(gateway.url, { era, token: adas.token, answer: named('Ada') })
      expect(await ada.text('new__ask')).toBe('accept Ada (secret of new)')
      const { messages } = await ada.client.getPrompt({ name: 'new__inquire', arguments: {} })
      expect(messages[0]?.content).toMatchObject({ text: 'accept Ada (secret of new)' })
      expect(ada.asked.map(({ message }) => message)).toEqual(['new: Who are you?', 'new: Who are you?'])
      await using finder = await person(`${gateway.url}?exposure=search`, { era, token: adas.token, answer: named('Fay') })
      expect(await finder.text('call_tool', { name: 'new__ask', arguments: {} })).toContain('accept Fay (secret of new)')
      // Each call declares the capabilities of its own caller.
      await using mute = await person(gateway.url, { era, token: adas.token, capabilities: {} })
      expect(await mute.text('new__able')).toBe('')
      expect(await ada.text('new__able')).toBe('elicitation sampling')
    }
    await using ada = await person(gateway.url, { era: 'stateless', token: adas.token })
    await using bob = await person(gateway.url, { era: 'stateless', token: bobs.token })
    const asked = await ada.client.callTool({ name: 'new__ask' }, { allowInputRequired: true })
    const { requestState } = asked as { requestState?: string }
    expect(requestState).toBeTypeOf('string')
    expect(requestState).not.toContain('secret')
    const answered = { requestState, inputResponses: { who: { action: 'accept', content: { name: 'Eve' } } } }
    await expect(bob.client.callTool({ name: 'new__ask', ...answered })).rejects.toMatchObject({ code: -32_602 })
    await expect(ada.client.callTool({ name: 'new__able', ...answered })).rejects.toMatchObject({ code: -32_602 })
    expect(JSON.stringify(await ada.client.callTool({ name: 'new__ask', ...answered }))).toContain('accept Eve')
  })

  test('of a client that returns with the answer waits for that client only, once', async () => {
    const [adas, bobs] = [createToken('ada'), createToken('bob')]
    await using gateway = await served({
      mcpServers: { old: asking('old', 'session') },
      exposure: 'everything',
      tokens: [adas.record, bobs.record],
    })
    await gateway.ready('old')
    await using ada = await person(gateway.url, { era: 'stateless', token: adas.token })
    await using bob = await person(gateway.url, { era: 'stateless', token: bobs.token })
    const asked = await ada.client.callTool({ name: 'old__ask' }, { allowInputRequired: true })
    const { requestState, inputRequests = {} } = asked as { requestState?: string; inputRequests?: object }
    const [key = ''] = Object.keys(inputRequests)
    const answer = { requestState, inputResponses: { [key]: { action: 'accept', content: { name: 'Ada' } } } }
    await expect(bob.client.callTool({ name: 'old__ask', ...answer })).rejects.toMatchObject({ code: -32_602 })
    expect(JSON.stringify(await ada.client.callTool({ name: 'old__ask', ...answer }))).toContain('accept Ada')
    await expect(ada.client.callTool({ name: 'old__ask', ...answer })).rejects.toThrow(/Start again/u)
    // Input that no server could use is not forwarded.
    const again = await ada.client.callTool({ name: 'old__ask' }, { allowInputRequired: true })
    const odd = {
      ...answer,
      requestState: (again as { requestState?: string }).requestState,
      inputResponses: { [key]: { a: 1 } },
    }
    expect(JSON.stringify(await ada.client.callTool({ name: 'old__ask', ...odd }))).toContain('Invalid elicitation result')
  })
})

describe('a notification of a server', () => {
  test('during a call reaches its caller with the name of the server, above the requested level', async () => {
    await using gateway = await served({
      mcpServers: { old: asking('old', 'session'), new: asking('new', 'both') },
      exposure: 'everything',
    })
    await Promise.all(['old', 'new'].map((name) => gateway.ready(name)))
    await using ada = await person(gateway.url, { era: 'session' })
    await using bob = await person(gateway.url, { era: 'session' })
    await ada.client.setLoggingLevel('info')
    for (const name of ['old', 'new']) await ada.text(`${name}__log`, { message: `careful with ${name}` })
    await using cyd = await person(gateway.url, { era: 'stateless' })
    const _meta = { 'io.modelcontextprotocol/logLevel': 'debug' }
    const answer = await cyd.client.callTool({ name: 'new__log', arguments: { message: 'slowly' }, _meta })
    // The response is that of the gateway, whatever else arrived with it.
    expect(answer._meta).toMatchObject({ 'io.modelcontextprotocol/serverInfo': { name: 'unfold' } })
    const texts = (logged: typeof ada.logged): readonly string[] =>
      logged.map((each) => `${each.logger} ${each.level} ${String(each.data)}`)
    await until(() => ada.logged.length === 2 && cyd.logged.length === 2, 'the log messages arrive')
    expect(texts(ada.logged)).toEqual(['old warning careful with old', 'new warning careful with new'])
    expect(texts(cyd.logged)).toEqual(['new warning slowly', 'new debug slowly in detail'])
    expect(bob.logged).toEqual([])
  })

  test.each(eras)('ends when a %s client cancels its call or disconnects', async (era) => {
    await using gateway = await served({ mcpServers: { old: asking('old', 'session') }, exposure: 'everything' })
    await gateway.ready('old')
    const lines: string[] = []
    gateway.gateway.upstreams.events.on('stderr', ({ line }) => lines.push(line))
    const count = (line: string): number => lines.filter((each) => each === line).length
    await using ada = await person(gateway.url, { era })
    const stop = new AbortController()
    const call = ada.text('old__wait', {}, { signal: stop.signal }).catch(() => 'called off')
    await until(() => count('waiting') === 1, 'the call has arrived')
    stop.abort('enough')
    expect(await call).toBe('called off')
    await until(() => count('aborted') === 1, 'the server receives the cancellation')
    const bob = await person(gateway.url, { era })
    const lost = bob.text('old__wait').catch(() => 'lost')
    await until(() => count('waiting') === 2, 'the other call has arrived')
    // A session whose connection breaks can be resumed; one that has ended cannot.
    if (era === 'session') await bob.end()
    await bob.client.close()
    expect(await lost).toBe('lost')
    await until(() => count('aborted') === 2, 'the server receives the second cancellation')
  })
})
