import { expect, test } from 'vitest'
import { Vocabulary } from './vocabulary.ts'

const vocabularyOf = (...terms: string[]): Vocabulary => {
  const vocabulary = new Vocabulary()
  for (const term of terms) vocabulary.admit(term)
  return vocabulary
}

const similarTo = (vocabulary: Vocabulary, word: string): string[] =>
  vocabulary.similarTo(word, word, () => true).map(({ number }) => vocabulary.termOf(number))

test('a term keeps its number until it is released; then the number is reused', () => {
  const vocabulary = vocabularyOf('one', 'two')
  expect(vocabulary.admit('one')).toBe(0)
  vocabulary.release(0)
  expect(vocabulary.numberOf('one')).toBeUndefined()
  expect(vocabulary.admit('three')).toBe(0)
  expect(vocabulary.termOf(0)).toBe('three')
})

test('an omitted, inserted, replaced or transposed letter is tolerated', () => {
  const vocabulary = vocabularyOf('weather')
  for (const word of ['wether', 'weathher', 'weafher', 'waether']) expect(similarTo(vocabulary, word)).toEqual(['weather'])
})

test('two edits are accepted only in long words', () => {
  expect(similarTo(vocabularyOf('translate'), 'trnaslaet')).toEqual(['translate'])
  expect(similarTo(vocabularyOf('house'), 'hsoue')).toEqual([])
})

test('short words and different first letters are not corrected', () => {
  expect(similarTo(vocabularyOf('cat', 'home'), 'cta')).toEqual([])
  expect(similarTo(vocabularyOf('cat', 'home'), 'rome')).toEqual([])
})

test('results are sorted by distance, then alphabetically', () => {
  expect(similarTo(vocabularyOf('translated', 'translator', 'translate'), 'translatr')).toEqual([
    'translate',
    'translator',
    'translated',
  ])
})

test('excluded and released terms are not found', () => {
  const vocabulary = vocabularyOf('weather', 'leather')
  expect(vocabulary.similarTo('wether', 'wether', () => false)).toEqual([])
  vocabulary.release(0)
  expect(similarTo(vocabulary, 'wether')).toEqual([])
})
