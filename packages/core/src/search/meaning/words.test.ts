import { describe, expect, test } from 'vitest'
import { isForeignWord } from './foreign-words.ts'
import { wordsOfQuery, wordsOfTool } from './words.ts'

const knows =
  (...words: readonly string[]) =>
  (word: string): boolean =>
    words.includes(word)

describe('words of a request', () => {
  test('camel case and digits separate words', () => {
    const { words } = wordsOfQuery('createHTTPIssue2go', knows('create', 'http', 'issue', 'go'))
    expect([...words.keys()]).toEqual(['create', 'http', 'issue', 'go'])
  })

  test('a compound that the table has stays whole', () => {
    const { words } = wordsOfQuery('open GitHub', knows('open', 'github', 'git', 'hub'))
    expect([...words.keys()]).toEqual(['open', 'github'])
  })

  test('stop words and single letters do not count, known or not', () => {
    const { words, knownShare } = wordsOfQuery('please could you help me to refund x', knows('please', 'refund', 'x'))
    expect([...words]).toEqual([['refund', 1]])
    expect(knownShare).toBe(1)
  })

  test('a repeated word counts twice at most', () => {
    const { words } = wordsOfQuery('rain rain rain rain', knows('rain'))
    expect(words.get('rain')).toBe(2)
  })

  test('the known share counts each word once', () => {
    const isKnown = knows('rain', 'oslo')
    expect(wordsOfQuery('rain in Oslo', isKnown).knownShare).toBe(1)
    expect(wordsOfQuery('rain rain Regen Regen', isKnown).knownShare).toBe(0.5)
    expect(wordsOfQuery('wird es morgen regnen', isKnown).knownShare).toBe(0)
    expect(wordsOfQuery('', isKnown).knownShare).toBe(0)
  })

  test('articles and prepositions of other languages count neither as known nor as unknown', () => {
    const { words, knownShare } = wordsOfQuery(
      'cómo está la calidad del aire en Madrid',
      knows('la', 'del', 'en', 'madrid'),
      isForeignWord,
    )
    expect([...words.keys()]).toEqual(['madrid'])
    expect(knownShare).toBeCloseTo(1 / 3)
  })

  test('accents do not matter', () => {
    expect([...wordsOfQuery('réservé', knows('reserve')).words.keys()]).toEqual(['reserve'])
  })
})

test('numbers make a request neither known nor unknown', () => {
  expect(wordsOfQuery('what is 17 percent of 2340', (word) => word === 'percent').knownShare).toBe(1)
})

describe('words of a tool', () => {
  const tool = {
    id: 'stripe__create_refund',
    source: 'stripe',
    name: 'stripe__create_refund',
    description: 'Refund a charge',
    parameters: [{ name: 'charge_id', description: 'Number of the payment' }],
  }
  const everything = (): boolean => true

  test('the name counts most, parameter names least, and parameter descriptions not at all', () => {
    const words = wordsOfTool(tool, everything)
    expect(words.get('create')).toBe(1)
    expect(words.get('refund')).toBe(1.5)
    expect(words.get('charge')).toBeCloseTo(0.65)
    expect(words.get('id')).toBeCloseTo(0.15)
    expect(words.has('payment')).toBe(false)
  })

  test('the prefix of the source counts as server, and the server once', () => {
    expect(wordsOfTool(tool, everything).get('stripe')).toBe(0.5)
    expect(wordsOfTool({ ...tool, server: 'Stripe payments' }, everything).get('stripe')).toBe(0.5)
  })

  test('a long description does not outweigh the name', () => {
    const description = Array.from(
      { length: 200 },
      (_, index) => `word${String.fromCharCode(97 + (index % 26))}${'x'.repeat(index)}`,
    )
    const words = wordsOfTool({ id: 'a', source: 'b', name: 'refund', description: description.join(' ') }, everything)
    expect(words.size).toBe(41)
  })
})
