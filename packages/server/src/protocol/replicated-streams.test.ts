import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server'
import { expect, test, vi } from 'vitest'
import { MemorySessions } from '../../test/memory-sessions.ts'
import { defineToolbox } from '../toolbox.ts'
import { createHandler, type Handler } from '../transports/handler.ts'

const wait = { timeout: 120_000 }
const interval = 5_000

/** Opens a subscription stream of a 2026-07-28 client, and counts the changes of its list. */
async function subscribed(handler: Handler) {
  const _meta = {
    [PROTOCOL_VERSION_META_KEY]: '2026-07-28',
    [CLIENT_INFO_META_KEY]: { name: 'test', version: '1.0.0' },
    [CLIENT_CAPABILITIES_META_KEY]: {},
  }
  const response = await handler.fetch(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: { notifications: { toolsListChanged: true }, _meta },
      }),
    }),
  )
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  const stream = { text: '' }
  const done = (async () => {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      stream.text += decoder.decode(piece.value, { stream: true })
  })()
  await vi.waitFor(() => expect(stream.text).not.toBe(''), wait)
  return {
    get changes() {
      return stream.text.split('"notifications/tools/list_changed"').length - 1
    },
    async close() {
      await reader.cancel()
      await done
    },
  }
}

test('AT-M14-2: a 2026-07-28 client whose list may come from a replica that lagged behind is notified once more', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const sessions = new MemorySessions()
  const toolbox = defineToolbox({ name: 'shop', version: '1.0.0' }).tool('find', { description: 'Finds' }, () => 'found')
  const handler = createHandler(toolbox, { sessions: { store: sessions.replica('a') } })
  try {
    const stream = await subscribed(handler)
    toolbox.tool('order', { description: 'Orders' }, () => 'ordered')
    await vi.waitFor(() => expect(stream.changes).toBe(1), wait)
    // The other replica has the new tools at the latest when it compares.
    await vi.advanceTimersByTimeAsync(interval)
    expect(stream.changes).toBe(1)
    await vi.advanceTimersByTimeAsync(interval)
    await vi.waitFor(() => expect(stream.changes).toBe(2), wait)
    await vi.advanceTimersByTimeAsync(4 * interval)
    expect(stream.changes).toBe(2)
    await stream.close()
  } finally {
    vi.useRealTimers()
    await handler.close()
    await toolbox.close()
  }
})

test('a single server notifies once per change', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const toolbox = defineToolbox({ name: 'shop', version: '1.0.0' }).tool('find', { description: 'Finds' }, () => 'found')
  const handler = createHandler(toolbox)
  try {
    const stream = await subscribed(handler)
    toolbox.tool('order', { description: 'Orders' }, () => 'ordered')
    await vi.waitFor(() => expect(stream.changes).toBe(1), wait)
    await vi.advanceTimersByTimeAsync(4 * interval)
    expect(stream.changes).toBe(1)
    await stream.close()
  } finally {
    vi.useRealTimers()
    await handler.close()
    await toolbox.close()
  }
})
