import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isWhole, responseOf } from '../wire/exchange.ts'
import { ReplyStream } from './reply-stream.ts'

const notice: JSONRPCMessage = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
const result: JSONRPCMessage = { jsonrpc: '2.0', id: 1, result: {} }
const event = (message: JSONRPCMessage): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`

const answered = () => {
  const client = new AbortController()
  const gone = (left: () => void): void => client.signal.addEventListener('abort', left)
  return { client, answer: new ReplyStream({ ids: [1], headers: { 'mcp-session-id': 's1' }, gone, form: 'json' }) }
}

const end = (answer: ReplyStream): void => void answer.respond(1, [JSON.stringify(result)])

async function textOf({ reply }: ReplyStream): Promise<string> {
  const given = await reply
  return (isWhole(given) ? responseOf(given) : given).text()
}

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

describe('a reply', () => {
  test('is in one piece when its result is the first thing sent', async () => {
    const { answer } = answered()
    end(answer)
    expect(await answer.reply).toMatchObject({
      status: 200,
      parts: [JSON.stringify(result)],
      headers: { 'mcp-session-id': 's1' },
    })
  })

  test('is a stream when something is sent before its result', async () => {
    const { answer } = answered()
    void answer.send(notice)
    const reply = await answer.reply
    expect(isWhole(reply)).toBe(false)
    end(answer)
    expect(await textOf(answer)).toBe(event(notice) + event(result))
  })

  test('becomes a stream that is kept alive when its result takes long', async () => {
    const { answer } = answered()
    vi.advanceTimersByTime(31_000)
    expect(isWhole(await answer.reply)).toBe(false)
    end(answer)
    expect(await textOf(answer)).toBe(`: keepalive\n\n${event(result)}`)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('to a request that was cancelled is empty, and nothing can follow', async () => {
    const { answer } = answered()
    void answer.respond(1)
    void answer.send(notice)
    end(answer)
    expect(await textOf(answer)).toBe('')
  })

  test('ends when its client is gone, before and after it became a stream', async () => {
    const early = answered()
    early.client.abort()
    expect(await textOf(early.answer)).toBe('')
    const late = answered()
    void late.answer.send(notice)
    late.client.abort()
    expect(await textOf(late.answer)).toBe(event(notice))
    expect(vi.getTimerCount()).toBe(0)
  })

  test('that nobody reads to its end keeps no timer', async () => {
    const { answer } = answered()
    void answer.send(notice)
    const reply = await answer.reply
    if (!isWhole(reply)) await reply.body?.cancel()
    expect(vi.getTimerCount()).toBe(0)
    end(answer)
  })
})
