import { describe, expect, test } from 'vitest'
import { createStyle, plain, usesColour } from './style.ts'

describe('colours', () => {
  test.each<[string, boolean, Parameters<typeof usesColour>[0]]>([
    ['a terminal', true, { env: {}, isTerminal: true }],
    ['a pipe', false, { env: {}, isTerminal: false }],
    ['NO_COLOR', false, { env: { NO_COLOR: '1' }, isTerminal: true }],
    ['an empty NO_COLOR, which is ignored', true, { env: { NO_COLOR: '' }, isTerminal: true }],
    ['TERM=dumb', false, { env: { TERM: 'dumb' }, isTerminal: true }],
    ['FORCE_COLOR in a pipe', true, { env: { FORCE_COLOR: '1' }, isTerminal: false }],
    ['an empty FORCE_COLOR', true, { env: { FORCE_COLOR: '' }, isTerminal: false }],
    ['FORCE_COLOR=0', false, { env: { FORCE_COLOR: '0' }, isTerminal: true }],
    ['FORCE_COLOR over NO_COLOR', true, { env: { FORCE_COLOR: '1', NO_COLOR: '1' }, isTerminal: true }],
    ['--no-color over FORCE_COLOR', false, { env: { FORCE_COLOR: '1' }, isTerminal: true, flag: false }],
    ['--color over NO_COLOR', true, { env: { NO_COLOR: '1' }, isTerminal: false, flag: true }],
  ])('for %s: %s', (_, expected, system) => {
    expect(usesColour(system)).toBe(expected)
  })

  test('wrap the text', () => {
    const style = createStyle({ env: {}, isTerminal: true })
    expect(style.bold('a')).toBe('\u001b[1ma\u001b[22m')
    expect(style.red(style.dim('a'))).toBe('\u001b[31m\u001b[2ma\u001b[22m\u001b[39m')
    expect(style.green('')).toBe('')
  })

  test('are omitted if disabled', () => {
    expect(createStyle({ env: {}, isTerminal: false })).toBe(plain)
    expect(plain.cyan('a')).toBe('a')
  })
})
