import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isBuffered, toResponse } from '../wire/exchange.ts'
import { ReplyStream } from './reply-stream.ts'

const notification: JSONRPCMessage = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
const result: JSONRPCMessage = { jsonrpc: '2.0', id: 1, result: {} }
const event = (message: JSONRPCMessage): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`

const createReply = () => {
  const client = new AbortController()
  const onDisconnect = (listener: () => void): void => client.signal.addEventListener('abort', listener)
  return { client, stream: new ReplyStream({ ids: [1], headers: { 'mcp-session-id': 's1' }, onDisconnect, form: 'json' }) }
}

const end = (stream: ReplyStream): void => void stream.respond(1, [JSON.stringify(result)])

async function textOf({ reply }: ReplyStream): Promise<string> {
  const sent = await reply
  return (isBuffered(sent) ? toResponse(sent) : sent).text()
}

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

describe('a reply', () => {
  test('is buffered if its result comes first', async () => {
    const { stream } = createReply()
    end(stream)
    expect(await stream.reply).toMatchObject({
      status: 200,
      parts: [JSON.stringify(result)],
      headers: { 'mcp-session-id': 's1' },
    })
  })

  test('is a stream if another message comes first', async () => {
    const { stream } = createReply()
    void stream.send(notification)
    const reply = await stream.reply
    expect(isBuffered(reply)).toBe(false)
    end(stream)
    expect(await textOf(stream)).toBe(event(notification) + event(result))
  })

  test('becomes a stream with keep-alives if its result takes long', async () => {
    const { stream } = createReply()
    vi.advanceTimersByTime(31_000)
    expect(isBuffered(await stream.reply)).toBe(false)
    end(stream)
    expect(await textOf(stream)).toBe(`: keepalive\n\n${event(result)}`)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('to a cancelled request is empty, and ignores later messages', async () => {
    const { stream } = createReply()
    void stream.respond(1)
    void stream.send(notification)
    end(stream)
    expect(await textOf(stream)).toBe('')
  })

  test('ends when its client disconnects, before and after it became a stream', async () => {
    const early = createReply()
    early.client.abort()
    expect(await textOf(early.stream)).toBe('')
    const late = createReply()
    void late.stream.send(notification)
    late.client.abort()
    expect(await textOf(late.stream)).toBe(event(notification))
    expect(vi.getTimerCount()).toBe(0)
  })

  test('whose stream is cancelled leaves no timer', async () => {
    const { stream } = createReply()
    void stream.send(notification)
    const reply = await stream.reply
    if (!isBuffered(reply)) await reply.body?.cancel()
    expect(vi.getTimerCount()).toBe(0)
    end(stream)
  })
})
