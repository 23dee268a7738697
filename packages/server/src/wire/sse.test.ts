import { expect, test } from 'vitest'
import { type EventLog, maxUnreadBytes, SseStream } from './sse.ts'

/** Stores asynchronously. */
function asyncLog(): EventLog {
  let last = 0
  return { add: async () => `${++last}` }
}

const notification = (data: string): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data } })

test('a client that reconnects before its old connection ended keeps the new one', async () => {
  const stream = new SseStream({ id: 'stream', log: asyncLog(), onDisconnect: () => undefined })
  const old = stream.open().getReader()
  const body = stream.open()
  await old.cancel()
  expect(stream.isOpen).toBe(true)
  await stream.write(notification('after'))
  stream.close()
  expect(await new Response(body).text()).toContain('after')
})

test('closing ends only the current connection, after all pending writes', async () => {
  const stream = new SseStream({ id: 'stream', log: asyncLog(), onDisconnect: () => undefined })
  const first = stream.open()
  const written = stream.write(notification('before'))
  stream.close()
  await written
  expect(await new Response(first).text()).toContain('before')
  const second = stream.open()
  await Promise.resolve()
  expect(stream.isOpen).toBe(true)
  stream.close()
  expect(await new Response(second).text()).toBe('')
})

test('a stream that is not read is ended, for any server', async () => {
  let disconnects = 0
  const stream = new SseStream({ id: 'stream', onDisconnect: () => disconnects++ })
  const body = stream.open()
  const large = notification('x'.repeat(maxUnreadBytes + 1))
  await stream.write(large)
  expect(stream.isOpen).toBe(true)
  await stream.write(large)
  expect({ isOpen: stream.isOpen, disconnects }).toEqual({ isOpen: false, disconnects: 1 })
  await expect(new Response(body).text()).rejects.toThrow('The client does not read its stream.')
})
