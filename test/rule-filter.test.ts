import { plainLetter } from '@unfold-mcp/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { secretTexts } from '../bench/src/poisoning/secrets.ts'
import { attacks, harmlessTexts } from '../bench/src/poisoning/sets.ts'
import { disguisedTexts } from '../packages/gateway/src/poisoning/disguises.ts'
import { joinText } from '../packages/gateway/src/poisoning/joined-text.ts'
import { isOrdinary } from '../packages/gateway/src/poisoning/ordinary-text.ts'
import { PatternFilter } from '../packages/gateway/src/poisoning/phrases/pattern-filter.ts'
import { latinPhrases, phrasesIn } from '../packages/gateway/src/poisoning/phrases/phrases.ts'
import { type Match, matchesOf, otherSignals } from '../packages/gateway/src/poisoning/phrases/signals.ts'

// A generator with a seed, so that a failure can be repeated.
let state = 1
const random = (below: number): number => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
  return (state >> 8) % below
}
const oneOf = <T>(items: readonly T[]): T => items[random(items.length)] as T

const samples = [...attacks(), ...secretTexts()].map(({ text }) => text)
const harmless = harmlessTexts().map(({ text }) => text)
const inserted = [...Array.from(' \n\t\0_-"(.’İＡаé\u{A0}\u{200B}\u{301}\u{D800}'), '  ', ': ', ' \n ', '🚀', ' a b c ']

function mutated(text: string): string {
  const at = random(text.length + 1)
  return oneOf([
    () => text.toUpperCase(),
    () => Array.from(text).join(oneOf([' ', '-', '. '])),
    () => text.replaceAll(' ', () => oneOf([' ', '\n', '  ', '\t'])),
    () => text.slice(at, at + 60),
    () => text.slice(0, at) + oneOf(inserted) + text.slice(at),
    () => oneOf(samples) + oneOf(inserted) + text + oneOf(inserted) + oneOf(harmless),
    () => text.normalize('NFD').replaceAll('e', 'е'),
  ])()
}

const texts = [...samples, ...samples, ...harmless].flatMap((text) => [text, mutated(text), mutated(mutated(text))])
const joined = (text: string) => joinText([{ text, path: () => '' }])

/** What `phrasesIn` finds without a filter. */
function unfiltered(lower: string, normalized: string): readonly Match[] {
  const search = [
    ...latinPhrases.map((each) => [each, normalized] as const),
    ...otherSignals.flat().map((each) => [each, lower] as const),
  ]
  return search.flatMap(([signal, text]) => (signal.gate?.test(text) === false ? [] : matchesOf(signal, text)))
}

describe('the filter of the poisoning rules', () => {
  test('rejects no pattern that matches: all texts of the benchmark, changed at random', () => {
    let found = 0
    for (const text of texts) {
      const { lower, normalized } = joined(text)
      const expected = unfiltered(lower, normalized)
      found += expected.length
      expect({ text, found: phrasesIn({ lower, normalized }) }).toEqual({ text, found: expected })
    }
    expect(found).toBeGreaterThan(1_000)
  })

  test('selects each pattern for the texts that it describes', () => {
    for (const phrase of latinPhrases) {
      const { source } = phrase.anchor
      const filter = new PatternFilter([phrase], ({ anchor }) => anchor)
      const pattern = new RegExp(source)
      // The generator does not support assertions, and random characters in a gap would not leave the words whole.
      const described = source
        .replaceAll(/\\b|\(\?<!(?:\([^)]*\)|[^()])*\)/gu, '')
        .replaceAll(/\[\^[^\]]*\]\{0,\d+\}/gu, ' ')
        .replaceAll('\\0', '\\n')
      const matching = fc
        .sample(fc.stringMatching(new RegExp(described)), { numRuns: 100, seed: 1 })
        .map((text) => text.toLowerCase())
        .filter((text) => pattern.test(text))
      expect({ source, isTested: matching.length > 0 }).toEqual({ source, isTested: true })
      expect(matching.filter((text) => filter.select(text).length === 0)).toEqual([])
    }
  })
})

describe('the fast paths of normalization', () => {
  test('ordinary texts have no character that is hidden, removed or combines with others', () => {
    const special = /(?![\t\n\r])[\p{C}\p{M}\p{Variation_Selector}\u{FDFA}\u{FDFB}]/u
    const characters = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit))
    // Unassigned characters are not used for anything.
    expect(characters.filter((char) => isOrdinary(char) && special.test(char) && !/\p{Cn}/u.test(char))).toEqual([])
  })

  test('every run of white space becomes one space or line break', () => {
    for (const text of texts.filter((each) => /^[\t-\r -~]*$/u.test(each)))
      expect(joined(text).text.split('\0')[1]).toBe(text.replaceAll(/\s+/gu, (run) => (run.includes('\n') ? '\n' : ' ')))
  })

  test('every letter with an accent, and every look-alike, becomes a plain letter', () => {
    const strokes: Readonly<Record<string, string>> = { ł: 'l', ø: 'o', đ: 'd', ħ: 'h', ŧ: 't' }
    const plain = (char: string): string => {
      const base = char.normalize('NFD').charAt(0)
      return strokes[char] ?? (/[a-z]/u.test(base) ? base : plainLetter(char))
    }
    for (const text of texts) {
      const { lower, normalized } = joined(text)
      expect(normalized).toBe(lower.replaceAll(/[^\0-\x7f]/gu, plain))
    }
  })

  test('spelled letters are found after any text', () => {
    const spelled = texts.filter((text) => /(?<![\p{L}\p{N}])\p{L}(?:[\s._*-]{1,5}\p{L}(?![\p{L}\p{N}])){7,400}/u.test(text))
    expect(spelled.length).toBeGreaterThan(100)
    expect(spelled.filter((text) => disguisedTexts(text).length === 0)).toEqual([])
  })
})
