import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { sdkStateless } from '../../test/sdk-reference.ts'
import { ToolError } from '../tool/result.ts'
import { defineToolbox } from '../toolbox.ts'
import { createHandler, type Handler } from '../transports/handler.ts'
import { type Exchange, toExchange } from '../wire/exchange.ts'

const toolbox = () =>
  defineToolbox({ name: 'shop', version: '1.0.0' })
    .tool('greet', { inputSchema: z.object({ name: z.string() }) }, ({ name }) => `Hello ${name}`)
    .tool('count', { outputSchema: z.object({ count: z.number() }) }, () => ({ count: 3 }))
    .tool('list', { outputSchema: z.array(z.number()) }, () => ({ content: [], structuredContent: [1, 2] }))
    .tool('with_meta', {}, () => ({ content: [{ type: 'text', text: 'x' }], _meta: { a: 1 } }))
    .tool('of_another', {}, () => ({ content: [], _meta: { [SERVER_INFO_META_KEY]: { name: 'other', version: '2' } } }))
    .tool('other_kind', {}, () => ({ content: [], resultType: 'partial' }))
    .tool('refuse', {}, () => {
      throw new ToolError('Not today.')
    })
    .tool('protocol_error', {}, () => {
      throw new ProtocolError(-32_002, 'Gone.', { uri: 'x:y' })
    })
    .tool('lacks', {}, () => {
      throw new ProtocolError(-32_021, 'Sampling is needed.', { requiredCapabilities: { sampling: {} } })
    })
    .tool('nothing', {}, () => undefined)
    .tool('knows', {}, (_input, { meta, envelope, isRepeated, era }) => JSON.stringify({ meta, envelope, isRepeated, era }))
    .tool('knows_more', {}, (_input, { meta, envelope, request }) =>
      JSON.stringify({ meta, envelope, header: request?.headers.get('x-own') }),
    )
    .tool('work', {}, async (_input, context) => {
      await context.progress(1, 2, 'half')
      await context.log('info', 'so far')
      return 'done'
    })
    .tool('ask', {}, (_input, { inputResponses, isRepeated }) => {
      if (isRepeated) return `You are ${JSON.stringify(inputResponses)}`
      const who = inputRequired.elicit({
        message: 'Who are you?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
      })
      return inputRequired({ inputRequests: { who }, requestState: 'asked' })
    })

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
  [CLIENT_CAPABILITIES_META_KEY]: { elicitation: { form: {} } },
}

interface Params {
  readonly name: string
  readonly _meta?: object
  readonly [key: string]: unknown
}

interface RequestOptions {
  readonly signal?: AbortSignal
  readonly headers?: object
}

const requestFor = (params: Params, { signal, headers }: RequestOptions = {}): Request =>
  new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': params.name,
      'x-own': 'kept',
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { ...params, _meta: { ...meta, ...params._meta } },
    }),
    ...(signal !== undefined && { signal }),
  })

const call = (handler: Handler, params: Params, options?: RequestOptions): Promise<Response> =>
  handler.fetch(requestFor(params, options))

const parsed = async (response: Response) => {
  const { status, headers } = response
  const type = headers.get('content-type')
  const text = await response.text()
  const messages = type === 'application/json' ? [text] : [...text.matchAll(/^data: (.*)$/gmu)].map(([, data = '']) => data)
  return { status, type, messages: messages.map((message): unknown => JSON.parse(message)) }
}

test.each<Params>([
  { name: 'greet', arguments: { name: 'Ann' } },
  { name: 'greet', arguments: { name: 3 } },
  { name: 'count' },
  { name: 'list' },
  { name: 'with_meta' },
  { name: 'of_another' },
  { name: 'other_kind' },
  { name: 'refuse' },
  { name: 'protocol_error' },
  { name: 'lacks' },
  { name: 'nothing' },
  { name: 'knows', _meta: { trace: 'abc', progressToken: 7 } },
  { name: 'knows_more', _meta: { trace: 'abc' } },
  { name: 'work' },
  { name: 'work', _meta: { progressToken: 'p', [LOG_LEVEL_META_KEY]: 'debug' } },
  { name: 'ask' },
  { name: 'gret' },
])('a call of $name with $arguments $_meta gets the same response as from the SDK', async (params) => {
  await using handler = createHandler(toolbox())
  const ours = await parsed(await call(handler, params))
  const theirs = await parsed(await sdkStateless(toolbox()).fetch(requestFor(params)))
  expect(ours).toEqual(theirs)
})

test('progress is sent while the tool runs', async () => {
  let finish = (): void => undefined
  const slow = defineToolbox({ name: 'shop', version: '1.0.0' }).tool('slow', {}, async (_input, { progress }) => {
    await progress(1, 2)
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    return 'done'
  })
  await using handler = createHandler(slow)
  const response = await call(handler, { name: 'slow', _meta: { progressToken: 'p' } })
  const events = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  expect((await events?.read())?.value).toContain('"notifications/progress"')
  finish()
  expect((await events?.read())?.value).toContain('done')
  expect((await events?.read())?.done).toBe(true)
})

test('a call that requires input is repeated with the input responses', async () => {
  await using handler = createHandler(toolbox())
  const first = await (await call(handler, { name: 'ask' })).json()
  expect(first).toMatchObject({ result: { resultType: 'input_required', requestState: 'asked' } })
  const inputResponses = { who: { action: 'accept', content: { name: 'Ann' } } }
  const second = await call(handler, { name: 'ask', inputResponses, requestState: 'asked' })
  expect(await second.text()).toContain('Ann')
})

test.each([{ sendsProgress: false }, { sendsProgress: true }])(
  'a client that disconnects ends its call, with and without earlier progress: $sendsProgress',
  async ({ sendsProgress }) => {
    let begun = (): void => undefined
    const started = new Promise<void>((resolve) => {
      begun = resolve
    })
    let end: (reason: unknown) => void
    const ended = new Promise((resolve) => {
      end = resolve
    })
    const waiting = defineToolbox({ name: 'shop', version: '1.0.0' }).tool('wait', {}, async (_input, { signal, progress }) => {
      if (sendsProgress) await progress(1)
      begun()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      end(signal.reason)
    })
    await using handler = createHandler(waiting)
    const client = new AbortController()
    const response = call(handler, { name: 'wait', _meta: { progressToken: 1 } }, { signal: client.signal })
    await started
    client.abort()
    expect(await ended).toMatchObject({ reason: 'call_cancelled' })
    // The reply ends although it is not read.
    await (await response).text()
  },
)

test('disconnecting a principal ends its calls', async () => {
  const begun: string[] = []
  const waiting = defineToolbox({ name: 'shop', version: '1.0.0' }).tool('wait', {}, async (_input, { signal, principal }) => {
    begun.push(principal?.id ?? '')
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  })
  await using handler = createHandler(waiting, { authenticate: ({ headers }) => ({ id: headers.get('x-own') ?? '' }) })
  const left = new AbortController()
  const [ann, bob] = ['ann', 'bob'].map((id) =>
    call(handler, { name: 'wait' }, { headers: { 'x-own': id }, signal: left.signal }),
  )
  await vi.waitUntil(() => begun.length === 2, { timeout: 120_000 })
  await handler.disconnect((principal) => principal?.id === 'ann')
  expect(await (await ann)?.text()).toContain('cancelled')
  expect(await Promise.race([bob, Promise.resolve('still running')])).toBe('still running')
  left.abort()
  await (await bob)?.text()
})

test('closing a handler ends its calls', async () => {
  let begun = (): void => undefined
  const started = new Promise<void>((resolve) => {
    begun = resolve
  })
  const waiting = defineToolbox({ name: 'shop', version: '1.0.0' }).tool('wait', {}, async (_input, { signal }) => {
    begun()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  })
  const handler = createHandler(waiting)
  onTestFinished(() => handler.close())
  const response = call(handler, { name: 'wait' })
  await started
  await handler.close()
  expect(await (await response).text()).toContain('cancelled')
})

test.each([
  { what: 'another name in the header', headers: { 'mcp-name': 'count' } },
  { what: 'another method in the header', headers: { 'mcp-method': 'tools/list' } },
  { what: 'another revision in the header', headers: { 'mcp-protocol-version': '2025-11-25' } },
])('$what is rejected, and no tool runs', async ({ headers }) => {
  let calls = 0
  const counting = defineToolbox({ name: 'shop', version: '1.0.0' }).tool('greet', {}, () => `${++calls}`)
  await using handler = createHandler(counting)
  const response = await call(handler, { name: 'greet' }, { headers })
  expect(response.status).toBe(400)
  expect(calls).toBe(0)
})

test.each([
  { what: 'a plain call', params: { name: 'greet', arguments: { name: 'Ann' } }, count: 0 },
  { what: 'a call whose handler reads its headers', params: { name: 'knows_more' }, count: 1 },
])('$what creates web-standard requests: $count', async ({ params, count }) => {
  await using handler = createHandler(toolbox())
  const request = requestFor(params)
  let requests = 0
  const exchange: Exchange = {
    ...toExchange(request),
    request() {
      requests++
      return request
    },
  }
  expect((await handler.handle(exchange)).status).toBe(200)
  expect(requests).toBe(count)
})
