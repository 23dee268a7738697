import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'
import { expect, test, vi } from 'vitest'
import { defineToolbox } from '../toolbox.ts'
import { createHandler, type Handler } from '../transports/handler.ts'

const accept = 'application/json, text/event-stream'

test('a client that resumes a broken stream gets the missed events', async () => {
  const toolbox = defineToolbox({ name: 'resumable', version: '1.0.0' })
  const events: Event[] = []
  await using handler = createHandler(toolbox, { sessions: { eventStore: () => memoryEventStore(events) } })
  const session = await openSession(handler)
  const stream = await openStream(handler, session)
  toolbox.tool('first', { description: 'First' }, () => 'first')
  const lastEventId = /^id: (.+)$/m.exec((await stream.next()) ?? '')?.[1] ?? ''
  await stream.close()

  const before = events.length
  toolbox.tool('second', { description: 'Second' }, () => 'second')
  await vi.waitFor(() => expect(events.length).toBeGreaterThan(before), { timeout: 120_000 })
  const resumed = await openStream(handler, { ...session, 'last-event-id': lastEventId })
  expect(await resumed.next()).toContain('tools/list_changed')
  toolbox.tool('third', { description: 'Third' }, () => 'third')
  expect(await resumed.next()).toContain('tools/list_changed')
  await resumed.close()
})

async function openSession(handler: Handler): Promise<Record<string, string>> {
  const post = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
    handler.fetch(
      new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept, ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      }),
    )
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'client', version: '1' } }
  const response = await post({ id: 1, method: 'initialize', params })
  const session = { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' }
  await response.text()
  await post({ method: 'notifications/initialized' }, session)
  return session
}

async function openStream(handler: Handler, headers: Record<string, string>) {
  const response = await handler.fetch(new Request('http://127.0.0.1/mcp', { headers: { accept, ...headers } }))
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  return { next: async () => (await reader?.read())?.value, close: async () => reader?.cancel() }
}

interface Event {
  readonly stream: string
  readonly message: JSONRPCMessage
}

function memoryEventStore(events: Event[]): EventStore {
  return {
    storeEvent: async (stream, message) => String(events.push({ stream, message }) - 1),
    async replayEventsAfter(last, { send }) {
      const from = events[Number(last)]?.stream ?? ''
      for (const [index, { stream, message }] of events.entries()) {
        if (index > Number(last) && stream === from) await send(String(index), message)
      }
      return from
    },
  }
}
