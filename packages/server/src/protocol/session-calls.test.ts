import { inputRequired } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { sdkSession } from '../../test/sdk-reference.ts'
import { ToolError } from '../tool/result.ts'
import { defineToolbox } from '../toolbox.ts'
import { createHandler, type Handler } from '../transports/handler.ts'

const toolbox = () =>
  defineToolbox({ name: 'shop', version: '1.0.0' })
    .tool('greet', { inputSchema: z.object({ name: z.string() }) }, ({ name }) => `Hello ${name}`)
    .tool('count', { outputSchema: z.object({ count: z.number() }) }, () => ({ count: 3 }))
    .tool('list', { outputSchema: z.array(z.number()) }, () => ({ content: [], structuredContent: [1, 2] }))
    .tool('blocks', {}, () => [
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'text', text: 'an image' },
    ])
    .tool('refuse', {}, () => {
      throw new ToolError('Not today.')
    })
    .tool('nothing', {}, () => undefined)
    .tool('says_meta', {}, (_input, { meta, isRepeated }) => JSON.stringify({ meta, isRepeated }))
    .tool('ask', {}, (_input, { inputResponses, isRepeated }) => {
      if (isRepeated) return `You are ${JSON.stringify(inputResponses)}`
      const who = inputRequired.elicit({
        message: 'Who are you?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
      })
      return inputRequired({ inputRequests: { who } })
    })

const base = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

const post = (handler: Pick<Handler, 'fetch'>, body: object, headers: object = {}) =>
  handler.fetch(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { ...base, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    }),
  )

async function session(handler: Pick<Handler, 'fetch'>): Promise<object> {
  const clientInfo = { name: 'test', version: '1.0.0' }
  const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo }
  const response = await post(handler, { id: 0, method: 'initialize', params })
  const headers = { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' }
  await post(handler, { method: 'notifications/initialized' }, headers)
  return headers
}

const eventIn = async (response: Response | undefined): Promise<unknown> =>
  JSON.parse(/^event: message\ndata: (.*)\n\n$/u.exec((await response?.text()) ?? '')?.[1] ?? '')

test.each([
  { name: 'greet', arguments: { name: 'Ann' } },
  { name: 'greet', arguments: { name: 3 } },
  { name: 'count' },
  { name: 'list' },
  { name: 'blocks', arguments: {} },
  { name: 'refuse' },
  { name: 'nothing' },
  { name: 'gret' },
])('a call of $name with $arguments gets the same response as from the SDK', async (params) => {
  await using handler = createHandler(toolbox())
  const reference = await sdkSession(toolbox())
  const [ours, theirs] = await Promise.all(
    [handler, reference].map(async (server) => post(server, { id: 1, method: 'tools/call', params }, await session(server))),
  )
  expect(await eventIn(ours)).toEqual(await eventIn(theirs))
  for (const name of ['content-type', 'cache-control']) expect(ours?.headers.get(name)).toBe(theirs?.headers.get(name))
  expect(ours?.status).toBe(theirs?.status)
})

test('_meta reaches the handler', async () => {
  await using handler = createHandler(toolbox())
  const call = { id: 1, method: 'tools/call', params: { name: 'says_meta', _meta: { trace: 'abc' } } }
  const text = await (await post(handler, call, await session(handler))).text()
  expect(text).toContain(JSON.stringify(JSON.stringify({ meta: { trace: 'abc' }, isRepeated: false })))
})

test('a call that requires input elicits it from the client, and is repeated with the response', async () => {
  await using handler = createHandler(toolbox())
  const headers = await session(handler)
  const response = await post(handler, { id: 1, method: 'tools/call', params: { name: 'ask' } }, headers)
  const events = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const elicitation = JSON.parse((await events?.read())?.value?.split('data: ')[1] ?? '')
  expect(elicitation).toMatchObject({ method: 'elicitation/create', params: { message: 'Who are you?' } })
  await post(handler, { id: elicitation.id, result: { action: 'accept', content: { name: 'Ann' } } }, headers)
  expect((await events?.read())?.value).toContain('Ann')
})

test('a cancelled call gets no response, and its id can be reused', async () => {
  let ended: unknown
  const waiting = defineToolbox({ name: 'shop', version: '1.0.0' })
    .tool('greet', {}, () => 'Hello')
    .tool('wait', {}, async (_input, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      ended = signal.reason
    })
  await using handler = createHandler(waiting)
  const headers = await session(handler)
  const call = post(handler, { id: 7, method: 'tools/call', params: { name: 'wait' } }, headers)
  const duplicate = await post(handler, { id: 7, method: 'tools/call', params: { name: 'greet' } }, headers)
  expect(duplicate.status).toBe(400)
  await post(handler, { method: 'notifications/cancelled', params: { requestId: 7 } }, headers)
  expect(await (await call).text()).toBe('')
  expect(ended).toMatchObject({ reason: 'call_cancelled' })
  const again = await post(handler, { id: 7, method: 'tools/call', params: { name: 'greet' } }, headers)
  expect(await again.text()).toContain('Hello')
})

test('the requests of a batch share one stream, and each gets its own response', async () => {
  await using handler = createHandler(toolbox())
  const headers = await session(handler)
  const request = (id: number, method: string, params: object): object => ({ jsonrpc: '2.0', id, method, params })
  const response = await handler.fetch(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { ...base, ...headers },
      body: JSON.stringify([
        request(1, 'tools/call', { name: 'greet', arguments: { name: 'Ann' } }),
        request(2, 'tools/call', { arguments: {} }),
        request(3, 'tools/list', {}),
        request(4, 'ping', {}),
      ]),
    }),
  )
  const messages = [...(await response.text()).matchAll(/^data: (.*)$/gmu)].map(([, json = '']) => JSON.parse(json))
  expect(Object.fromEntries(messages.map(({ id, result, error }) => [id, result ?? error]))).toMatchObject({
    1: { content: [{ text: 'Hello Ann' }] },
    2: { code: -32_602, data: { reason: 'invalid_params' } },
    3: { tools: expect.any(Array) },
    4: {},
  })
})

test('log messages below the level of the client are not sent', async () => {
  const chatty = defineToolbox({ name: 'shop', version: '1.0.0' }).tool('talk', {}, async (_input, { log }) => {
    await log('info', 'small talk')
    await log('error', 'a fire')
    return 'talked'
  })
  await using handler = createHandler(chatty)
  const headers = await session(handler)
  const talk = { id: 1, method: 'tools/call', params: { name: 'talk' } }
  expect(await (await post(handler, talk, headers)).text()).toContain('small talk')
  await (await post(handler, { id: 2, method: 'logging/setLevel', params: { level: 'warning' } }, headers)).text()
  const quieter = await (await post(handler, { ...talk, id: 3 }, headers)).text()
  expect(quieter).toContain('a fire')
  expect(quieter).not.toContain('small talk')
})
