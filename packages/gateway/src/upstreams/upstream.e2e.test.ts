import { describe, expect, test } from 'vitest'
import { isAlive, until } from '../../../client/test/processes.ts'
import { server, watched } from '../../test/upstreams.ts'
import type { UpstreamConfig } from './config.ts'
import { UpstreamError } from './errors.ts'

const eras = ['session', '2026-07-28'] as const
const own = ['pid', 'put', 'remove', 'burst', 'wait', 'slowly']

describe.each(eras)('an upstream over stdio (%s)', (protocol) => {
  const changing = (config: Partial<UpstreamConfig> = {}): UpstreamConfig => ({
    target: server('toolbox.mjs'),
    protocol,
    ...config,
  })

  test('is followed: added, changed and removed tools are each emitted once', async () => {
    await using all = watched()
    await all.upstreams.apply({ up: changing() })
    await all.upstreams.ready
    expect(all.names('up')).toEqual(own)
    expect(all.upstreams.get('up')?.status).toMatchObject({ state: 'ready', announcesChanges: true, tools: own.length })
    await all.text('up', 'put', { name: 'extra' })
    await until(() => all.of('tools').length === 2, 'the new tool')
    await all.text('up', 'put', { name: 'extra', description: 'Does something else' })
    await until(() => all.of('tools').length === 3, 'the changed tool')
    await all.text('up', 'remove', { name: 'extra' })
    await until(() => all.of('tools').length === 4, 'the removed tool')
    const counts = all.of('tools').map(({ added, changed, removed }) => [added, changed, removed])
    expect(counts).toEqual([
      [own.length, 0, 0],
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ])
  })

  test('that changes twenty times in a burst is read at most twice, with one event', async () => {
    await using all = watched()
    await all.upstreams.apply({ up: changing() })
    await all.upstreams.ready
    await all.text('up', 'burst', { times: 20 })
    await until(() => all.names('up').length === own.length + 20, 'all tools of the burst')
    const [, ...changes] = all.of('tools')
    expect(changes).toHaveLength(1)
    expect(changes[0]).toMatchObject({ added: 20 })
    expect(changes[0]?.reads).toBeLessThanOrEqual(2)
  })

  test('that is killed fails its calls immediately with a message for the model, and reconnects with the same tools, without a change event', async () => {
    await using all = watched()
    await all.upstreams.apply({ up: changing() })
    await all.upstreams.ready
    const pid = Number(await all.text('up', 'pid'))
    const call = all.upstreams.call('up', 'wait', {})
    await until(() => all.hasPrinted('waiting'), 'the call is running')
    process.kill(pid, 'SIGKILL')
    const error = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(UpstreamError)
    expect(error).toMatchObject({ kind: 'died' })
    expect(String(error)).toContain('The server "up" ended (by SIGKILL) while "wait" was running')
    expect(all.names('up')).toEqual(own)
    // A call during the outage waits for the next connection.
    const again = Number(await all.text('up', 'pid'))
    expect(again).not.toBe(pid)
    await until(() => all.of('listed').length === 2, 'its tools were read again')
    expect(all.of('tools')).toHaveLength(1)
    expect(all.of('state').map(({ state }) => state)).toEqual(['starting', 'ready', 'reconnecting', 'ready'])
  })

  test('passes on progress and cancellation', async () => {
    await using all = watched()
    await all.upstreams.apply({ up: changing() })
    const steps: number[] = []
    await all.upstreams.call('up', 'slowly', {}, { onProgress: ({ progress }) => steps.push(progress) })
    expect(steps).toEqual([1, 2, 3])
    const stop = new AbortController()
    const call = all.upstreams.call('up', 'wait', {}, { signal: stop.signal })
    await until(() => all.hasPrinted('waiting'), 'the call is running')
    stop.abort()
    await expect(call).rejects.toMatchObject({ kind: 'cancelled' })
    await until(() => all.hasPrinted('aborted'), 'the server receives the cancellation')
  })

  test.skipIf(process.platform === 'win32')('that hangs is detected, and replaced by a working one', async () => {
    await using all = watched()
    await all.upstreams.apply({ up: changing({ pingMs: 200, pingTimeoutMs: 150 }) })
    await all.upstreams.ready
    const pid = Number(await all.text('up', 'pid'))
    process.kill(pid, 'SIGSTOP')
    await until(() => all.of('state').some(({ state }) => state === 'reconnecting'), 'it is detected')
    await all.reaches('up', 'ready')
    expect(Number(await all.text('up', 'pid'))).not.toBe(pid)
    await until(() => !isAlive(pid), 'the hanging process has exited')
  })
})

test('an upstream that stays away loses its tools after the grace period, with one notification, and gets them back with one more', async () => {
  await using all = watched()
  await all.upstreams.apply({ up: { target: server('toolbox.mjs', 'slow'), graceMs: 300, startTimeoutMs: 20_000 } })
  await all.upstreams.ready
  process.kill(Number(await all.text('up', 'pid')), 'SIGKILL')
  await until(() => all.names('up').length === 0, 'its tools are gone')
  await until(() => all.names('up').length === own.length, 'its tools are back')
  expect(all.of('tools').map(({ added, removed }) => [added, removed])).toEqual([
    [own.length, 0],
    [0, own.length],
    [own.length, 0],
  ])
})

test('an upstream that keeps exiting is restarted with growing delays', async () => {
  await using all = watched({ random: () => 0.5 })
  await all.upstreams.apply({ up: { target: server('toolbox.mjs', 'flapping') } })
  await until(() => all.of('state').filter(({ state }) => state === 'reconnecting').length >= 3, 'three exits')
  const delays = all.of('state').flatMap(({ retryInMs }) => (retryInMs === undefined ? [] : [retryInMs]))
  expect(delays.slice(0, 3)).toEqual([125, 250, 500])
  expect(all.upstreams.get('up')?.status.lastError).toContain('server "up" disconnected: node exited with code 4')
})

test('an upstream that cannot be started reports why, and calls do not wait for it', async () => {
  await using all = watched({ random: () => 1 })
  const up = { target: { command: 'there-is-no-such-command-as-this' } }
  await all.upstreams.apply({ up })
  await all.upstreams.ready
  await until(() => all.of('state').length >= 4, 'some attempts')
  expect(all.upstreams.get('up')?.status).toMatchObject({ state: 'failed', tools: 0, attempt: expect.any(Number) })
  expect(all.upstreams.get('up')?.status.lastError).toMatch(/^server "up" failed to start: .* Command not found/u)
  expect(
    all
      .of('state')
      .slice(1, 4)
      .map(({ attempt }) => attempt),
  ).toEqual([1, 2, 3])
  const stop = new AbortController()
  const call = all.upstreams.call('up', 'x', {}, { signal: stop.signal })
  stop.abort()
  await expect(call).rejects.toMatchObject({ kind: 'cancelled' })
})

test('an upstream that is not ready in time is given up, and its process ends', async () => {
  await using all = watched()
  await all.upstreams.apply({ up: { target: server('toolbox.mjs', 'slow', 'parent'), startTimeoutMs: 1_000 } })
  await all.reaches('up', 'failed')
  expect(all.upstreams.get('up')?.status.lastError).toMatch(
    /^server "up" failed to start: no response within 1 s\. .* increase "startTimeoutMs" \(1000\), or remove the server with "unfold remove up"\.$/u,
  )
  const grandchild = Number(all.of('stderr')[0]?.line.split(' ')[1])
  expect(grandchild).toBeGreaterThan(1)
  await until(() => !isAlive(grandchild), 'its child processes have exited')
})

describe('an idle upstream', () => {
  const known = [{ name: 'pid', inputSchema: { type: 'object' as const } }]

  test('lists its cached tools, starts on the first call, and becomes idle again', async () => {
    await using all = watched({ cachedTools: () => known })
    await all.upstreams.apply({ up: { target: server('toolbox.mjs'), start: 'lazy', idleStopMs: 200 } })
    await all.upstreams.ready
    expect(all.upstreams.get('up')?.state).toBe('idle')
    expect(all.names('up')).toEqual(['pid'])
    const pid = Number(await all.text('up', 'pid'))
    await until(() => all.names('up').length === own.length, 'its real tools')
    await all.reaches('up', 'idle')
    await until(() => !isAlive(pid), 'its process is gone')
    expect(all.names('up')).toEqual(own)
    expect(await all.upstreams.discoverTools('up')).toHaveLength(own.length)
  })

  test('is started once to learn its tools if nothing is cached', async () => {
    await using all = watched()
    await all.upstreams.apply({ up: { target: server('toolbox.mjs'), start: 'lazy' } })
    await all.upstreams.ready
    expect(all.names('up')).toEqual(own)
  })
})

test('calls above the concurrency limit of an upstream are queued, and above the queue limit rejected', async () => {
  await using all = watched()
  await all.upstreams.apply({ up: { target: server('toolbox.mjs'), concurrency: 1, queue: 1 } })
  const stop = new AbortController()
  const { signal } = stop
  const first = all.upstreams.call('up', 'wait', {}, { signal })
  const second = all.upstreams.call('up', 'pid', {})
  await expect(all.upstreams.call('up', 'pid', {})).rejects.toMatchObject({
    kind: 'busy',
    message: expect.stringContaining('1 calls are running and 1 are queued'),
  })
  stop.abort()
  await expect(first).rejects.toMatchObject({ kind: 'cancelled' })
  expect((await second).isError).toBe(false)
})

test('an upstream that sends twenty notifications at once is read at most twice, with one change event', async () => {
  await using all = watched()
  await all.upstreams.apply({ up: { target: server('raw.mjs', 'burst') } })
  await all.upstreams.ready
  await all.text('up', 'more')
  await until(() => all.names('up').length === 21, 'all tools of the burst')
  expect(all.of('list_changed')).toHaveLength(20)
  expect(all.of('tools').map(({ added }) => added)).toEqual([1, 20])
  expect(all.of('stderr').filter(({ line }) => line === 'list').length).toBeLessThanOrEqual(3)
})

test('an upstream that notifies without having declared listChanged is followed, with one warning', async () => {
  await using all = watched()
  await all.upstreams.apply({ up: { target: server('raw.mjs', 'undeclared') } })
  await all.upstreams.ready
  for (const total of [2, 3]) {
    await all.text('up', 'more')
    await until(() => all.names('up').length === total, `${total} tools`)
  }
  expect(all.of('list_changed').every(({ isDeclared }) => !isDeclared)).toBe(true)
  expect(all.of('warning').filter(({ message }) => message.includes('without declaring tools.listChanged'))).toHaveLength(1)
})

test('an upstream without change notifications is polled', async () => {
  await using all = watched()
  await all.upstreams.apply({ up: { target: server('raw.mjs', 'silent'), sweepMs: 200 } })
  await all.upstreams.ready
  await all.text('up', 'more')
  await until(() => all.names('up').length === 2, 'the new tool')
  expect(all.of('list_changed')).toHaveLength(0)
})

test('an upstream that answers every list with another notification is slowed down and reported, and still followed', async () => {
  await using all = watched()
  await all.upstreams.apply({ up: { target: server('raw.mjs', 'throttled') } })
  await until(() => all.of('throttled').length === 1, 'it is reported')
  expect(all.upstreams.get('up')?.status.throttleMs).toBeGreaterThan(0)
  await all.text('up', 'more')
  await until(() => all.names('up').length === 2, 'the new tool')
})

test('an upstream without tools is ready with an empty list', async () => {
  await using all = watched({ cachedTools: () => [{ name: 'old', inputSchema: { type: 'object' } }] })
  await all.upstreams.apply({ up: { target: server('raw.mjs', 'empty') } })
  await until(() => all.of('listed').length === 1, 'its tools were read')
  expect(all.names('up')).toEqual([])
})

test('a failed tools/list is retried, and calls still work', async () => {
  await using all = watched({ pace: { initialRetryMs: 20 } })
  await all.upstreams.apply({ up: { target: server('raw.mjs', 'unlisted') } })
  await until(() => all.of('list_failed').length >= 2, 'two attempts')
  expect(all.of('list_failed')[0]?.error).toContain('not today')
  expect(all.upstreams.get('up')?.status).toMatchObject({
    state: 'degraded',
    lastError: 'server "up" is ready, tools/list failed: not today (-32603)',
  })
  await all.upstreams.ready
  expect(Number(await all.text('up', 'any'))).toBeGreaterThan(1)
  await expect(all.upstreams.discoverTools('up')).rejects.toThrow('not today')
})

test('an upstream whose tools/list works again is ready, and no longer degraded', async () => {
  await using all = watched({ pace: { initialRetryMs: 20 } })
  await all.upstreams.apply({ up: { target: server('raw.mjs', 'reluctant') } })
  await until(() => all.names('up').length === 1, 'its tool')
  expect(all.of('state').map(({ state }) => state)).toEqual(['starting', 'ready', 'degraded', 'ready'])
  const { state, lastError } = all.upstreams.get('up')?.status ?? {}
  expect({ state, lastError }).toEqual({ state: 'ready', lastError: undefined })
})

test('an error message of an upstream keeps its line breaks', async () => {
  await using all = watched()
  await all.upstreams.apply({ up: { target: server('raw.mjs', 'failing') } })
  await expect(all.upstreams.call('up', 'more', {})).rejects.toMatchObject({
    kind: 'failed',
    message: 'The server "up" failed to run "more": line one\nline two\n  indented',
  })
})

test('an upstream that ignores pings counts as lost; a busy one does not', async () => {
  await using all = watched()
  const mute = { target: server('raw.mjs', 'mute'), pingMs: 100, pingTimeoutMs: 50 }
  await all.upstreams.apply({ mute, busy: { target: server('toolbox.mjs'), pingMs: 100, pingTimeoutMs: 1 } })
  await all.reaches('busy', 'ready')
  const stop = new AbortController()
  const call = all.upstreams.call('busy', 'wait', {}, { signal: stop.signal })
  await until(() => all.of('state').some(({ upstream, state }) => upstream === 'mute' && state === 'reconnecting'), 'it is lost')
  stop.abort()
  await expect(call).rejects.toMatchObject({ kind: 'cancelled' })
})
