import { getNodeValue } from 'jsonc-parser'
import { expect, test } from 'vitest'
import { parseJsonc } from './jsonc.ts'

const parsedOf = (text: string): unknown => {
  const parsed = parseJsonc(text)
  return 'root' in parsed ? getNodeValue(parsed.root) : parsed.problems
}

test('comments, trailing commas and a byte order mark are allowed', () => {
  expect(parsedOf('\uFEFF// first\n{ "a": [1, 2,], /* b */ "b": "//", }')).toEqual({ a: [1, 2], b: '//' })
})

test.each(['', ' \r\n\t', '\uFEFF'])('an empty text is reported as empty: %j', (text) => {
  expect(parsedOf(text)).toEqual([{ kind: 'empty', line: 1, column: 1 }])
})

test('a problem has its line and column, which a byte order mark does not shift', () => {
  const problems = [{ kind: 'syntax', line: 1, column: 10, detail: 'comma expected' }]
  expect(parsedOf('{ "a": 1 "b": 2 }')).toEqual(problems)
  expect(parsedOf('\uFEFF{ "a": 1 "b": 2 }')).toEqual(problems)
  expect(parsedOf('{\r\n  "a": 1\r\n  "b": 2\r\n}')).toEqual([{ kind: 'syntax', line: 3, column: 3, detail: 'comma expected' }])
})

test('every offset is mapped to its line and column', () => {
  const text = '{\n "a": 1,\n\n "b": 2\n}\n'
  const parsed = parseJsonc(text)
  if (!('positionOf' in parsed)) throw new Error('It has problems.')
  const { positionOf } = parsed
  for (let offset = 0; offset < text.length; offset++) {
    const before = text.slice(0, offset).split('\n')
    expect(positionOf(offset)).toEqual({ line: before.length, column: (before.at(-1) ?? '').length + 1 })
  }
})

test('a text nested too deeply is rejected before it can exhaust the stack', () => {
  expect(parsedOf('['.repeat(1_000_000))).toEqual([{ kind: 'too deep', line: 1, column: 1 }])
  expect(parseJsonc('[[[]]]', { maxDepth: 2 })).toEqual({ problems: [{ kind: 'too deep', line: 1, column: 1 }] })
  expect(parseJsonc('[["[[["]] // [[[', { maxDepth: 2 })).toHaveProperty('root')
})

test('no more than twenty problems are reported', () => {
  expect(parsedOf(`[${'? '.repeat(100)}]`)).toHaveLength(20)
})
