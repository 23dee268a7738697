import { expect, test } from 'vitest'
import { withLists } from './list-argument.ts'

test('a list can be sent as an array, as the JSON text of an array, or as one name', () => {
  const lists = (tools: unknown): unknown => withLists({ action: 'enable', tools }, ['tools'])
  expect(lists(['a', 'b'])).toEqual({ action: 'enable', tools: ['a', 'b'] })
  expect(lists('["a","b"]')).toEqual({ action: 'enable', tools: ['a', 'b'] })
  expect(lists(' [ "a" ] ')).toEqual({ action: 'enable', tools: ['a'] })
  expect(lists('a')).toEqual({ action: 'enable', tools: ['a'] })
  expect(lists('[a')).toEqual({ action: 'enable', tools: ['[a'] })
  expect(lists('')).toEqual({ action: 'enable', tools: [] })
})

test('values other than text are left to the schema', () => {
  for (const tools of [7, null, { a: 1 }]) expect(withLists({ tools }, ['tools'])).toEqual({ tools })
  expect(withLists({ query: '[1]' }, ['tools'])).toEqual({ query: '[1]' })
  for (const value of [undefined, null, 'tools']) expect(withLists(value, ['tools'])).toBe(value)
})
