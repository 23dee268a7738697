import { describe, expect, test } from 'vitest'
import type { SearchDocument } from './document.ts'
import { SearchIndex } from './search-index.ts'

const tool = (source: string, name: string, description: string): SearchDocument => ({
  id: `${source}.${name}`,
  source,
  server: source,
  name,
  description,
})

function indexOf(...documents: readonly SearchDocument[]): SearchIndex {
  const index = new SearchIndex()
  for (const document of documents) index.set(document)
  return index
}

const idsOf = (index: SearchIndex, query: string): readonly string[] =>
  index.search(query, { limit: 5 }).matches.map(({ id }) => id)

describe('copies of a tool', () => {
  const definition = 'Look up the definition of an English word in a dictionary, with examples.'
  const copies = ['lexicon', 'words', 'oxford', 'dict'].map((source) => tool(source, 'get_definition', definition))
  const other = tool('thesaurus', 'find_synonyms', 'Other words with the definition of a word.')

  test('appear once, with the others as similar', () => {
    const { matches } = indexOf(...copies, other).search('definition of serendipity', { limit: 5 })
    expect(matches.map(({ id }) => id)).toEqual([expect.stringMatching(/get_definition$/u), 'thesaurus.find_synonyms'])
    const [{ id, clones = [] } = { id: '' }, second] = matches
    expect([id, ...clones].sort()).toEqual(copies.map((copy) => copy.id).sort())
    expect(second).not.toHaveProperty('clones')
  })

  test('spelling of the name does not matter, the beginning of the description does', () => {
    const camel = tool('camel', 'getDefinition', definition)
    const legal = tool('legal', 'get_definition', 'Definition of a term in a contract.')
    const { matches } = indexOf(...copies.slice(0, 1), camel, legal, other).search('get the definition of a word', { limit: 5 })
    expect(matches.map(({ id }) => id)).toContain('legal.get_definition')
    expect(matches.flatMap(({ clones = [] }) => clones)).toHaveLength(1)
  })

  test('hidden copies are not counted', () => {
    const filter = (id: string): boolean => !id.startsWith('oxford') && !id.startsWith('dict')
    const [first] = indexOf(...copies, other).search('definition of serendipity', { limit: 5, filter }).matches
    expect(first?.clones).toHaveLength(1)
  })

  test('a removed copy is no longer counted', () => {
    const index = indexOf(...copies, other)
    index.delete('dict.get_definition')
    expect(index.search('definition of serendipity').matches[0]?.clones).toHaveLength(2)
  })
})

describe('places per server', () => {
  const things = ['invoice', 'invoice_line', 'invoice_total', 'invoice_status', 'invoice_history']
  const billing = things.map((thing) => tool('billing', `get_${thing}`, `Returns the ${thing.replace('_', ' ')} of a customer.`))
  const others = [
    tool('books', 'find_invoice', 'Find an invoice of a customer.'),
    tool('mailer', 'read_invoice', 'Read the invoice in an e-mail of a customer.'),
    tool('drive', 'open_invoice', 'Open the scanned invoice of a customer.'),
  ]

  test('a server has two of five while others have comparable tools', () => {
    const ids = idsOf(indexOf(...billing, ...others), 'invoice of a customer')
    expect(ids).toHaveLength(5)
    expect(ids.filter((id) => id.startsWith('billing.'))).toHaveLength(2)
  })

  test('a server that the request names has no limit', () => {
    const ids = idsOf(indexOf(...billing, ...others), 'billing invoice of a customer')
    expect(ids.filter((id) => id.startsWith('billing.')).length).toBeGreaterThan(2)
  })

  test('the only server has no limit', () => {
    expect(idsOf(indexOf(...billing), 'invoice of a customer')).toHaveLength(5)
  })
})

describe('destructive tools', () => {
  const documents = [
    tool('docs', 'delete_paragraph', 'Delete a paragraph of a document.'),
    tool('docs', 'get_paragraph_style', 'Style and font of a paragraph.'),
    tool('language', 'translate_text', 'Translate a text into another language.'),
  ]

  test('are not first if nobody asked for destruction', () => {
    expect(idsOf(indexOf(...documents), 'this paragraph')[0]).not.toBe('docs.delete_paragraph')
    expect(idsOf(indexOf(...documents), 'this paragraph')).toContain('docs.delete_paragraph')
  })

  test('are first if they were asked for, or named', () => {
    expect(idsOf(indexOf(...documents), 'remove this paragraph')[0]).toBe('docs.delete_paragraph')
    expect(idsOf(indexOf(...documents), 'delete_paragraph')[0]).toBe('docs.delete_paragraph')
  })

  test('are no strong match for another request', () => {
    const { confidence } = indexOf(documents[0] as SearchDocument).search('translate this paragraph to German')
    expect(confidence).not.toBe('strong')
  })
})

test('each part of a request has its tool among the first five', () => {
  const flights = ['search_flights', 'find_flight', 'get_flight', 'flight_status', 'list_flights', 'track_flight']
  const documents = flights.map((name, index) => tool(`air${index}`, name, `Find a flight and its data, variant ${index}.`))
  const calendar = tool('calendar', 'create_event', 'Add an event to the calendar.')
  expect(idsOf(indexOf(...documents, calendar), 'find the flight and add it to my calendar')).toContain('calendar.create_event')
})

describe('search by meaning', () => {
  const documents = [
    tool('stripe', 'create_refund', 'Refund a charge that was previously made.'),
    tool('weather', 'get_forecast', 'Weather forecast for a city.'),
    tool('git', 'list_branches', 'Branches of a repository.'),
    tool('calendar', 'list_events', 'Events of a calendar between two dates.'),
  ]
  const request = 'will it rain in Oslo tomorrow'

  test('finds what words do not find, but is never certain of it', () => {
    const { matches, confidence, certainty } = indexOf(...documents).search(request)
    expect(matches[0]?.id).toBe('weather.get_forecast')
    expect(confidence).toBe('weak')
    expect(certainty).toBeLessThanOrEqual(0.7)
  })

  test('can be turned off', () => {
    expect(indexOf(...documents).search(request, { meaning: false }).confidence).toBe('none')
  })

  test('a higher minimum turns a weak match into none', () => {
    expect(indexOf(...documents).search(request, { minConfidence: 0.75 }).confidence).toBe('none')
  })

  test('a removed tool is not found by meaning either', () => {
    const index = indexOf(...documents)
    index.delete('weather.get_forecast')
    expect(index.search(request).matches.map(({ id }) => id)).not.toContain('weather.get_forecast')
  })

  test('in another language, only words count', () => {
    const query = 'wird es morgen in Oslo regnen'
    const index = indexOf(...documents)
    expect(index.search(query)).toEqual(index.search(query, { meaning: false }))
  })
})
