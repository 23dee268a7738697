import { describe, expect, test } from 'vitest'
import { ownDocuments } from '../../bench/src/retrieval/own/catalogue.ts'
import { curveOf, sharesOf } from '../../bench/src/retrieval/own/confidences.ts'
import { direct } from '../../bench/src/retrieval/own/direct.ts'
import { foreign } from '../../bench/src/retrieval/own/foreign.ts'
import { foreignTo, measureForeign } from '../../bench/src/retrieval/own/foreign-requests.ts'
import { countsOf, find } from '../../bench/src/retrieval/own/found.ts'
import { indirect } from '../../bench/src/retrieval/own/indirect.ts'
import { languages, measureLanguage } from '../../bench/src/retrieval/own/language-requests.ts'
import { natural } from '../../bench/src/retrieval/own/natural.ts'
import { matches, measureNatural, naturalCountsOf } from '../../bench/src/retrieval/own/natural-requests.ts'
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

  test('requests name known tools, and none occurs twice', () => {
    const translated = languages.flatMap(({ requests, descriptions }) => [
      ...requests,
      ...Object.keys(descriptions).map((id) => ({ query: '', tools: [id] })),
    ])
    expect(unknownTools([...direct, ...translated])).toEqual([])
    const sizes = languages.map(({ requests, descriptions }) => [
      requests.length,
      requests.filter(({ tools: [id] }) => id !== undefined && id in descriptions).length,
    ])
    expect(sizes).toEqual(languages.map(() => [40, 20]))
    expect(languages).toHaveLength(5)
    expect(direct).toHaveLength(120)
    expect(natural).toHaveLength(60)
    expect(Object.values(foreign).flat()).toHaveLength(240)
    const queries = [...indirect, ...direct, ...natural].map(({ query }) => query)
    const all = [...queries, ...Object.values(foreign).flat()]
    expect(new Set(all).size).toBe(all.length)
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

  test('a request is foreign to a catalogue that does not cover its domain', () => {
    const requests = foreignTo(['cooking', 'video'])
    expect(requests).toHaveLength(220)
    expect(requests).toEqual(expect.arrayContaining([...foreign.law]))
    expect(requests).not.toEqual(expect.arrayContaining([foreign.cooking[0]]))
  })

  test('confidence is measured apart for foreign requests, for requests of other catalogues and for served ones', () => {
    const known = new Set(direct.filter(({ tools }) => tools.includes('music.play_track')).map(({ query }) => query))
    const track = documents.get('music.play_track')
    const result = measureForeign(
      { name: 'music', documents: track === undefined ? [] : [track], covers: [] },
      () => (query) => ({
        ids: [],
        confidence: known.has(query) ? 'strong' : 'none',
      }),
    )
    expect(result).toMatchObject({
      foreign: { strong: 0, none: 1 },
      others: { strong: 0, none: 1 },
      direct: { strong: 1, none: 0 },
    })
    expect(result.curve).toEqual([])
  })

  test('shares of confidences add up', () => {
    const answers = (['strong', 'weak', 'weak', 'none'] as const).map((confidence) => ({ ids: [], confidence }))
    expect(sharesOf(answers)).toEqual({ strong: 0.25, weak: 0.5, none: 0.25 })
  })

  test('the curve has the share of answers at or above each threshold, if all answers have a number', () => {
    const answer = (belief: number) => ({ ids: [], confidence: 'weak', belief }) as const
    const curve = curveOf({ foreign: [answer(0.1), answer(0.5)], direct: [answer(0.9)], indirect: [] })
    expect(curve.find(({ threshold }) => threshold === 0.5)?.shares).toEqual({ foreign: 0.5, direct: 1 })
    expect(curve.find(({ threshold }) => threshold === 0.55)?.shares).toEqual({ foreign: 0, direct: 1 })
    expect(curveOf({ foreign: [answer(0.1), { ids: [], confidence: 'none' }] })).toEqual([])
  })

  test('languages are searched with the translated descriptions', () => {
    const [german] = languages
    if (german === undefined) throw new Error('no language')
    const result = measureLanguage(german, (catalogue) => {
      const translated = catalogue.filter(({ id, description }) => description !== documents.get(id)?.description)
      expect(translated.map(({ id }) => id).sort()).toEqual(Object.keys(german.descriptions).sort())
      return (query) => ({ ids: german.requests.find((request) => request.query === query)?.tools ?? [], confidence: 'strong' })
    })
    expect(result).toMatchObject({
      language: 'German',
      translated: { requests: 20, first: 20 },
      english: { requests: 20, first: 20 },
    })
  })

  test('a natural request counts as good with a useful tool, or without a claim if there is none', () => {
    const tool = { id: '1', source: 'clock', server: 'clock', name: 'get_time', description: 'Current time in a city' }
    const other = { id: '2', source: 'log', server: 'log', name: 'get_timesheet', description: 'Hours of an employee' }
    const requests = [
      { query: 'time in Oslo', useful: [{ name: /time/, text: /current time/i }] },
      { query: 'what time', useful: [{ name: /time/, not: /sheet|clock/ }] },
      { query: 'feed the cat', useful: 'nothing' },
      { query: 'walk the dog', useful: 'nothing' },
    ] as const
    const results = measureNatural(
      [tool, other],
      () => (query) => ({ ids: ['2', '1'], confidence: query === 'feed the cat' ? 'none' : 'strong' }),
      requests,
    )
    expect(results.map(({ isServed, isUseful, first }) => [isServed, isUseful, first])).toEqual([
      [true, true, 'log/get_timesheet'],
      [true, false, 'log/get_timesheet'],
      [false, false, 'log/get_timesheet'],
      [false, false, 'log/get_timesheet'],
    ])
    expect(naturalCountsOf(results)).toEqual({ requests: 4, good: 2, served: 2, useful: 1, uselessStrong: 2 })
    expect(matches({ text: /city$/m }, tool)).toBe(true)
  })
})
