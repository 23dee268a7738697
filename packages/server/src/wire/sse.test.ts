import type { EventStore } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { SseStream } from './sse.ts'

/** An event store that takes a turn of the event loop for each event. */
function storeOf(): EventStore {
  let last = 0
  return {
    storeEvent: async () => `${++last}`,
    replayEventsAfter: async () => 'stream',
  }
}

const notice = (data: string): string => JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data } })

test('a client that comes back before its old connection has ended keeps the new one', async () => {
  const stream = new SseStream({ id: 'stream', store: storeOf(), left: () => undefined })
  const old = stream.open().getReader()
  const body = stream.open()
  await old.cancel()
  expect(stream.isOpen).toBe(true)
  await stream.write(notice('after'))
  stream.close()
  expect(await new Response(body).text()).toContain('after')
})

test('closing takes effect for the connection that was open then, when everything sent before has been written', async () => {
  const stream = new SseStream({ id: 'stream', store: storeOf(), left: () => undefined })
  const first = stream.open()
  const written = stream.write(notice('before'))
  stream.close()
  await written
  expect(await new Response(first).text()).toContain('before')
  const second = stream.open()
  await Promise.resolve()
  expect(stream.isOpen).toBe(true)
  stream.close()
  expect(await new Response(second).text()).toBe('')
})
