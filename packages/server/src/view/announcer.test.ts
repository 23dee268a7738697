import { describe, expect, test } from 'vitest'
import { defaultExposureSettings } from '../catalog/exposure-options.ts'
import { defineToolbox, LiveFacts } from '../index.ts'
import { ActivationState, Scope } from '../scope/scope.ts'
import { testContext } from '../testing/index.ts'
import { Announcer } from './announcer.ts'

const nothing = { groups: [], tools: [], tags: [], versions: {} }
const settings = {
  era: 'session',
  principal: undefined,
  preference: 'groups',
  exposureSettings: defaultExposureSettings,
  host: undefined,
  canActivate: false,
  readOnly: false,
  counts: true,
} as const

/** Lets pending timers run. */
const turn = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Scopes whose view is the current state, and the notifications of each. */
function watched(count = 1) {
  const catalogState = { state: 0, now: 0 }
  const announcer = new Announcer(
    () => String(catalogState.state),
    () => catalogState.now,
  )
  const notified = Array.from({ length: count }, (): number[] => [])
  for (const [index, list] of notified.entries()) {
    const scope = new Scope(`s${index}`, new ActivationState(`s${index}`, nothing), settings)
    announcer.attach(scope, async () => void list.push(catalogState.state))
  }
  return { catalogState, announcer, notified }
}

describe('notifications of frequent changes', () => {
  test('are sent soon the first time', async () => {
    const { catalogState, announcer, notified } = watched()
    catalogState.state = 1
    announcer.notifyPaced(1_000_000)
    await expect.poll(() => notified).toEqual([[1]])
    announcer.close()
  })

  test('are not sent again before the interval ends, however often they are requested', async () => {
    const { catalogState, announcer, notified } = watched(2)
    for (let state = 1; state <= 1_000; state++) {
      catalogState.state = state
      announcer.notifyPaced(1_000_000)
      if (state % 100 === 0) await turn()
    }
    await expect.poll(() => notified.map((list) => list.length)).toEqual([1, 1])
    await turn(20)
    expect(notified.map((list) => list.length)).toEqual([1, 1])
    announcer.close()
  })

  test('are sent again after the interval, with the latest state, which is never lost', async () => {
    const { catalogState, announcer, notified } = watched()
    catalogState.state = 1
    announcer.notifyPaced(1_000)
    await expect.poll(() => notified).toEqual([[1]])
    catalogState.now = 1_000
    for (catalogState.state = 2; catalogState.state < 50; catalogState.state++) announcer.notifyPaced(1_000)
    await expect.poll(() => notified).toEqual([[1, 50]])
    announcer.close()
  })

  test('include a change during a notification', async () => {
    const catalogState = { state: 1, now: 0 }
    const announcer = new Announcer(
      () => String(catalogState.state),
      () => catalogState.now,
    )
    const notified: number[] = []
    announcer.attach(new Scope('s', new ActivationState('s', nothing), settings), async () => {
      notified.push(catalogState.state)
      if (catalogState.state > 3) return
      catalogState.state++
      catalogState.now += 10
      announcer.notifyPaced(10)
    })
    catalogState.state = 2
    announcer.notifyPaced(10)
    await expect.poll(() => notified).toEqual([2, 3, 4])
    announcer.close()
  })

  test('are not sent if the view has its previous state again', async () => {
    const { catalogState, announcer, notified } = watched()
    catalogState.state = 1
    announcer.notifyPaced(1_000)
    catalogState.state = 0
    announcer.notifyPaced(1_000)
    await turn(20)
    expect(notified).toEqual([[]])
    announcer.close()
  })

  test('without a client set no timer', async () => {
    const { catalogState, announcer, notified } = watched(0)
    catalogState.state = 1
    announcer.notifyPaced(1)
    await turn(20)
    expect(notified).toEqual([])
  })

  test('end with the server', async () => {
    const { catalogState, announcer, notified } = watched()
    for (catalogState.state = 1; catalogState.state < 5; catalogState.state++) announcer.notifyPaced(1)
    announcer.close()
    await turn(20)
    expect(notified).toEqual([[]])
  })

  test('are dropped when the last client disconnects, and work for the next client', async () => {
    const catalogState = { state: 0, now: 0 }
    const announcer = new Announcer(
      () => String(catalogState.state),
      () => catalogState.now,
    )
    const notified: string[] = []
    const scopes = ['one', 'other'].map((key) => new Scope(key, new ActivationState(key, nothing), settings))
    for (const scope of scopes) {
      announcer.attach(scope, async () => void notified.push(scope.key))
      catalogState.state++
      announcer.notifyPaced(1_000_000)
      announcer.detach(scope)
    }
    expect(notified).toEqual([])
    announcer.attach(new Scope('last', new ActivationState('last', nothing), settings), async () => void notified.push('last'))
    catalogState.state++
    announcer.notifyPaced(1_000_000)
    await expect.poll(() => notified).toEqual(['last'])
    announcer.close()
  })

  test('do not delay other notifications', async () => {
    const { catalogState, announcer, notified } = watched()
    catalogState.state = 1
    announcer.notifyPaced(1_000_000)
    await expect.poll(() => notified).toEqual([[1]])
    catalogState.state = 2
    announcer.notifyPaced(1_000_000)
    announcer.notifySoon()
    await expect.poll(() => notified).toEqual([[1, 2]])
    announcer.close()
  })
})

describe('a server whose facts change', () => {
  const info = { name: 'browser', version: '1.0.0' }
  const watching = (facts: LiveFacts<{ logs: number; network: number }>, now: () => number, notifyIntervalMs?: number) =>
    defineToolbox({ ...info, facts, now, ...(notifyIntervalMs !== undefined && { protocol: { notifyIntervalMs } }) }).composite(
      'observe',
      {
        by: 'what',
        modes: {
          logs: { description: 'Logs', available: true, count: (at) => at.facts.logs },
          network: { description: 'Requests', available: (at) => at.facts.network > 0, count: (at) => at.facts.network },
        },
      },
      { logs: () => '', network: () => '' },
    )

  test('notifies by itself, and only affected clients', async () => {
    const facts = new LiveFacts({ logs: 0, network: 0 })
    const toolbox = watching(facts, () => 0)
    await using one = await testContext(toolbox)
    await using other = await testContext(toolbox, { era: 'stateless' })
    facts.set({ network: 1 })
    await expect.poll(() => [one.listChanges, other.listChanges]).toEqual([1, 1])
    facts.set({ network: 2, logs: 7 })
    await turn(20)
    expect([one.listChanges, other.listChanges]).toEqual([1, 1])
    await toolbox.close()
  })

  test('respects the interval in a flood, and always lists the current state', async () => {
    const facts = new LiveFacts({ logs: 0, network: 0 })
    const toolbox = watching(facts, () => 0, 1_000_000)
    await using client = await testContext(toolbox)
    const modes = () => client.tools()[0]?._meta?.available_modes
    for (let round = 0; round < 500; round++) {
      facts.set({ network: round % 2, logs: round })
      if (round % 50 === 0) await turn()
      expect(modes()).toEqual(round % 2 === 0 ? ['logs'] : ['logs', 'network'])
    }
    await turn(20)
    expect(client.listChanges).toBeLessThanOrEqual(1)
    await toolbox.close()
  })

  test('ignores facts once it is closed', async () => {
    const facts = new LiveFacts({ logs: 0, network: 0 })
    const toolbox = watching(facts, () => 0)
    const client = await testContext(toolbox)
    await toolbox.close()
    facts.set({ network: 1 })
    await turn(20)
    expect(client.listChanges).toBe(0)
  })

  test.each([0, -1, 1.5, Number.NaN])('rejects an interval of %s milliseconds', (notifyIntervalMs) => {
    expect(() => defineToolbox({ ...info, protocol: { notifyIntervalMs } })).toThrow(
      'protocol.notifyIntervalMs must be a whole number above 0',
    )
  })
})
