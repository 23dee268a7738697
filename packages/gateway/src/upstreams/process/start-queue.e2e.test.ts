import { availableParallelism } from 'node:os'
import type { ProcessState } from '@unfold-mcp/client'
import { systemClock } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { server } from '../../../test/upstreams.ts'
import { StartQueue } from './start-queue.ts'

const silent = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] }
const atOnce = Math.max(2, availableParallelism())

test('servers that never become ready delay the others only briefly', async () => {
  const starts = new StartQueue({ clock: systemClock })
  const stop = new AbortController()
  const pids: number[] = []
  const onProcess = (pid: number, phase: ProcessState): void => {
    if (phase === 'started') pids.push(pid)
  }
  const stuck = Array.from({ length: 2 * atOnce }, () =>
    starts.open(silent, { signal: stop.signal, onProcess }).catch(() => 'given up'),
  )
  await using quick = await starts.open(server('toolbox.mjs'), { onProcess })
  expect((await quick.tools()).length).toBeGreaterThan(0)
  expect(pids).toHaveLength(stuck.length + 1)
  stop.abort()
  expect(await Promise.all(stuck)).toEqual(stuck.map(() => 'given up'))
})

test('a start that is cancelled while queued never happens', async () => {
  const starts = new StartQueue({ clock: systemClock })
  const stop = new AbortController()
  let started = 0
  const onProcess = (): void => {
    started++
  }
  const others = Array.from({ length: atOnce }, () => starts.open(silent, { signal: stop.signal }).catch(() => 'given up'))
  const later = new AbortController()
  const waiting = starts.open(server('toolbox.mjs'), { signal: later.signal, onProcess })
  later.abort(new Error('not needed'))
  await expect(waiting).rejects.toThrow('not needed')
  stop.abort()
  await Promise.all(others)
  expect(started).toBe(0)
})

test('a server that is not awaited starts only after the deferral, unless a caller starts to wait for it', async () => {
  let isCalm: () => void = () => undefined
  const deferStartsUntil = new Promise<void>((resolve) => {
    isCalm = resolve
  })
  const starts = new StartQueue({ clock: systemClock, deferStartsUntil })
  const awaited = new Set<string>(['first'])
  const begun: string[] = []
  const open = (name: string) =>
    starts.open(
      server('toolbox.mjs'),
      { onProcess: (_pid, phase) => phase === 'started' && begun.push(name) },
      { isAwaited: () => awaited.has(name), hasAnswered: false, wasKnown: false, onPhase: () => undefined },
    )
  const [third, second, first] = ['third', 'second', 'first'].map(open)
  await using _first = await first
  expect(begun).toEqual(['first'])
  awaited.add('second')
  starts.review()
  await using _second = await second
  expect(begun).toEqual(['first', 'second'])
  isCalm()
  await using _third = await third
  expect(begun).toEqual(['first', 'second', 'third'])
})
