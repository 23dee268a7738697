import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eachWord, fold, termsOf } from './tokenizer.ts'

function wordsOf(text: string): string[] {
  const words: string[] = []
  eachWord(fold(text), (word) => words.push(word))
  return words
}

test('words are runs of letters and digits', () => {
  expect(wordsOf('create_issue, list-files! (v2.0) a.b')).toEqual(['create', 'issue', 'list', 'files', 'v2', '0', 'a', 'b'])
})

test('each word is returned with its position', () => {
  const text = 'one, two — три'
  eachWord(text, (word, start) => expect(text.startsWith(word, start)).toBe(true))
})

test('accents, compatibility forms and invisible characters are ignored', () => {
  expect(wordsOf('Améthyste ﬁle ＡＰＩ sea\u200brch')).toEqual(['Amethyste', 'file', 'API', 'search'])
})

test('scripts without spaces are segmented', () => {
  expect(wordsOf('查询天气预报')).toContain('查询')
  expect(wordsOf('東京の天気')).toContain('天気')
  expect(wordsOf('ค้นหาข้อมูลน้ำ')).toEqual(expect.arrayContaining(['ค้นหา', 'ข้อมูล', 'น้ำ']))
  expect(wordsOf('station_code参数')).toEqual(['station', 'code', '参数'])
})

test('a camel-case name is found by its parts, adjacent parts joined, and the whole', () => {
  expect(termsOf('getYouTubeVideo', 'name')).toEqual([
    'get',
    'you',
    'tube',
    'video',
    'getyou',
    'youtub',
    'tubevideo',
    'getyoutubevideo',
  ])
})

test('acronyms stay together, including a plural s', () => {
  expect(termsOf('HTTPServer', 'name')).toEqual(['http', 'server', 'httpserver'])
  expect(termsOf('listAPIs', 'name')).toEqual(['list', 'api', 'listapi'])
})

test('digits stay with the preceding letters, which also count alone', () => {
  expect(termsOf('base64', 'name')).toEqual(['base64', 'base'])
  expect(termsOf('s3', 'name')).toEqual(['s3'])
})

test('numbers, single letters and stop words are kept only in names', () => {
  for (const word of ['12306', 'x', 'the']) {
    expect(termsOf(word, 'name')).toHaveLength(1)
    expect(termsOf(word, 'prose')).toEqual([])
  }
})

test('CJK words of more than two characters also produce bigrams', () => {
  expect(termsOf('天气预报', 'prose')).toEqual(['天气预报', '天气', '气预', '预报'])
  expect(termsOf('날씨를', 'prose')).toEqual(['날씨를', '날씨', '씨를'])
})

test('overlong words are dropped', () => {
  expect(termsOf('a'.repeat(65), 'name')).toEqual([])
})

test('any text is tokenized without an error, and deterministically', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('name' as const, 'prose' as const), (text, reading) => {
      const read = () => wordsOf(text).flatMap((word) => termsOf(word, reading))
      expect(read()).toEqual(read())
      expect(read().every((term) => term.length > 0)).toBe(true)
    }),
  )
})
