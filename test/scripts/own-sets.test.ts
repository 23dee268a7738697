import { describe, expect, test } from 'vitest'
import { ownDocuments } from '../../bench/src/retrieval/own/catalogue.ts'
import { countsOf, find } from '../../bench/src/retrieval/own/found.ts'
import { indirect } from '../../bench/src/retrieval/own/indirect.ts'
import type { OwnRequest } from '../../bench/src/retrieval/own/request.ts'
import type { Search } from '../../bench/src/retrieval/own/search.ts'

const documents = new Map(ownDocuments.map((document) => [document.id, document]))

const functionWords = new Set(
  `a about after again all also am an and any anyone are as at back be been before by can cannot could did do does don down for from
  get give had has have haven he her here him his how i if in into is isn it its let ll m make many me more much must my new no not now
  of off often on once one or our out over own please put re right s same set she should so some somebody someone something still t take
  tell that the their theirs them then there these they thing this to together too until up us ve was way we were what when where which
  who whole whose why will with without won would yet you your`.split(/\s+/),
)

/** Content words, without the usual endings. */
function contentOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.filter((word) => !functionWords.has(word)).map((word) => word.replace(/(?<=.{3})(ings?|e[rd]s?|e?s|e|ly)$/u, ''))
}

function unknownTools(requests: readonly OwnRequest[]): readonly string[] {
  return requests.flatMap(({ tools }) => tools.filter((id) => !documents.has(id)))
}

describe('our own retrieval sets', () => {
  test('each tool of the catalogue has its own id', () => {
    expect(documents.size).toBe(ownDocuments.length)
  })

  test('an indirect request shares no content word with the name and description of its tools', () => {
    expect(unknownTools(indirect)).toEqual([])
    expect(indirect).toHaveLength(60)
    for (const { query, tools } of indirect) {
      const asked = new Set(contentOf(query))
      for (const id of tools) {
        const document = documents.get(id)
        const shared = contentOf(`${document?.name} ${document?.description}`).filter((word) => asked.has(word))
        expect(shared, `${query} → ${id}`).toEqual([])
      }
    }
  })
})

describe('scores of our own retrieval sets', () => {
  test('a tool counts as found among the first five, and as answered unless the confidence is none', () => {
    const answers: { readonly [query: string]: ReturnType<Search> } = {
      first: { ids: ['a', 'b'], confidence: 'strong' },
      fifth: { ids: ['b', 'c', 'd', 'e', 'a'], confidence: 'none' },
      sixth: { ids: ['b', 'c', 'd', 'e', 'f', 'a'], confidence: 'strong' },
      other: { ids: ['c', 'second'], confidence: 'weak' },
      empty: { ids: [], confidence: 'none' },
    }
    const requests = Object.keys(answers).map((query) => ({ query, tools: ['a', 'second'] }))
    const found = find(requests, (query) => answers[query] ?? { ids: [], confidence: 'none' })
    expect(found).toEqual([
      { query: 'first', confidence: 'strong', first: 'a', rank: 1 },
      { query: 'fifth', confidence: 'none', first: 'b', rank: 5 },
      { query: 'sixth', confidence: 'strong', first: 'b' },
      { query: 'other', confidence: 'weak', first: 'c', rank: 2 },
      { query: 'empty', confidence: 'none' },
    ])
    expect(countsOf(found)).toEqual({ requests: 5, first: 1, found: 3, answered: 2, strong: 1 })
  })
})
