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

/** A turn of the timers: what was to happen soon has happened. */
const turn = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Scopes whose view is the state of the moment, and what each was told. */
function watched(count = 1) {
  const catalogState = { state: 0, now: 0 }
  const announcer = new Announcer(
    () => String(catalogState.state),
    () => catalogState.now,
  )
  const told = Array.from({ length: count }, (): number[] => [])
  for (const [index, list] of told.entries()) {
    const scope = new Scope(`s${index}`, new ActivationState(`s${index}`, nothing), settings)
    announcer.attach(scope, async () => void list.push(catalogState.state))
  }
  return { catalogState, announcer, told }
}

describe('notices of what changes all the time', () => {
  test('come soon the first time', async () => {
    const { catalogState, announcer, told } = watched()
    catalogState.state = 1
    announcer.notifyPaced(1_000_000)
    await expect.poll(() => told).toEqual([[1]])
    announcer.close()
  })

  test('do not come again before the floor, however often they are asked for', async () => {
    const { catalogState, announcer, told } = watched(2)
    for (let state = 1; state <= 1_000; state++) {
      catalogState.state = state
      announcer.notifyPaced(1_000_000)
      if (state % 100 === 0) await turn()
    }
    await expect.poll(() => told.map((list) => list.length)).toEqual([1, 1])
    await turn(20)
    expect(told.map((list) => list.length)).toEqual([1, 1])
    announcer.close()
  })

  test('come again after the floor, with the last state, which is never lost', async () => {
    const { catalogState, announcer, told } = watched()
    catalogState.state = 1
    announcer.notifyPaced(1_000)
    await expect.poll(() => told).toEqual([[1]])
    catalogState.now = 1_000
    for (catalogState.state = 2; catalogState.state < 50; catalogState.state++) announcer.notifyPaced(1_000)
    await expect.poll(() => told).toEqual([[1, 50]])
    announcer.close()
  })

  test('tell of a change that came while one was being told', async () => {
    const catalogState = { state: 1, now: 0 }
    const announcer = new Announcer(
      () => String(catalogState.state),
      () => catalogState.now,
    )
    const told: number[] = []
    announcer.attach(new Scope('s', new ActivationState('s', nothing), settings), async () => {
      told.push(catalogState.state)
      if (catalogState.state > 3) return
      catalogState.state++
      catalogState.now += 10
      announcer.notifyPaced(10)
    })
    catalogState.state = 2
    announcer.notifyPaced(10)
    await expect.poll(() => told).toEqual([2, 3, 4])
    announcer.close()
  })

  test('are not sent when the view is again what it was', async () => {
    const { catalogState, announcer, told } = watched()
    catalogState.state = 1
    announcer.notifyPaced(1_000)
    catalogState.state = 0
    announcer.notifyPaced(1_000)
    await turn(20)
    expect(told).toEqual([[]])
    announcer.close()
  })

  test('wait for nobody: without a client no timer is set', async () => {
    const { catalogState, announcer, told } = watched(0)
    catalogState.state = 1
    announcer.notifyPaced(1)
    await turn(20)
    expect(told).toEqual([])
  })

  test('end with the server', async () => {
    const { catalogState, announcer, told } = watched()
    for (catalogState.state = 1; catalogState.state < 5; catalogState.state++) announcer.notifyPaced(1)
    announcer.close()
    await turn(20)
    expect(told).toEqual([[]])
  })

  test('are forgotten when the last client leaves, and come again for the next', async () => {
    const catalogState = { state: 0, now: 0 }
    const announcer = new Announcer(
      () => String(catalogState.state),
      () => catalogState.now,
    )
    const told: string[] = []
    const scopes = ['one', 'other'].map((key) => new Scope(key, new ActivationState(key, nothing), settings))
    for (const scope of scopes) {
      announcer.attach(scope, async () => void told.push(scope.key))
      catalogState.state++
      announcer.notifyPaced(1_000_000)
      announcer.detach(scope)
    }
    expect(told).toEqual([])
    announcer.attach(new Scope('last', new ActivationState('last', nothing), settings), async () => void told.push('last'))
    catalogState.state++
    announcer.notifyPaced(1_000_000)
    await expect.poll(() => told).toEqual(['last'])
    announcer.close()
  })

  test('leave other notices alone: those come at once', async () => {
    const { catalogState, announcer, told } = watched()
    catalogState.state = 1
    announcer.notifyPaced(1_000_000)
    await expect.poll(() => told).toEqual([[1]])
    catalogState.state = 2
    announcer.notifyPaced(1_000_000)
    announcer.notifySoon()
    await expect.poll(() => told).toEqual([[1, 2]])
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

  test('tells by itself, and only whom it concerns', async () => {
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

  test('keeps to the floor in a flood, and lists what is there at any moment', async () => {
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

  test('hears no more of facts once it is closed', async () => {
    const facts = new LiveFacts({ logs: 0, network: 0 })
    const toolbox = watching(facts, () => 0)
    const client = await testContext(toolbox)
    await toolbox.close()
    facts.set({ network: 1 })
    await turn(20)
    expect(client.listChanges).toBe(0)
  })

  test.each([0, -1, 1.5, Number.NaN])('refuses to wait %s milliseconds between notices', (notifyIntervalMs) => {
    expect(() => defineToolbox({ ...info, protocol: { notifyIntervalMs } })).toThrow(
      'protocol.notifyIntervalMs must be a whole number above 0',
    )
  })
})
