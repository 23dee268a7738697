import { type Attributes, type Context, SpanKind, type SpanOptions, trace } from '@opentelemetry/api'
import { describe, expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { createToken } from '../src/config/tokens.ts'
import { changing, served } from './served.ts'
import { server } from './upstreams.ts'

const reasonMeta = 'io.github.unfold-mcp/reason'
const limited = { isError: true, _meta: { [reasonMeta]: 'rate_limited' } }

describe('a client that calls too often', () => {
  test('gets the time to wait, for any tool, and others are unaffected', async () => {
    await using edge = await served({ exposure: 'search', limits: { callsPerMinute: 3 }, mcpServers: { box: changing() } })
    await edge.ready('box')
    await using busy = await edge.connect()
    await using deferStartsUntil = await edge.connect()
    for (let time = 0; time < 2; time++) await busy.call('search_tools', { query: 'process' })
    expect(await busy.call('call_tool', { name: 'box__pid', arguments: {} })).not.toMatchObject({ isError: true })
    const refused = await busy.call('box__pid')
    expect(refused).toMatchObject({
      ...limited,
      content: [{ text: expect.stringMatching(/3 calls per minute.*again in \d+ s/u) }],
    })
    expect(await busy.call('search_tools', { query: 'process' })).toMatchObject(limited)
    expect(await deferStartsUntil.call('box__pid')).not.toMatchObject({ isError: true })
    expect(await (await edge.ask('/metrics')).text()).toMatch(/^unfold_calls_rate_limited_total 2$/mu)
  })

  test('gets no more calls with a second session or another profile of the same token', async () => {
    const [one, two] = [createToken('one'), createToken('two')]
    const profiles = { small: { servers: ['box'] } }
    const tokens = [one.record, two.record]
    await using edge = await served({ tokens, profiles, limits: { callsPerMinute: 2 }, mcpServers: { box: changing() } })
    await edge.ready('box')
    const asking = [
      await edge.connect('', { token: one.token }),
      await edge.connect('', { token: one.token, era: 'stateless' }),
      await edge.connect('/small', { token: one.token }),
      await edge.connect('', { token: two.token }),
    ]
    const answers: boolean[] = []
    for (const client of asking) answers.push((await client.call('box__pid')).isError === true)
    expect(answers).toEqual([false, false, true, false])
    for (const client of asking) await client.close()
  })
})

test('an overloaded server rejects further calls at once, and queued calls get their turn', async () => {
  await using edge = await served({ mcpServers: { box: changing({ concurrency: 1, queue: 1 }), other: changing() } })
  await Promise.all([edge.ready('box'), edge.ready('other')])
  await using client = await edge.connect()
  const calls = [1, 2].map(() => client.call('box__slowly', { ms: 1_000 }))
  const load = () => edge.gateway.upstreams.get('box')?.status.calls
  await until(() => load()?.running === 1 && load()?.waiting === 1, 'one runs and one waits')
  const refused = await client.call('box__pid')
  expect(refused).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/"box" is busy.*try again later/u) }],
  })
  expect(await client.call('other__pid')).not.toMatchObject({ isError: true })
  for (const answer of await Promise.all(calls)) expect(answer).toMatchObject({ content: [{ text: 'done' }] })
  expect(await edge.api('/calls')).toContainEqual(expect.objectContaining({ tool: 'pid', upstream: 'box', outcome: 'busy' }))
})

test('sessions and streams are limited by the configuration', async () => {
  await using edge = await served({
    limits: { sessions: 1, subscriptions: 1, bodyBytes: 2_000 },
    mcpServers: { box: changing() },
  })
  await using _first = await edge.connect()
  await expect(edge.connect()).rejects.toThrow(/Session limit reached \(1\)/u)
  await using listener = await edge.connect('', { era: 'stateless' })
  await listener.client.listen({ toolsListChanged: true })
  await expect(listener.client.listen({ toolsListChanged: true })).rejects.toThrow(/Subscription limit reached \(1\)/u)
  await expect(listener.call('box__put', { name: 'x'.repeat(3_000) })).rejects.toThrow(/exceeds 2000 bytes/u)
})

interface Seen {
  readonly name: string
  readonly kind: SpanKind | undefined
  readonly parent: string | undefined
  readonly own: string
  readonly attributes: Attributes
  isOver: boolean
}

/** The minimum that creates spans: what an SDK would do, without exporting them. */
function recordSpans(): readonly Seen[] {
  const seen: Seen[] = []
  const startSpan = (name: string, { kind, attributes = {} }: SpanOptions = {}, context?: Context) => {
    const above = context === undefined ? undefined : trace.getSpanContext(context)
    const own = (seen.length + 1).toString(16).padStart(16, '0')
    const record: Seen = { name, kind, parent: above?.spanId, own, attributes: { ...attributes }, isOver: false }
    seen.push(record)
    const span = {
      spanContext: () => ({ traceId: above?.traceId ?? 'c'.repeat(32), spanId: own, traceFlags: 1 }),
      setStatus: () => span,
      setAttribute: (key: string, value: string) => {
        record.attributes[key] = value
        return span
      },
      end: () => {
        record.isOver = true
      },
    }
    return span
  }
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) } as never)
  return seen
}

test('calls and discoveries are spans in the caller’s trace, which is forwarded to the server', async () => {
  const spans = recordSpans()
  await using edge = await served({ mcpServers: { mirror: server('mirror.mjs') } })
  await edge.ready('mirror')
  await using client = await edge.connect()
  const call = async (_meta: Record<string, unknown>): Promise<string> => {
    const { content } = await client.client.callTool({ name: 'mirror__show', arguments: {}, _meta })
    const [block] = content
    const { lines } = JSON.parse(block?.type === 'text' ? block.text : '{}') as { lines: readonly string[] }
    return lines.at(-1) ?? ''
  }
  const traceId = 'd'.repeat(32)
  const line = await call({ traceparent: `00-${traceId}-${'e'.repeat(16)}-01`, tracestate: 'vendor=1', baggage: 'user=ann' })
  const [answering, asking] = spans.filter(({ name }) => name === 'tools/call show')
  expect(answering).toMatchObject({ kind: SpanKind.SERVER, parent: 'e'.repeat(16), isOver: true })
  expect(asking).toMatchObject({ kind: SpanKind.CLIENT, parent: answering?.own, isOver: true })
  expect(line).toContain(`"traceparent":"00-${traceId}-${asking?.own}-01"`)
  expect(line).not.toContain('baggage')
  for (const traceparent of [
    '',
    'x',
    `00-${'0'.repeat(32)}-${'e'.repeat(16)}-01`,
    `ff-${traceId}-${'e'.repeat(16)}-01`,
    'y'.repeat(10_000),
    31_415_926_535,
  ])
    expect(await call({ traceparent })).not.toContain(String(traceparent || 'baggage'))
  expect((await client.client.callTool({ name: 'mirror__refuse', arguments: {} })).isError).toBe(true)
  expect(spans.at(-1)?.attributes).toMatchObject({ 'error.type': 'failed', 'gen_ai.tool.name': 'refuse' })
  expect(spans.find(({ name }) => name === 'tools/list mirror')).toMatchObject({
    isOver: true,
    attributes: { 'unfold.outcome': 'first' },
  })
  trace.disable()
})
