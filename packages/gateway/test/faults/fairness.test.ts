import { describe, expect, test } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import type { TestClient } from '../../../server/src/testing/client.ts'
import { createToken } from '../../src/config/tokens.ts'
import { changing, served } from '../served.ts'

const [greedy, modest] = [createToken('greedy'), createToken('modest')]
const tokens = [greedy.record, modest.record]

/** Makes calls that never complete; `stop` cancels them. */
function endlessCalls(client: TestClient, count: number, name = 'box__wait') {
  const controller = new AbortController()
  const outcomes: string[] = []
  const calls = Array.from({ length: count }, async () => {
    const options = { signal: controller.signal, timeout: 600_000 }
    const result = await client.client.callTool({ name, arguments: {} }, options).catch(() => undefined)
    const [block] = result?.content ?? []
    outcomes.push(block?.type === 'text' ? block.text : 'cancelled')
  })
  return {
    /** Results so far, as text. */
    outcomes,
    async stop(): Promise<void> {
      controller.abort()
      await Promise.all(calls)
    },
  }
}

type Edge = Awaited<ReturnType<typeof served>>

const loadOf = (edge: Edge, server = 'box') => edge.gateway.upstreams.get(server)?.status.calls ?? { running: 0, waiting: 0 }

describe.each([
  ['two tokens', { tokens }, { token: greedy.token }, { token: modest.token }],
  ['two anonymous sessions', {}, {}, {}],
] as const)('with %s', (_, config, one, other) => {
  test('AT-R07-1: a client whose calls fill the slots and the queue of a server does not delay another client’s call', async () => {
    const box = changing({ concurrency: 8, queue: 40 })
    await using edge = await served({ mcpServers: { box }, ...config })
    await edge.ready('box')
    await using a = await edge.connect('', one)
    await using b = await edge.connect('', other)
    const calls = endlessCalls(a, 60)
    // Its share: three quarters of the slots and of the queue. The others are rejected at once.
    await until(() => calls.outcomes.length === 24, 'calls beyond the queue are refused')
    expect(loadOf(edge)).toEqual({ running: 6, waiting: 30 })
    expect(new Set(calls.outcomes)).toEqual(
      new Set([
        'The server "box" is busy: 6 of your calls are running and 30 are queued, which is your share. The tool was not called; wait for some of them to finish, then try again.',
      ]),
    )
    for (let each = 0; each < 5; each++) expect(await b.call('box__pid')).not.toMatchObject({ isError: true })
    expect(loadOf(edge)).toEqual({ running: 6, waiting: 30 })
    // Cancelled calls leave the queue.
    await calls.stop()
    await until(() => loadOf(edge).running + loadOf(edge).waiting === 0, 'the queue is empty')
  })
})

test('AT-R07-2: calls to a slow server do not use up the calls that a client may make to other servers', async () => {
  const limits = { calls: 16 }
  const slow = changing({ concurrency: 4, queue: 4 })
  await using edge = await served({ mcpServers: { slow, fast: changing() }, limits })
  await Promise.all([edge.ready('slow'), edge.ready('fast')])
  await using a = await edge.connect()
  await using b = await edge.connect()
  const calls = endlessCalls(a, 20, 'slow__wait')
  await until(() => loadOf(edge, 'slow').waiting === 3 && calls.outcomes.length === 14, 'its share of the slow server is used up')
  expect(await a.call('fast__pid')).not.toMatchObject({ isError: true })
  // All servers together have a limit too, with a share for each client.
  const more = endlessCalls(a, 10, 'fast__wait')
  await until(() => more.outcomes.length === 4, 'its share of all calls is used up')
  expect(more.outcomes[0]).toMatch(/^The gateway is busy: 12 of your calls are running or queued.*then try again\.$/u)
  expect(await b.call('fast__pid')).not.toMatchObject({ isError: true })
  await Promise.all([calls.stop(), more.stop()])
})

test('AT-R07-3: one token cannot take every session and subscription', async () => {
  await using edge = await served({ mcpServers: {}, tokens, limits: { sessions: 8, subscriptions: 8 } })
  const opened: TestClient[] = []
  for (let each = 0; each < 6; each++) opened.push(await edge.connect('', { token: greedy.token }))
  await expect(edge.connect('', { token: greedy.token })).rejects.toThrow(/Too many sessions of one client/u)
  opened.push(await edge.connect('', { token: modest.token }))
  const [a, b] = [
    await edge.connect('', { token: greedy.token, era: 'stateless' }),
    await edge.connect('', { token: modest.token, era: 'stateless' }),
  ]
  for (let each = 0; each < 6; each++) await a.client.listen({ toolsListChanged: true })
  await expect(a.client.listen({ toolsListChanged: true })).rejects.toThrow(/Too many subscriptions of one client/u)
  await b.client.listen({ toolsListChanged: true })
  await Promise.all([...opened, a, b].map((client) => client.close()))
})

const initialize = {
  method: 'POST',
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }),
}
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

test('AT-R07-4: forwarded addresses have shares, but only those that a trusted proxy forwards', async () => {
  const statuses = async (trustedProxies: readonly string[]): Promise<readonly number[]> => {
    await using edge = await served({ mcpServers: {}, limits: { sessions: 4 }, listen: { trustedProxies } })
    const all: number[] = []
    for (const address of [7, 7, 7, 7, 8])
      all.push(
        (await fetch(edge.url, { ...initialize, headers: { ...headers, 'x-forwarded-for': `198.51.100.${address}` } })).status,
      )
    return all
  }
  expect(await statuses(['127.0.0.1'])).toEqual([200, 200, 200, 429, 200])
  // Anyone can send the header.
  expect(await statuses(['192.0.2.0/24'])).toEqual([200, 200, 200, 200, 503])
})

test('AT-R07-5: rejected tokens are logged, counted and throttled, and a valid token never is', async () => {
  await using edge = await served({ mcpServers: {}, tokens, listen: { trustedProxies: ['127.0.0.1'] } })
  const knock = async (path: string, from: string, token?: string): Promise<Response> =>
    fetch(`${edge.origin}${path}`, {
      ...(path === '/mcp' ? initialize : {}),
      headers: { ...headers, 'x-forwarded-for': from, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    })
  const attacker = '198.51.100.7'
  for (let each = 0; each < 10; each++) {
    expect((await knock('/mcp', attacker, `unf_${each}`)).status).toBe(401)
    expect((await knock(each % 2 === 0 ? '/metrics' : '/api/status', attacker, `unf_${each}`)).status).toBe(401)
  }
  for (const path of ['/mcp', '/metrics', '/api/status'])
    for (const token of ['unf_wrong', undefined]) {
      const throttled = await knock(path, attacker, token)
      expect(throttled.status).toBe(429)
      expect(Number(throttled.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await throttled.text()).toMatch(/Too many rejected tokens from this address. Send a valid token/u)
    }
  expect((await knock('/mcp', attacker, greedy.token)).status).toBe(200)
  expect((await knock('/api/status', attacker, edge.admin)).status).toBe(200)
  expect((await knock('/mcp', '198.51.100.8')).status).toBe(401)
  const metrics = await (await edge.ask('/metrics', { token: edge.admin })).text()
  expect(metrics).toMatch(/^unfold_tokens_rejected_total\{status="401"\} 20$/mu)
  expect(metrics).toMatch(/^unfold_tokens_rejected_total\{status="429"\} 3$/mu)
  const warnings = edge.lines.filter((line) => line.includes('rejected from'))
  expect(warnings).toHaveLength(2)
  expect(warnings.join('')).toContain(attacker)
  expect(edge.lines.join('')).not.toContain('unf_')
})
