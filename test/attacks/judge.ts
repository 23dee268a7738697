import { reasons } from '@unfold-mcp/server'
import { expect } from 'vitest'
import type { Outcome } from './attack.ts'
import type { Message, RawAnswer } from './raw.ts'
import { textOf } from './sender.ts'

const reasonMeta = 'io.github.unfold-mcp/reason'

/** Checks an HTTP response against the expected outcome. */
export function judgeHttp(answer: RawAnswer | undefined, expected: Outcome): void {
  if (expected.kind === 'dropped') {
    expect(answer?.messages ?? []).toEqual([])
    if (expected.status !== undefined) expect(answer?.status).toBe(expected.status)
    return
  }
  if (answer === undefined) throw new Error('The socket was closed without an answer.')
  if (expected.kind === 'ignored') expect(answer).toMatchObject({ status: 202, body: '' })
  if (expected.kind === 'rejected' && expected.status !== undefined) expect(answer.status).toBe(expected.status)
  judge(answer.messages, expected)
}

/** Checks the received messages against the expected outcome. */
export function judge(messages: readonly Message[], expected: Outcome): void {
  const responses = messages.filter((message) => message.method === undefined)
  if (expected.kind === 'ignored' || expected.kind === 'dropped') {
    expect(responses).toEqual([])
    return
  }
  expect(responses).toHaveLength(1)
  if (expected.kind === 'rejected') judgeRejection(responses[0], expected)
  else judgeResult(responses[0], expected)
}

function judgeResult(message: Message | undefined, expected: Extract<Outcome, { kind: 'answered' | 'failed' }>): void {
  expect(message?.error).toBeUndefined()
  const text = textOf(message) || JSON.stringify(message?.result)
  if (expected.matches !== undefined) expect(text).toMatch(expected.matches)
  if (expected.kind === 'answered') expect(message?.result?.isError).not.toBe(true)
  else expect(message?.result).toMatchObject({ isError: true, _meta: { [reasonMeta]: expected.reason } })
}

function judgeRejection(message: Message | undefined, expected: Extract<Outcome, { kind: 'rejected' }>): void {
  const { code, reason, id, matches } = expected
  expect(message?.error).toMatchObject({ code, message: expect.stringMatching(/\S/u) })
  if (reason !== undefined) {
    expect(message?.error?.data).toMatchObject({ reason })
    expect(reasons).toHaveProperty(reason)
  }
  if (id !== undefined) expect(message?.id).toBe(id)
  if (matches !== undefined) expect(message?.error?.message).toMatch(matches)
}
