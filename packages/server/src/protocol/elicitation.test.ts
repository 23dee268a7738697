import { expect, test } from 'vitest'
import { defineToolbox } from '../toolbox.ts'
import { createHandler } from '../transports/handler.ts'

test('an elicitation goes to the stream of its call, so it reaches a client without a standalone stream', async () => {
  const toolbox = defineToolbox({ name: 'asking', version: '1.0.0' }).tool(
    'ask',
    { description: 'Asks' },
    async (_, { elicit }) => {
      const reply = await elicit({ message: 'Sure?', requestedSchema: { type: 'object', properties: {} } })
      return reply?.action ?? 'no reply'
    },
  )
  await using handler = createHandler(toolbox)
  const post = (body: object, headers: Record<string, string> = {}) =>
    handler.fetch(
      new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      }),
    )
  const initialize = {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'client', version: '1' },
  }
  const opened = await post({ id: 1, method: 'initialize', params: initialize })
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  await opened.text()
  await post({ method: 'notifications/initialized' }, session)

  const call = await post({ id: 2, method: 'tools/call', params: { name: 'ask' } }, session)
  const events = call.body?.pipeThrough(new TextDecoderStream()).getReader()
  const question = JSON.parse((await events?.read())?.value?.split('data: ')[1] ?? '')
  expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'Sure?' } })
  await post({ id: question.id, result: { action: 'decline' } }, session)
  expect((await events?.read())?.value).toContain('decline')
})
