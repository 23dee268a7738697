import { Client as ClientOne } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportOne } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { everything, person } from './proxy-clients.ts'
import { served } from './served.ts'

describe('the reference server behind a gateway', () => {
  let gateway: Awaited<ReturnType<typeof served>>
  beforeAll(async () => {
    gateway = await served({ mcpServers: { all: everything() }, exposure: 'everything' })
    await gateway.ready('all')
  })
  afterAll(() => gateway[Symbol.asyncDispose]())

  test.each(['session', 'stateless'] as const)('provides its prompts and resources to a %s client', async (era) => {
    await using me = await person(gateway.url, { era })
    const { client } = me
    expect(client.getServerCapabilities()).toMatchObject({
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
    })
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toContain('all__args-prompt')
    const prompt = await client.getPrompt({ name: 'all__args-prompt', arguments: { city: 'Paris' } })
    expect(prompt.messages).toEqual([{ role: 'user', content: { type: 'text', text: "What's weather in Paris?" } }])
    const { resources } = await client.listResources()
    expect(resources.length).toBeGreaterThan(3)
    const [first = { uri: '' }] = resources
    expect((await client.readResource({ uri: first.uri })).contents[0]).toMatchObject({ uri: first.uri })
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain('demo://resource/dynamic/text/{resourceId}')
    const made = await client.readResource({ uri: 'demo://resource/dynamic/text/7' })
    expect(made.contents[0]).toMatchObject({ text: expect.stringContaining('Resource 7') })
    const argument = { name: 'department', value: 'E' }
    const completed = await client.complete({ ref: { type: 'ref/prompt', name: 'all__completable-prompt' }, argument })
    expect(completed.completion.values).toEqual(['Engineering'])
    await expect(client.getPrompt({ name: 'all__args-promt' })).rejects.toThrow(/all__args-prompt/u)
    await expect(client.readResource({ uri: 'demo://resource/dynamic/text/none' })).rejects.toMatchObject({ code: -32_603 })
  })

  test.each(['session', 'stateless'] as const)(
    'elicits input from the user of a %s client, and reports progress',
    async (era) => {
      await using me = await person(gateway.url, { era })
      expect(await me.text('all__trigger-elicitation-request')).toContain('Name: Ada')
      expect(me.asked[0]).toMatchObject({ message: 'all: Please provide inputs for the following fields:' })
      expect(await me.text('all__trigger-sampling-request', { prompt: 'hi' })).toContain('forty-two')
      expect(await me.text('all__trigger-url-elicitation', { url: 'https://example.com/in' })).toContain('User completed')
      expect(me.asked[1]).toMatchObject({ mode: 'url', url: 'https://example.com/in' })
      const steps: number[] = []
      const onprogress = ({ progress }: { progress: number }): void => void steps.push(progress)
      await me.text('all__trigger-long-running-operation', { duration: 0.2, steps: 4 }, { onprogress })
      expect(steps).toEqual([1, 2, 3, 4])
    },
  )

  test('a URL elicitation is translated to the client’s era', async () => {
    const first = { url: 'https://example.com/first', errorPath: true }
    await using session = await person(gateway.url, { era: 'session' })
    await expect(session.text('all__trigger-url-elicitation', first)).rejects.toMatchObject({ code: -32_042 })
    await using stateless = await person(gateway.url, { era: 'stateless' })
    const second = { url: 'https://example.com/second', errorPath: true }
    expect(await stateless.text('all__trigger-url-elicitation', second)).toContain('User completed')
    expect(stateless.asked.map((each) => ('url' in each ? each.url : ''))).toEqual([
      'https://modelcontextprotocol.io',
      'https://example.com/second',
    ])
  })

  test('a client without the capability is not elicited, and the server gets the reason', async () => {
    for (const era of ['session', 'stateless'] as const) {
      await using mute = await person(gateway.url, { era, capabilities: {} })
      expect(await mute.text('all__trigger-elicitation-request')).toMatch(/does not support form elicitation/u)
      expect(await mute.text('all__trigger-sampling-request', { prompt: 'hi' })).toMatch(/does not support sampling/u)
    }
  })

  test('a client of the first SDK is elicited, subscribes to a resource, and receives updates', async () => {
    const client = new ClientOne({ name: 'one', version: '1.0.0' }, { capabilities: { elicitation: {} } })
    const updated: string[] = []
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Grace' } }))
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri))
    const transport = new TransportOne(new URL(gateway.url))
    await client.connect(transport)
    try {
      const { content } = await client.callTool({ name: 'all__trigger-elicitation-request' })
      expect(JSON.stringify(content)).toContain('Name: Grace')
      const uri = 'demo://resource/static/document/features.md'
      await client.subscribeResource({ uri })
      await client.callTool({ name: 'all__toggle-subscriber-updates' })
      await until(() => updated.includes(uri), 'the update is received')
      await client.callTool({ name: 'all__toggle-subscriber-updates' })
      await client.unsubscribeResource({ uri })
    } finally {
      await client.close()
    }
  })
})
