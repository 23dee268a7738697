import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stem } from './stemmer.ts'

const meet = (words: string): void => {
  expect(new Set(words.split(' ').map(stem))).toHaveLength(1)
}

test('forms of one word have the same stem', () => {
  meet('translate translates translated translating translation translations translator')
  meet('schedule schedules scheduling scheduler')
  meet('calculate calculator calculation')
  meet('currency currencies')
  meet('book booking booked bookings')
  meet('notify notification')
})

test('irregular forms have the stem of their word', () => {
  meet('buy bought buying')
  meet('write wrote written writing')
  meet('person people')
  meet('analysis analyze analyse analytics')
  meet('convert conversion converter')
  meet('summary summarize summarise summarization')
})

test('British and American spellings have the same stem', () => {
  meet('organise organize organisation organization')
  meet('colour color')
  meet('exercise exercises exercising')
})

test('words with a common prefix stay distinct', () => {
  for (const [a, b] of [
    ['news', 'new'],
    ['universe', 'university'],
    ['direct', 'directory'],
    ['price', 'prize'],
  ] as const) {
    expect(stem(a)).not.toBe(stem(b))
  }
})

test('the published examples of the algorithm hold', () => {
  const examples = {
    caresses: 'caress',
    ponies: 'poni',
    ties: 'tie',
    cries: 'cri',
    gaps: 'gap',
    agreed: 'agre',
    hoping: 'hope',
    hopped: 'hop',
    luxuriated: 'luxuri',
    relational: 'relat',
    rational: 'ration',
    happiness: 'happi',
    hopefulness: 'hope',
    adjustment: 'adjust',
    controlling: 'control',
    generously: 'generous',
    skies: 'sky',
    dying: 'die',
    sky: 'sky',
    proceed: 'proceed',
  } as const
  for (const [word, expected] of Object.entries(examples)) expect(stem(word)).toBe(expected)
})

test('words of other alphabets and short words are unchanged', () => {
  for (const word of ['天气', 'погода', 'id', 'x', 'mp3', 'café', '']) expect(stem(word)).toBe(word)
})

test('a stem is at most one letter longer than its word, and stemming never throws', () => {
  fc.assert(fc.property(fc.stringMatching(/^[a-z]{0,30}$/), (word) => stem(word).length <= word.length + 1))
})
