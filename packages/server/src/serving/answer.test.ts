import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Answer } from './answer.ts'
import { isWhole, responseOf } from './exchange.ts'

const notice: JSONRPCMessage = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
const result: JSONRPCMessage = { jsonrpc: '2.0', id: 1, result: {} }
const event = (message: JSONRPCMessage): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`

const answered = () => {
  const client = new AbortController()
  return { client, answer: new Answer('s1', (left) => client.signal.addEventListener('abort', left)) }
}

async function textOf({ reply }: Answer): Promise<string> {
  const given = await reply
  return (isWhole(given) ? responseOf(given) : given).text()
}

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

describe('an answer', () => {
  test('is in one piece when its result is the first thing sent', async () => {
    const { answer } = answered()
    answer.end(result)
    expect(await answer.reply).toMatchObject({ status: 200, parts: [event(result)], headers: { 'mcp-session-id': 's1' } })
  })

  test('is a stream when something is sent before its result', async () => {
    const { answer } = answered()
    answer.send(notice)
    const reply = await answer.reply
    expect(isWhole(reply)).toBe(false)
    answer.end(result)
    expect(await textOf(answer)).toBe(event(notice) + event(result))
  })

  test('becomes a stream that is kept alive when its result takes long', async () => {
    const { answer } = answered()
    vi.advanceTimersByTime(31_000)
    expect(isWhole(await answer.reply)).toBe(false)
    answer.end(result)
    expect(await textOf(answer)).toBe(`: keepalive\n\n: keepalive\n\n${event(result)}`)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('to a request that was cancelled is empty, and nothing can follow', async () => {
    const { answer } = answered()
    answer.end()
    answer.send(notice)
    answer.end(result)
    expect(await textOf(answer)).toBe('')
  })

  test('ends when its client is gone, before and after it became a stream', async () => {
    const early = answered()
    early.client.abort()
    expect(await textOf(early.answer)).toBe('')
    const late = answered()
    late.answer.send(notice)
    late.client.abort()
    expect(await textOf(late.answer)).toBe(event(notice))
    expect(vi.getTimerCount()).toBe(0)
  })

  test('that nobody reads to its end keeps no timer', async () => {
    const { answer } = answered()
    answer.send(notice)
    const reply = await answer.reply
    if (!isWhole(reply)) await reply.body?.cancel()
    expect(vi.getTimerCount()).toBe(0)
    answer.end(result)
  })
})
