import { expect, test } from 'vitest'
import { keyOf, parseQuery } from './query.ts'

const termsIn = (query: string): readonly (readonly string[])[] =>
  parseQuery(query).clauses.map((clause) => clause.filter(({ kind }) => kind === 'word').map(({ term }) => term))

test('request words are ignored', () => {
  expect(termsIn('Could you please help me to find the weather?')).toEqual([['find', 'weather']])
})

test('a request in steps has a clause for each', () => {
  expect(termsIn('Book a flight to Rome. Then reserve a hotel and also rent a car; finally mail me.')).toEqual([
    ['book', 'flight', 'rome'],
    ['reserv', 'hotel'],
    ['rent', 'car'],
    ['mail'],
  ])
  expect(termsIn('查询天气。然后发送邮件')).toHaveLength(2)
})

test('a query of stop words only is read as a name', () => {
  expect(termsIn('who')).toEqual([['who']])
})

test('quoted text counts half', () => {
  const [clause = []] = parseQuery('translate "good morning" now').clauses
  expect(clause.find(({ term }) => term === 'good')?.weight).toBe(0.5)
  expect(clause.find(({ term }) => term === 'translat')?.weight).toBe(1)
})

test('an apostrophe does not start a quotation', () => {
  const [clause = []] = parseQuery("all my dog's photos and my cat's photos").clauses
  expect(clause.filter(({ kind }) => kind === 'word').every(({ weight }) => weight === 1)).toBe(true)
})

test('a value hints at the tools that accept it', () => {
  const hints = parseQuery('put it into /home/ann/notes.md').clauses.flatMap((clause) =>
    clause.filter(({ kind }) => kind === 'hint'),
  )
  expect(hints.map(({ term }) => term)).toEqual(['file', 'path'])
})

test('names inside a query are recognised by their form', () => {
  expect(parseQuery('call github:create_issue or readFile, well-known').names).toEqual([
    'githubcreateissue',
    'readfile',
    'wellknown',
  ])
})

test('a key is a name without its separators and case', () => {
  expect(new Set(['create_issue', 'createIssue', 'Create Issue', 'create-issue'].map(keyOf))).toHaveLength(1)
})

test('a very long query is read partially, and quickly', () => {
  const { clauses, whole } = parseQuery('find weather. '.repeat(100_000))
  expect(clauses.length).toBeLessThanOrEqual(12)
  expect(whole).toBeUndefined()
  const many = parseQuery(Array.from({ length: 50_000 }, (_, index) => `word${index}x`).join(' '))
  expect(many.clauses.flat().length).toBeLessThanOrEqual(200)
})

test('a calculation, a host and a question for a person hint at their tools', () => {
  const hintsOf = (query: string): readonly string[] =>
    parseQuery(query).clauses.flatMap((clause) => clause.filter(({ kind }) => kind === 'hint').map(({ term }) => term))
  expect(hintsOf('12 percent of 80')).toContain('calcul')
  expect(hintsOf('7 times 8')).toContain('calcul')
  expect(hintsOf('is acme.com down')).toContain('websit')
  expect(hintsOf('who was Grace Hopper')).toContain('wikipedia')
  expect(hintsOf('who is on call')).not.toContain('wikipedia')
})

test('the parts of a host are not missing words, and a number counts half', () => {
  const [clause = []] = parseQuery('open shop.acme.com with 250 items').clauses
  expect(clause.find(({ term }) => term === 'com')?.kind).toBe('hint')
  expect(clause.find(({ term }) => term === '250')?.weight).toBe(0.5)
})
