import { describe, expect, test } from 'vitest'
import type { Clock } from '../time/clock.ts'
import { Exchange } from './exchange.ts'
import { ResponseStream, type Resumed } from './response-stream.ts'

const stream = (...chunks: readonly string[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Buffer.from(chunk))
      controller.close()
    },
  })

/** A clock that fires timers immediately and records their delays. */
function instantClock(): Clock & { readonly delays: readonly number[] } {
  const delays: number[] = []
  return {
    delays,
    now: () => 0,
    wallTime: () => 0,
    after(ms, run) {
      delays.push(ms)
      const timer = setImmediate(run)
      return () => clearImmediate(timer)
    },
  }
}

interface Opened {
  readonly first?: ReadableStream<Uint8Array>
  readonly resume?: (lastEventId: string, attempt: number) => Resumed
  readonly canResume?: boolean
}

function open({ first = stream(), resume = () => ({ kind: 'open', body: stream() }), canResume = true }: Opened) {
  const exchange = new Exchange({ jsonrpc: '2.0', id: 1, method: 'tools/call' }, undefined)
  exchange.lastEventId = 'e1'
  const clock = instantClock()
  const tokens: string[] = []
  const reasons: string[] = []
  const response = new ResponseStream(first, {
    exchange,
    clock,
    resume: canResume
      ? async (lastEventId) => {
          tokens.push(lastEventId)
          return resume(lastEventId, tokens.length)
        }
      : undefined,
    giveUp: (reason) => {
      reasons.push(reason)
      exchange.close()
    },
  })
  const read = async (): Promise<string> => {
    let text = ''
    for (let chunk = await response.next(); chunk !== undefined; chunk = await response.next())
      text += Buffer.from(chunk).toString()
    return text
  }
  return { exchange, clock, tokens, reasons, response, read }
}

describe('a response stream that ends before the response', () => {
  test('is resumed with increasing delays, at most 100 times', async () => {
    const { read, clock, tokens, reasons } = open({})
    await read()
    expect(clock.delays.slice(0, 7)).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000])
    expect(tokens).toHaveLength(100)
    expect(reasons).toEqual(['the response stream ended before the response, and 100 attempts to resume it did not bring it'])
  })

  test('is not resumed before the delay that the server requests, even if the field arrives in two chunks', async () => {
    for (const chunks of [['id: e1\nretry: 1500\ndata:\n\n'], ['id: e1\nret', 'ry: 1500\ndata:\n\n'], ['retry: 15', '00\n\n']]) {
      const { read, clock } = open({ first: stream(...chunks) })
      await read()
      expect(clock.delays.slice(0, 6)).toEqual([1_500, 1_500, 1_500, 2_000, 4_000, 5_000])
    }
  })

  test('waits as long as a rejected attempt requests, and no longer for text that looks like a field', async () => {
    const { read, clock } = open({
      first: stream('data: {"text":"retry: 9000\\n"}\n\n'),
      resume: (_id, attempt) => (attempt === 2 ? { kind: 'failed', retryAfterMs: 7_000 } : { kind: 'refused', reason: 'no' }),
    })
    await read()
    expect(clock.delays).toEqual([250])
    const second = open({
      resume: (_id, attempt) => (attempt === 1 ? { kind: 'failed', retryAfterMs: 7_000 } : { kind: 'refused', reason: 'no' }),
    })
    await second.read()
    expect(second.clock.delays).toEqual([250, 7_000])
    expect(second.reasons).toEqual(['no'])
  })

  test('is not resumed after the request has ended', async () => {
    const { read, exchange, tokens, reasons } = open({ resume: () => ({ kind: 'open', body: stream() }) })
    exchange.close()
    expect(await read()).toBe('')
    const second = open({
      resume: () => {
        second.exchange.close()
        return { kind: 'open', body: stream('data: late\n\n') }
      },
    })
    expect(await second.read()).toBe('')
    expect({ tokens, reasons, again: second.tokens }).toEqual({ tokens: [], reasons: [], again: ['e1'] })
  })

  test('continues without the event that was cut off', async () => {
    const rest = { kind: 'open', body: stream('id: e2\ndata: whole\n\n') } as const
    const { read, exchange } = open({
      first: stream('id: e2\ndata: wh'),
      resume: () => {
        exchange.isAnswered = true
        return rest
      },
    })
    expect(await read()).toBe('id: e2\ndata: wh\nid:\nevent: incomplete\n\nid: e2\ndata: whole\n\n')
  })

  test('fails at once if its revision cannot resume it', async () => {
    const { read, reasons } = open({ canResume: false })
    await read()
    expect(reasons).toEqual(['the connection broke before the response'])
  })
})

test('a response stream without event ids, or with the response, simply ends', async () => {
  const answered = open({})
  answered.exchange.isAnswered = true
  const anonymous = open({})
  anonymous.exchange.lastEventId = undefined
  for (const { read, tokens, reasons } of [answered, anonymous]) {
    await read()
    expect({ tokens, reasons }).toEqual({ tokens: [], reasons: [] })
  }
})
