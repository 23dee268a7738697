import type { Tool } from '@unfold-mcp/core'
import { describe, expect, test } from 'vitest'
import { Identities, stateIdentity } from './identities.ts'

const tool = (name: string, description = ''): Tool => ({ name, description, inputSchema: { type: 'object' } })
const [one, two, three] = [tool('one'), tool('two'), tool('three')]

test('the identity of a list is computed once per basis', () => {
  const identities = new Identities('definitions')
  const key = {}
  const first = identities.ofTools(key, [one])
  // The list is identified by its key, so its contents are not read again.
  expect(identities.ofTools(key, [two])).toBe(first)
  expect(identities.ofTools({}, [two])).not.toBe(first)
  expect(identities.ofTools(key, [one], 'names')).not.toBe(first)
  expect(identities.ofTools(key, [one])).toBe(first)
})

test('added, removed and changed tools since a list are returned; another object with the same definition is not a change', () => {
  const identities = new Identities('definitions')
  identities.remember('ann', 'a', [one, two])
  expect(identities.since('ann', 'a', [{ ...one }, tool('two', 'changed'), three])).toEqual({
    added: [three],
    changed: [tool('two', 'changed')],
    removed: [],
  })
  expect(identities.since('ann', 'a', [])).toEqual({ added: [], changed: [], removed: ['one', 'two'] })
  const counted = { ...one, _meta: { count: 1 } }
  expect(identities.since('ann', 'a', [counted, two])).toEqual({ added: [], changed: [], removed: [] })
})

describe('lists are remembered', () => {
  test('for the reader that received them and no other', () => {
    const identities = new Identities('definitions')
    identities.remember('ann', 'a', [one])
    expect(identities.since('bob', 'a', [one])).toBeUndefined()
    expect(identities.since('ann', 'b', [one])).toBeUndefined()
  })

  test('until the reader is forgotten', () => {
    const identities = new Identities('definitions')
    identities.remember('ann', 'a', [one])
    identities.remember('bob', 'a', [one])
    identities.forget('ann')
    identities.forget('nobody')
    expect(identities.since('ann', 'a', [one])).toBeUndefined()
    expect(identities.since('bob', 'a', [one])).toBeDefined()
  })

  test('only the newest 64 of a reader; one that is sent again counts as new', () => {
    const identities = new Identities('definitions')
    for (let i = 0; i < 64; i++) identities.remember('ann', `list ${i}`, [one])
    identities.remember('ann', 'list 0', [one])
    identities.remember('ann', 'list 64', [one])
    expect(identities.since('ann', 'list 0', [one])).toBeDefined()
    expect(identities.since('ann', 'list 1', [one])).toBeUndefined()
    expect(identities.since('ann', 'list 2', [one])).toBeDefined()
  })

  test('for the newest thousand readers only; one that lists again counts as new', () => {
    const identities = new Identities('definitions')
    for (let i = 0; i < 1_000; i++) identities.remember(`reader ${i}`, 'a', [one])
    identities.remember('reader 0', 'a', [one])
    identities.remember('reader 1000', 'a', [one])
    expect(identities.since('reader 0', 'a', [one])).toBeDefined()
    expect(identities.since('reader 1', 'a', [one])).toBeUndefined()
    expect(identities.since('reader 2', 'a', [one])).toBeDefined()
  })

  test('for fewer readers if the lists are long', () => {
    const identities = new Identities('definitions')
    const long = Array.from({ length: 1_000_000 }, () => one)
    for (let i = 0; i < 5; i++) identities.remember(`reader ${i}`, 'a', long)
    expect(identities.since('reader 0', 'a', [one])).toBeUndefined()
    for (let i = 1; i < 5; i++) expect(identities.since(`reader ${i}`, 'a', [one])).toBeDefined()
    // A list that is sent again uses no more space, and a forgotten one frees its space.
    identities.remember('reader 4', 'a', long)
    identities.forget('reader 1')
    identities.remember('reader 5', 'a', long)
    for (let i = 2; i < 6; i++) expect(identities.since(`reader ${i}`, 'a', [one])).toBeDefined()
  })
})

test('the stateful form depends on the list and on the state, and is missing if the state is not JSON', () => {
  const id = stateIdentity('a', { groups: ['files'], facts: { n: 1 } })
  expect(stateIdentity('a', { facts: { n: 1 }, groups: ['files'] })).toBe(id)
  expect(stateIdentity('b', { groups: ['files'], facts: { n: 1 } })).not.toBe(id)
  expect(stateIdentity('a', { groups: ['files'], facts: { n: 2 } })).not.toBe(id)
  expect(stateIdentity('a', { n: 1n })).toBeUndefined()
})
