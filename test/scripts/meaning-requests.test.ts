import { SearchIndex } from '@unfold-mcp/core'
import { describe, expect, test } from 'vitest'
import { ownDocuments } from '../../bench/src/retrieval/own/catalogue.ts'
import { countsOf, find } from '../../bench/src/retrieval/own/found.ts'
import { indirect } from '../../bench/src/retrieval/own/indirect.ts'
import { languages, measureLanguage } from '../../bench/src/retrieval/own/language-requests.ts'
import { searchWith } from '../../bench/src/retrieval/own/search.ts'

describe('requests that share no word with their tool', () => {
  const index = new SearchIndex()
  for (const document of ownDocuments) index.set(document)

  test.each([
    ['give the buyer their money back', 'payments.create_refund'],
    ['will it rain in Oslo tomorrow', 'weather.get_forecast'],
    ['the last deploy broke things, go back', 'kubernetes.rollout_undo'],
  ])('%j: %s is among the first five', (query, tool) => {
    const { matches, confidence } = index.search(query, { limit: 5 })
    expect(matches.map(({ id }) => id)).toContain(tool)
    expect(confidence).not.toBe('none')
  })

  test('at least 40 of 60 have their tool among the first five, many more than by words', () => {
    const foundBy = (meaning: boolean): number => countsOf(find(indirect, searchWith({ name: '', meaning })(ownDocuments))).found
    expect(foundBy(true)).toBeGreaterThanOrEqual(40)
    expect(foundBy(true)).toBeGreaterThanOrEqual(foundBy(false) + 10)
  })
})

test.each(languages)('$language: meaning finds at least as many tools as words alone', (set) => {
  const foundBy = (meaning: boolean): number => {
    const { translated, english } = measureLanguage(set, searchWith({ name: '', meaning }))
    return translated.found + english.found
  }
  expect(foundBy(true)).toBeGreaterThanOrEqual(foundBy(false))
})
