import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimateTokens, toolTokens } from './tokens.ts'
import type { Tool } from './tool.ts'

describe('the estimate of a text', () => {
  test.each([
    ['nothing', '', 0],
    ['a word', 'issue', 1],
    ['a long word', 'authentication', 2],
    ['words joined by case', 'createNewIssue', 3],
    ['words joined by marks', 'create_new_issue', 4],
    ['a number', '1234567', 3],
    ['words', 'read a file', 3],
    ['JSON', '{"type":"object"}', 5],
    ['capitals', 'HTTP TRYNDAMERE', 4],
    ['a space', ' ', 0],
    ['many spaces', '     ', 1],
    ['Japanese', '大きさ', 3],
    ['an emoji', '\u{1f600}', 2],
  ])('of %s', (_, text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens)
  })

  test('is deterministic, an integer, and never more than one per code unit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const tokens = estimateTokens(text)
        expect(estimateTokens(text)).toBe(tokens)
        expect(Number.isInteger(tokens)).toBe(true)
        expect(tokens).toBeGreaterThanOrEqual(0)
        expect(tokens).toBeLessThanOrEqual(text.length)
      }),
    )
  })

  test('never shrinks when text is added', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, more) => {
        expect(estimateTokens(text + more)).toBeGreaterThanOrEqual(estimateTokens(text))
      }),
    )
  })
})

describe('the cost of a tool', () => {
  const small: Tool = { name: 'now', inputSchema: { type: 'object' } }

  test('is that of its definition as JSON', () => {
    expect(toolTokens(small)).toBe(estimateTokens('{"name":"now","inputSchema":{"type":"object"}}'))
  })

  test('grows with its description', () => {
    expect(toolTokens({ ...small, description: 'The time now' })).toBeGreaterThan(toolTokens(small))
  })

  test('does not depend on live counts in _meta', () => {
    expect(toolTokens({ ...small, _meta: { count: 1000 } })).toBe(toolTokens(small))
  })

  test('is deterministic', () => {
    expect(toolTokens(small)).toBe(toolTokens(small))
  })
})
