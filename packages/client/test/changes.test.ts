import type { Tool } from '@unfold-mcp/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../test/runs.ts'
import { connect } from '../src/connect.ts'
import type { Clock } from '../src/time/clock.ts'
import type { Change, Changes } from '../src/tools/changes.ts'
import { tap } from './counting-proxy.ts'
import { failure } from './failing.ts'
import { server, until } from './processes.ts'
import { changeable, serveOldSse, serveToolbox } from './servers.ts'

const names = (tools: readonly { readonly name: string }[]): readonly string[] => tools.map(({ name }) => name).sort()

const summary = ({ added, removed, changed }: Change) => ({
  added: names(added),
  removed: names(removed),
  changed: names(changed.map(({ after }) => after)),
})

async function next(changes: Changes): Promise<Change> {
  const { value, done } = await changes.next()
  if (done === true) throw new Error('There are no more changes.')
  return value
}

/** Reads changes until the list matches. */
async function reaches(changes: Changes, wanted: readonly string[]): Promise<void> {
  for (let i = 0; i < 50; i++) {
    const { tools } = await next(changes)
    if (names(tools).join() === [...wanted].sort().join()) return
  }
  throw new Error('The list was never that.')
}

describe.each(['session', '2026-07-28'] as const)('changes over HTTP (%s)', (protocol) => {
  test('report added, removed and changed tools', async () => {
    const { toolbox, put, remove } = changeable(2)
    await using http = await serveToolbox(toolbox)
    await using connection = await connect({ url: http.url }, { protocol })
    await using changes = connection.changes()
    await changes.ready
    put('new_one')
    expect(summary(await next(changes))).toEqual({ added: ['new_one'], removed: [], changed: [] })
    put('tool_0', 'Does otherwise')
    expect(summary(await next(changes))).toEqual({ added: [], removed: [], changed: ['tool_0'] })
    remove('tool_1')
    const last = await next(changes)
    expect(summary(last)).toEqual({ added: [], removed: ['tool_1'], changed: [] })
    expect(last.identity).toBe((await connection.identity())?.server_id)
    expect(await connection.tools()).toBe(last.tools)
  })

  test('start from the list read last, including changes before the subscription', async () => {
    const { toolbox, put } = changeable(1)
    await using http = await serveToolbox(toolbox)
    await using connection = await connect({ url: http.url }, { protocol })
    await connection.tools()
    put('meanwhile')
    await using changes = connection.changes()
    expect(summary(await next(changes))).toEqual({ added: ['meanwhile'], removed: [], changed: [] })
  })

  test('that arrive together, or while the reader is busy, are reported together', async () => {
    const { toolbox, put } = changeable(1)
    await using http = await serveToolbox(toolbox)
    await using connection = await connect({ url: http.url }, { protocol })
    await using changes = connection.changes()
    await changes.ready
    for (let i = 0; i < 50; i++) put(`more_${i}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const { tools } = await next(changes)
    expect(tools).toHaveLength(51)
  })

  test('survive a cut of every connection without losing a change', async () => {
    const { toolbox, put } = changeable(1)
    await using http = await serveToolbox(toolbox)
    await using wire = await tap(http.port)
    await using connection = await connect({ url: wire.url }, { protocol })
    await using changes = connection.changes()
    await changes.ready
    for (let i = 0; i < 3; i++) {
      wire.refuse(true)
      wire.cut()
      put(`while_down_${i}`)
      setTimeout(() => wire.refuse(false), 50)
      expect(summary(await next(changes))).toEqual({ added: [`while_down_${i}`], removed: [], changed: [] })
    }
  })

  test('survive a restart of the server', async () => {
    const before = changeable(1)
    const first = await serveToolbox(before.toolbox)
    await using wire = await tap(first.port)
    await using connection = await connect({ url: wire.url }, { protocol })
    await using changes = connection.changes()
    await changes.ready
    await first[Symbol.asyncDispose]()
    const after = changeable(2)
    await using second = await serveToolbox(after.toolbox)
    wire.leadTo(second.port)
    expect(summary(await next(changes))).toEqual({ added: ['tool_1'], removed: [], changed: [] })
    after.put('tool_2')
    expect(summary(await next(changes))).toEqual({ added: ['tool_2'], removed: [], changed: [] })
  })

  test('end when they or the connection are closed', async () => {
    const { toolbox } = changeable(1)
    await using http = await serveToolbox(toolbox)
    const connection = await connect({ url: http.url }, { protocol })
    const first = connection.changes()
    const second = connection.changes()
    await Promise.all([first.ready, second.ready])
    const waiting = [first.next(), second.next()]
    first.close()
    expect(await waiting[0]).toEqual({ done: true, value: undefined })
    await connection.close()
    expect(await waiting[1]).toEqual({ done: true, value: undefined })
    expect(await first.next()).toEqual({ done: true, value: undefined })
  })

  test('of a large list transfer only the difference', async () => {
    const { toolbox, put } = changeable(300, { exposure: 'everything' })
    await using http = await serveToolbox(toolbox)
    await using wire = await tap(http.port)
    await using connection = await connect({ url: wire.url }, { protocol })
    await connection.tools()
    await using changes = connection.changes()
    await changes.ready
    const whole = wire.received
    put('tool_7', 'Does otherwise')
    expect(summary(await next(changes))).toEqual({ added: [], removed: [], changed: ['tool_7'] })
    expect(wire.count('tools/list')).toBe(1)
    expect(wire.received - whole).toBeLessThan(whole / 5)
  })

  test('of a server that does not announce them are found by polling', async () => {
    const { toolbox, put } = changeable(1, { protocol: { listChanged: false } })
    await using http = await serveToolbox(toolbox)
    await using connection = await connect({ url: http.url }, { protocol })
    await using changes = connection.changes({ pollMs: 20 })
    await changes.ready
    put('unsaid')
    expect(summary(await next(changes))).toEqual({ added: ['unsaid'], removed: [], changed: [] })
  })
})

describe.each(['session', '2026-07-28'] as const)('changes of a process (%s)', (protocol) => {
  test('are reported', async () => {
    await using connection = await connect(server('two.mjs'), { protocol })
    await using changes = connection.changes()
    await changes.ready
    await connection.call('add', { name: 'later' })
    expect(summary(await next(changes))).toEqual({ added: ['later'], removed: [], changed: [] })
  })

  test('end with the exit reason of the process', async () => {
    await using connection = await connect(server('two.mjs'), { protocol })
    const changes = connection.changes()
    await changes.ready
    const waiting = failure(changes.next())
    process.kill(connection.pid ?? 0, 'SIGKILL')
    expect(await waiting).toMatchObject({ reason: 'server_died', details: { signal: 'SIGKILL' } })
    expect(await changes.next()).toEqual({ done: true, value: undefined })
  })
})

test('changes of a server built on the first SDK are reported', async () => {
  await using connection = await connect(server('one.mjs'))
  await using changes = connection.changes()
  await changes.ready
  await connection.call('add', { name: 'later' })
  expect(summary(await next(changes))).toEqual({ added: ['later'], removed: [], changed: [] })
})

test('changes of an HTTP+SSE server are reported, also after its stream was cut', async () => {
  await using http = await serveOldSse()
  await using wire = await tap(http.port, '/sse')
  await using connection = await connect({ url: wire.url, transport: 'sse' })
  await using changes = connection.changes()
  await changes.ready
  http.add('first')
  expect(summary(await next(changes))).toEqual({ added: ['first'], removed: [], changed: [] })
  const waiting = failure(connection.call('wait'))
  await until(() => wire.count('tools/call') === 1, 'the call')
  wire.cut()
  http.add('second')
  expect(await waiting).toMatchObject({ reason: 'unreachable' })
  expect(summary(await next(changes))).toEqual({ added: ['second'], removed: [], changed: [] })
})

test('following changes can be cancelled', async () => {
  const { toolbox } = changeable(1)
  const stop = new AbortController()
  await using connection = await connect({ server: toolbox })
  await using changes = connection.changes({ signal: stop.signal })
  await changes.ready
  const waiting = failure(changes.next())
  stop.abort()
  expect(await waiting).toMatchObject({ reason: 'cancelled' })
})

test('polling uses the injected clock', async () => {
  const timers = new Set<{ readonly ms: number; readonly run: () => void }>()
  const clock: Clock = {
    now: () => 0,
    wallTime: () => 0,
    after(ms, run) {
      // Every timer except the poll fires at once.
      if (ms !== 12_345) {
        const timer = setTimeout(run, Math.min(ms, 5_000))
        return () => clearTimeout(timer)
      }
      const timer = { ms, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
  }
  const { toolbox, put } = changeable(1, { protocol: { listChanged: false } })
  await using http = await serveToolbox(toolbox)
  await using wire = await tap(http.port)
  await using connection = await connect({ url: wire.url }, { clock })
  await using changes = connection.changes({ pollMs: 12_345 })
  await changes.ready
  put('unsaid')
  const waiting = next(changes)
  await until(() => timers.size === 1, 'the poll to be planned')
  const asked = wire.methods().length
  for (const timer of [...timers]) {
    timers.delete(timer)
    timer.run()
  }
  expect(summary(await waiting)).toEqual({ added: ['unsaid'], removed: [], changed: [] })
  expect(wire.methods().length).toBeGreaterThan(asked)
})

/** Canonical text of a list. */
const written = (tools: Iterable<Tool>): string =>
  [...tools]
    .map(({ name, description }) => `${name}: ${description}`)
    .sort()
    .join()

type Step = { readonly do: 'put' | 'remove' | 'cut' | 'wait'; readonly tool: number; readonly text: number }

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('put', 'put', 'remove', 'cut', 'wait'),
  tool: fc.integer({ min: 0, max: 4 }),
  text: fc.integer({ min: 0, max: 2 }),
})

test.each(['session', '2026-07-28'] as const)(
  'a follower converges to the list of the server under random faults (%s)',
  async (protocol) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const source = changeable(2)
        await using http = await serveToolbox(source.toolbox)
        await using wire = await tap(http.port)
        await using connection = await connect({ url: wire.url }, { protocol })
        const first = await connection.tools()
        await using changes = connection.changes({ settleMs: 0 })
        // The list as reconstructed from the first list and the changes.
        const known = new Map(first.map((tool) => [tool.name, tool]))
        const reading = (async () => {
          for await (const { added, removed, changed } of changes) {
            for (const { name } of removed) known.delete(name)
            for (const tool of [...added, ...changed.map(({ after }) => after)]) known.set(tool.name, tool)
          }
        })()
        for (const { do: what, tool, text } of steps) {
          if (what === 'put') source.put(`tool_${tool}`, `Does ${text}`)
          if (what === 'remove') source.remove(`tool_${tool}`)
          if (what === 'cut') wire.cut()
          if (what === 'wait') await new Promise((resolve) => setTimeout(resolve, 15))
        }
        const wanted = async (): Promise<string> => {
          await using fresh = await connect({ server: source.toolbox })
          return written(await fresh.tools())
        }
        const goal = await wanted()
        await until(() => written(known.values()) === goal, `the list to be ${goal}`)
        changes.close()
        await reading
      }),
      { ...propertyRuns({ long: 15, sample: 4 }), endOnFailure: true },
    )
  },
  120_000,
)

test('reading continues until the list matches', async () => {
  const { toolbox, put, names: there } = changeable(1)
  await using connection = await connect({ server: toolbox })
  await using changes = connection.changes()
  await changes.ready
  for (let i = 0; i < 5; i++) setTimeout(() => put(`late_${i}`), 10 * i)
  await reaches(changes, [...there(), ...Array.from({ length: 5 }, (_, i) => `late_${i}`)])
})
