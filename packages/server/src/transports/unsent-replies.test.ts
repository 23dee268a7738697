import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { SlowClient } from './slow-client.ts'
import { UnsentReplies } from './unsent-replies.ts'

const mebibyte = 1024 * 1024

function tracked(options: { readonly stallTimeoutMs?: number; readonly maxUnsentBytes?: number }) {
  let now = 0
  const slow: (readonly [number, SlowClient['reason']])[] = []
  const onSlowClient = ({ address, reason }: SlowClient): void => void slow.push([Number(address.split(':')[1]), reason])
  const replies = new UnsentReplies({ ...options, onSlowClient }, () => now)
  let port = 0
  return {
    replies,
    slow,
    /** Advances the clock; calls `step` and checks after each step. */
    pass: (ms: number, stepMs: number, step: () => void = () => undefined): void => {
      for (const end = now + ms; now < end; ) {
        now += stepMs
        step()
        replies.check()
      }
    },
    reply: (bytes: number, { hasSocket = true } = {}) => {
      const socket = { remoteAddress: '127.0.0.1', remotePort: ++port, resetAndDestroy: () => response.emit('close') }
      const response = Object.assign(new EventEmitter(), { socket: hasSocket ? socket : null })
      const reply = replies.track({ socket } as unknown as IncomingMessage, response as unknown as ServerResponse)
      reply.add(bytes)
      return reply
    },
  }
}

test('a client that accepts nothing is disconnected after the timeout; one that accepts a little is not', () => {
  const { replies, reply, pass, slow } = tracked({ stallTimeoutMs: 30_000 })
  reply(mebibyte)
  const reading = reply(mebibyte)
  pass(29_000, 1_000, () => reading.accept(1_000))
  expect(slow).toEqual([])
  pass(1_000, 1_000)
  expect(slow).toEqual([[1, 'stalled']])
  expect(replies.bytes).toBe(mebibyte - 29_000)
})

test('an event stream that was silent for long is not stalled when it sends again', () => {
  const { reply, pass, slow } = tracked({ stallTimeoutMs: 30_000 })
  const stream = reply(10)
  stream.accept(10)
  pass(60_000, 1_000)
  stream.add(10)
  pass(29_000, 1_000)
  expect(slow).toEqual([])
})

test('above the limit only slow clients are disconnected, the one without progress for the longest time first', () => {
  const { replies, reply, pass, slow } = tracked({ maxUnsentBytes: 6 * mebibyte, stallTimeoutMs: 60_000 })
  const [fast, drip] = [reply(4 * mebibyte), reply(2 * mebibyte)]
  reply(2 * mebibyte)
  reply(2 * mebibyte)
  pass(1_000, 100, () => {
    fast.accept(100_000)
    drip.accept(100)
  })
  expect(slow).toEqual([
    [3, 'unsent'],
    [4, 'unsent'],
  ])
  expect(replies.bytes).toBeLessThanOrEqual(6 * mebibyte)
})

test('a client that reads slowly without ever stalling is disconnected above the limit', () => {
  const { reply, pass, slow } = tracked({ maxUnsentBytes: mebibyte })
  const drip = reply(2 * mebibyte)
  pass(3_000, 100, () => drip.accept(1_000))
  expect(slow).toEqual([[1, 'unsent']])
})

test('above twice the limit, others are disconnected at once', () => {
  const { replies, reply, slow } = tracked({ maxUnsentBytes: mebibyte })
  reply(mebibyte)
  reply(5 * mebibyte)
  expect(slow).toEqual([[1, 'unsent']])
  expect(replies.bytes).toBe(5 * mebibyte)
})

test('a reply that waits for an earlier reply on its connection is not stalled, but counts', () => {
  const { replies, reply, pass, slow } = tracked({ stallTimeoutMs: 1_000, maxUnsentBytes: 3 * mebibyte })
  reply(2 * mebibyte, { hasSocket: false })
  pass(5_000, 500)
  expect({ slow, bytes: replies.bytes }).toEqual({ slow: [], bytes: 2 * mebibyte })
  reply(2 * mebibyte, { hasSocket: false })
  pass(2_000, 500)
  expect(slow).toEqual([[1, 'unsent']])
})
