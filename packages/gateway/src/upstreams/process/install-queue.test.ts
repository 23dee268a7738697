import { expect, test } from 'vitest'
import { SimulatedClock } from '../../../test/simulated-clock.ts'
import { watched } from '../../../test/upstreams.ts'
import { InstallQueue } from './install-queue.ts'

interface Entering {
  readonly folder: string
  readonly isAwaited: boolean
  readonly signal: AbortSignal
}

/** Installations by name, in the order in which they started, each with a function that ends it. */
function installations() {
  const clock = new SimulatedClock()
  const installs = new InstallQueue(clock)
  const begun: string[] = []
  const queued: string[] = []
  const ends = new Map<string, () => void>()
  const enter = async (name: string, { folder = '', isAwaited = false, signal }: Partial<Entering> = {}): Promise<void> => {
    try {
      ends.set(name, await installs.enter({ folder, isAwaited: () => isAwaited, queued: () => queued.push(name), signal }))
      begun.push(name)
    } catch {
      queued.push(`${name} gave up`)
    }
  }
  return { clock, begun, queued, enter, end: (name: string) => ends.get(name)?.() }
}

test('two servers are installed at once, and an awaited one comes next', async () => {
  const { clock, begun, queued, enter, end } = installations()
  for (const name of ['a', 'b', 'c']) void enter(name)
  void enter('d', { isAwaited: true })
  await clock.run(0)
  expect({ begun, queued }).toEqual({ begun: ['a', 'b'], queued: ['c', 'd'] })
  end('a')
  end('a')
  await clock.run(0)
  expect(begun).toEqual(['a', 'b', 'd'])
})

test('one folder has at most one installation at a time', async () => {
  const { clock, begun, enter, end } = installations()
  void enter('a', { folder: '/x' })
  void enter('b', { folder: '/x' })
  void enter('c', { folder: '/y' })
  await clock.run(0)
  expect(begun).toEqual(['a', 'c'])
  await clock.run(600_000)
  expect(begun).toEqual(['a', 'c'])
  end('a')
  await clock.run(600_000)
  expect(begun).toEqual(['a', 'c', 'b'])
})

test('an installation of more than a minute no longer blocks others, and an aborted one leaves the queue', async () => {
  const { clock, begun, queued, enter } = installations()
  const stop = new AbortController()
  for (const name of ['a', 'b']) void enter(name)
  void enter('c', { signal: stop.signal })
  void enter('d')
  stop.abort()
  void enter('e', { signal: stop.signal })
  await clock.run(59_000)
  expect(begun).toEqual(['a', 'b'])
  await clock.run(60_000)
  expect(begun).toEqual(['a', 'b', 'd'])
  expect(queued).toEqual(['c', 'd', 'c gave up', 'e gave up'])
})

test('progress is emitted while a server is being installed', async () => {
  const clock = new SimulatedClock()
  const all = watched({
    clock,
    open: (_target, _options, { onPhase }) => {
      onPhase('queued')
      clock.after(5_000, () => onPhase('installing'))
      clock.after(50_000, () => onPhase('starting'))
      return new Promise(() => undefined)
    },
  })
  await all.upstreams.apply({ up: { target: { command: 'npx', args: ['x'] } } })
  await clock.run(1_000)
  expect(all.upstreams.get('up')?.status).toMatchObject({ state: 'starting', isQueued: true, attempt: 1 })
  const refused = all.upstreams.call('up', 'x', {}).catch((error: unknown) => String(error))
  await clock.run(47_000)
  expect(all.upstreams.get('up')?.status).toMatchObject({ state: 'installing', forMs: 42_000, attempt: 1 })
  expect(all.of('installing').map(({ ms }) => ms)).toEqual([15_000, 30_000])
  expect(await refused).toContain(
    'The server "up" is being installed (26 s so far). The tool was not called; try again in a minute.',
  )
  await clock.run(51_000)
  expect(all.of('installed')).toMatchObject([{ ms: 45_000 }])
  expect(all.upstreams.get('up')?.state).toBe('starting')
})
