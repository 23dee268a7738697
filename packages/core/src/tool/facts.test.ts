import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { Predicate, Snapshot } from './entry.ts'
import { evaluateDirectly, LiveFacts, memoizedEvaluate } from './facts.ts'

interface Buffers {
  readonly [name: string]: unknown
  readonly logs: number
  readonly network: number
  readonly page?: string
}

const fresh = () => new LiveFacts<Buffers>({ logs: 0, network: 0 })

describe('live facts', () => {
  test('start at version 0 with their initial values', () => {
    const facts = fresh()
    expect(facts.version).toBe(0)
    expect(facts.versionOf('logs')).toBe(0)
    expect(facts.read()).toEqual({ logs: 0, network: 0 })
    expect(facts.get('network')).toBe(0)
  })

  test('a change gives only the changed facts a new version', () => {
    const facts = fresh()
    facts.set({ logs: 1 })
    facts.set({ network: 2, logs: 3 })
    facts.set({ logs: 4 })
    expect([facts.version, facts.versionOf('logs'), facts.versionOf('network')]).toEqual([3, 3, 2])
    expect(facts.read()).toEqual({ logs: 4, network: 2 })
  })

  test('setting an equal value changes nothing and notifies no listener', () => {
    const facts = new LiveFacts<{ n: number; text: string }>({ n: Number.NaN, text: 'a' })
    let notifications = 0
    facts.subscribe(() => notifications++)
    const before = facts.read()
    facts.set({ n: Number.NaN, text: 'a' })
    facts.set({})
    expect([facts.version, notifications]).toEqual([0, 0])
    expect(facts.read()).toBe(before)
  })

  test('setting a fact to undefined for the first time is a change', () => {
    const facts = new LiveFacts<{ page?: string | undefined }>({})
    facts.set({ page: undefined })
    expect(facts.version).toBe(1)
    expect('page' in facts.read()).toBe(true)
    facts.set({ page: undefined })
    expect(facts.version).toBe(1)
  })

  test('a snapshot is immutable, and is the same object until something changes', () => {
    const facts = fresh()
    const before = facts.read()
    expect(facts.read()).toBe(before)
    facts.set({ logs: 1 })
    expect(before).toEqual({ logs: 0, network: 0 })
    expect(facts.read()).not.toBe(before)
    expect(() => Object.assign(before, { logs: 9 })).toThrow(TypeError)
  })

  test('setting facts together notifies once, after all have changed', () => {
    const facts = fresh()
    const seen: unknown[] = []
    facts.subscribe(() => seen.push(facts.read()))
    facts.set({ logs: 1, network: 1 })
    expect(seen).toEqual([{ logs: 1, network: 1 }])
  })

  test('an unsubscribed listener is not called; the others are', () => {
    const facts = fresh()
    const notifications: string[] = []
    const leave = facts.subscribe(() => notifications.push('one'))
    facts.subscribe(() => notifications.push('other'))
    facts.set({ logs: 1 })
    leave()
    leave()
    facts.set({ logs: 2 })
    expect(notifications).toEqual(['one', 'other', 'other'])
  })

  test('names of Object.prototype properties are ordinary facts', () => {
    const facts = new LiveFacts(JSON.parse('{"__proto__":1}') as Record<string, unknown>)
    expect(facts.get('constructor')).toBeUndefined()
    expect(facts.versionOf('constructor')).toBe(0)
    facts.set(JSON.parse('{"__proto__":2,"constructor":3}') as Record<string, unknown>)
    expect(JSON.stringify(facts.read())).toBe('{"__proto__":2,"constructor":3}')
    expect(facts.versionOf('__proto__')).toBe(1)
    expect(Object.getPrototypeOf(facts.read())).toBe(Object.prototype)
  })

  test('the compiler knows their names and types', () => {
    const facts = fresh()
    expectTypeOf(facts.get('logs')).toEqualTypeOf<number>()
    expectTypeOf(facts.read().logs).toEqualTypeOf<number>()
    const strict = new LiveFacts({ logs: 0 })
    // @ts-expect-error 'log' is not a fact
    strict.set({ log: 1 })
    // @ts-expect-error a number of logs is not a string
    strict.set({ logs: 'many' })
    expect(strict.versionOf('logs')).toBe(2)
  })
})

describe('cached predicates', () => {
  /** A predicate that counts its evaluations. */
  const counting = (ask: (snapshot: Snapshot) => boolean) => {
    const predicate = (snapshot: Snapshot): boolean => {
      counted.asked++
      return ask(snapshot)
    }
    const counted = Object.assign(predicate, { asked: 0 })
    return counted
  }

  const over = (facts: LiveFacts<Buffers>, isActive: Snapshot['isActive'] = () => false) => {
    const evaluate = memoizedEvaluate(facts)
    return (predicate: Predicate) => evaluate(predicate, { facts: facts.read(), isActive })
  }

  test('are evaluated again only if a fact that they read changed', () => {
    const facts = fresh()
    const ask = over(facts)
    const hasLogs = counting(({ facts: { logs } }) => (logs as number) > 0)
    expect([ask(hasLogs), ask(hasLogs)]).toEqual([false, false])
    facts.set({ network: 5 })
    expect(ask(hasLogs)).toBe(false)
    expect(hasLogs.asked).toBe(1)
    facts.set({ logs: 1 })
    expect([ask(hasLogs), ask(hasLogs)]).toEqual([true, true])
    expect(hasLogs.asked).toBe(2)
  })

  test('that return early are evaluated again if a fact that they read last changed', () => {
    const facts = fresh()
    const ask = over(facts)
    const both = counting((snapshot) => snapshot.facts.logs !== 0 && snapshot.facts.network !== 0)
    expect(ask(both)).toBe(false)
    facts.set({ network: 1 })
    expect(ask(both)).toBe(false)
    expect(both.asked).toBe(1)
    facts.set({ logs: 1 })
    expect(ask(both)).toBe(true)
    facts.set({ network: 0 })
    expect(ask(both)).toBe(false)
    expect(both.asked).toBe(3)
  })

  test('that read no fact are evaluated every time', () => {
    const ask = over(fresh())
    let isOpen = false
    const outside = counting(() => isOpen)
    expect(ask(outside)).toBe(false)
    isOpen = true
    expect(ask(outside)).toBe(true)
    expect(outside.asked).toBe(2)
  })

  test('that read the active groups are evaluated every time, even if they read facts too', () => {
    const facts = fresh()
    let active = false
    const ask = over(facts, () => active)
    const grouped = counting((snapshot) => snapshot.facts.logs === 0 && snapshot.isActive('files'))
    expect(ask(grouped)).toBe(false)
    active = true
    expect(ask(grouped)).toBe(true)
    expect(grouped.asked).toBe(2)
  })

  test.each<[string, (facts: Snapshot['facts']) => boolean]>([
    ['in', (facts) => 'page' in facts],
    ['Object.hasOwn', (facts) => facts.logs === 0 && Object.hasOwn(facts, 'page')],
    ['Object.keys', (facts) => Object.keys(facts).includes('page')],
    ['a spread', (facts) => Object.keys({ ...facts }).length === 3],
    ['destructuring', ({ logs, ...rest }) => logs === 0 && Object.keys(rest).length === 2],
  ])('that use %s notice a fact that did not exist before', (_, look) => {
    const facts = fresh()
    const ask = over(facts)
    const looking = counting((snapshot) => look(snapshot.facts))
    expect([ask(looking), ask(looking)]).toEqual([false, false])
    expect(looking.asked).toBe(1)
    facts.set({ page: 'home' })
    expect(ask(looking)).toBe(true)
  })

  test('that throw are not cached', () => {
    const facts = fresh()
    const ask = over(facts)
    const broken = counting((snapshot) => {
      if (snapshot.facts.logs === 0) throw new Error('not yet')
      return true
    })
    expect(() => ask(broken)).toThrow('not yet')
    expect(() => ask(broken)).toThrow('not yet')
    expect(broken.asked).toBe(2)
    facts.set({ logs: 1 })
    expect(ask(broken)).toBe(true)
  })

  test('that start to throw are not answered from the cache', () => {
    const facts = fresh()
    const ask = over(facts)
    const fragile = counting((snapshot) => {
      if (snapshot.facts.logs === 1) throw new Error('broke')
      return true
    })
    expect(ask(fragile)).toBe(true)
    facts.set({ logs: 1 })
    expect(() => ask(fragile)).toThrow('broke')
    facts.set({ logs: 2 })
    expect(ask(fragile)).toBe(true)
  })

  test('only true counts', () => {
    expect(evaluateDirectly((() => 'yes') as unknown as Predicate, { facts: {}, isActive: () => false })).toBe(false)
  })

  test('symbols are read without being facts', () => {
    const ask = over(fresh())
    const listed = counting(
      (snapshot) => !(Symbol.iterator in snapshot.facts) && Reflect.get(snapshot.facts, Symbol.iterator) === undefined,
    )
    expect([ask(listed), ask(listed)]).toEqual([true, true])
    expect(listed.asked).toBe(2)
  })

  test('always return the same as without a cache, whatever changes', () => {
    const names = ['a', 'b', 'c'] as const
    const predicates: readonly Predicate[] = [
      ({ facts }) => facts.a === 1,
      ({ facts }) => facts.a === 1 && facts.b === 1,
      ({ facts }) => facts.c === 1 || 'd' in facts,
      ({ facts }) => Object.keys(facts).length > 3,
      ({ facts }) => Object.values(facts).includes(2),
    ]
    const change = fc.dictionary(fc.constantFrom(...names, 'd', 'e'), fc.integer({ min: 0, max: 2 }), { maxKeys: 3 })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
        const facts = new LiveFacts<Record<string, number>>({ a: 0, b: 0, c: 0 })
        const evaluate = memoizedEvaluate(facts)
        for (const each of changes) {
          facts.set(each)
          const snapshot = { facts: facts.read(), isActive: () => false }
          for (const predicate of predicates) expect(evaluate(predicate, snapshot)).toBe(predicate(snapshot))
        }
      }),
    )
  })
})
