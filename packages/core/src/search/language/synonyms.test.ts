import { expect, test } from 'vitest'
import { stem } from './stemmer.ts'
import { synonymsOf } from './synonyms.ts'

test('synonyms are symmetric', () => {
  expect(synonymsOf(stem('film'))).toContain(stem('movie'))
  expect(synonymsOf(stem('movie'))).toContain(stem('film'))
})

test('an instance has its kind as a synonym, but not the reverse', () => {
  expect(synonymsOf('yen')).toContain(stem('currency'))
  expect(synonymsOf(stem('currency'))).not.toContain('yen')
})

test('no word is its own synonym', () => {
  for (const word of ['create', 'fetch', 'movie', 'location', 'price']) expect(synonymsOf(stem(word))).not.toContain(stem(word))
})

test('an unknown word has none', () => {
  expect(synonymsOf('zyzzyva')).toEqual([])
})
