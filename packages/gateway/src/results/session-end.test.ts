import { expect, test } from 'vitest'
import { SimulatedClock } from '../../test/simulated-clock.ts'
import { ownerOf } from './owner.ts'
import { releaseAtSessionEnd } from './session-end.ts'
import { ResultStore } from './store.ts'

const principal = { id: 'token:ada', token: 'ada' }
const text = { kind: 'text', text: 'x', characters: 1, sent: 0 } as const

function sessions(store: ResultStore) {
  const extend = releaseAtSessionEnd(store)
  return (scope: string): (() => void) => {
    const server: { onclose?: () => void } = {}
    extend({ server } as never, { scope, era: 'session', principal })
    return () => server.onclose?.()
  }
}

test('results that the sessions of a principal share are released with the last of them', () => {
  const store = new ResultStore(new SimulatedClock())
  const open = sessions(store)
  const [endFirst, endSecond] = [open('session:1'), open('session:2')]
  const shared = ownerOf({ principal, era: 'session', scope: 'principal:token:ada' })
  const handle = store.add(shared, text) ?? ''
  endFirst()
  endFirst()
  expect(store.get(shared, handle)).toBeDefined()
  endSecond()
  expect(store.releaseOf(shared, handle)).toBe('ended')
})

test('results of 2026-07-28 clients do not depend on any session', () => {
  const store = new ResultStore(new SimulatedClock())
  const end = sessions(store)('session:1')
  const stateless = ownerOf({ principal, era: 'stateless', scope: 'shared' })
  const handle = store.add(stateless, text) ?? ''
  end()
  expect(store.get(stateless, handle)).toBeDefined()
})
