import { createToken } from '@unfold-mcp/gateway'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { common, exchange, type Headers, head } from './raw.ts'
import { ask, callTool, type HttpSession, openSession, textOf } from './sender.ts'
import { gatewayTarget, type HttpTarget } from './target.ts'

const { token, record } = createToken('someone')
const metricsToken = createToken('prometheus', { role: 'metrics' })
const authorization = { authorization: `Bearer ${token}` }
const text = 'x'.repeat(100_000)
const waiting = { timeout: 60_000, interval: 20 }

let target: HttpTarget
beforeAll(async () => {
  target = await gatewayTarget({ tokens: [record, metricsToken.record], results: { maxCharacters: 1_000 } })
})
afterAll(() => target[Symbol.asyncDispose]())

const storedBytes = async (): Promise<number> => {
  const bytes = head('GET', '/metrics', { ...common, authorization: `Bearer ${metricsToken.token}` })
  const answer = await exchange(target.port, [{ bytes }])
  return Number(/^unfold_stored_result_bytes (\d+)$/mu.exec(answer?.body ?? '')?.[1] ?? Number.NaN)
}

/** Calls a tool whose result is truncated; returns the handle of the rest. */
async function truncated(session: HttpSession): Promise<string> {
  const answer = await ask(target.port, session, 'tools/call', { name: 'echo', arguments: { text } })
  return /"handle":"([^"]+)"/u.exec(textOf(answer?.messages[0]))?.[1] ?? ''
}

const end = (headers: Headers): Promise<unknown> =>
  exchange(target.port, [{ bytes: head('DELETE', '/mcp', { ...common, ...headers }) }])

test('AT-R08-1: the truncated results of a session are released when it ends, and read_result explains it', async () => {
  const before = await storedBytes()
  const [first, second] = [await openSession(target.port, authorization), await openSession(target.port, authorization)]
  const handle = await truncated(first)
  const kept = await truncated(second)
  expect(await storedBytes()).toBeGreaterThan(before + 400_000)
  await end(first.headers)
  expect(await storedBytes()).toBeLessThan(before + 300_000)
  const read = (asked: string) => ask(target.port, second, 'tools/call', { name: 'read_result', arguments: { handle: asked } })
  expect(textOf((await read(handle))?.messages[0])).toBe(
    'This result was removed when the session that received it ended. Call the tool again.',
  )
  expect(textOf((await read(kept))?.messages[0])).toContain('xxx')
  await end(second.headers)
  expect(await storedBytes()).toBe(before)
})

test('AT-R08-2: a result that arrives after its session ended is not stored', async () => {
  const before = await storedBytes()
  const session = await openSession(target.port, authorization)
  const calls = Array.from({ length: 20 }, () => truncated(session))
  await end(session.headers)
  await Promise.all(calls)
  // Calls of the same server are in order, so the ones above have returned.
  expect(textOf((await callTool(target.port, 'ping', {}, authorization))?.messages[0])).toBe('pong')
  await vi.waitFor(async () => expect(await storedBytes()).toBe(before), waiting)
})
