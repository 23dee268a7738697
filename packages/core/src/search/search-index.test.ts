import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { documentOf, type SearchDocument } from './document.ts'
import { SearchIndex } from './search-index.ts'
import type { SearchResult } from './search-result.ts'

const tool = (name: string, description = '', more: Partial<SearchDocument> = {}): SearchDocument => ({
  id: name,
  source: 'test',
  name,
  description,
  ...more,
})

function indexOf(...documents: readonly SearchDocument[]): SearchIndex {
  const index = new SearchIndex()
  for (const document of documents) index.set(document)
  return index
}

const idsOf = (answer: SearchResult): string[] => answer.matches.map(({ id }) => id)

const office = [
  tool('get_weather', 'Current weather and forecast for a city', {
    parameters: [{ name: 'city', description: 'Name of the city' }],
  }),
  tool('send_email', 'Send a message to one or more recipients', { server: 'mail', source: 'mail' }),
  tool('search_email', 'Search the inbox for messages', { server: 'mail', source: 'mail' }),
  tool('createIssue', 'Open an issue in a repository', { server: 'github', source: 'github', tags: ['tracker'] }),
  tool('list_issues', 'Issues of a repository, newest first', { server: 'github', source: 'github' }),
  tool('convert_currency', 'Convert an amount from one currency to another'),
  tool('book_hotel', 'Reserve a room in a hotel', { group: 'travel' }),
  tool('search_flights', 'Find flights between two airports', { group: 'travel' }),
  tool('render_pie_chart', 'Draws a chart from numbers', { title: 'Pie chart' }),
]

describe('finding', () => {
  const index = indexOf(...office)

  test.each([
    ['weather in Berlin', 'get_weather'],
    ['please help me to convert some currencies', 'convert_currency'],
    ['create an issue', 'createIssue'],
    ['reserving rooms', 'book_hotel'],
    ['tracker', 'createIssue'],
    ['travel flights', 'search_flights'],
    ['mail inbox', 'search_email'],
    ['pie chart', 'render_pie_chart'],
  ])('%j finds %s', (query, expected) => {
    expect(idsOf(index.search(query))[0]).toBe(expected)
  })

  test('a word that only occurs in a parameter finds its tool', () => {
    const drawing = indexOf(
      ...office,
      tool('plot', 'Draws lines', { parameters: [{ name: 'xAxisLabel', description: 'Caption below' }] }),
    )
    expect(idsOf(drawing.search('axis'))).toEqual(['plot'])
    expect(idsOf(drawing.search('caption'))).toEqual(['plot'])
  })

  test('a query with a typo finds the intended tool', () => {
    expect(idsOf(index.search('wether forcast'))[0]).toBe('get_weather')
    expect(idsOf(index.search('convrt curency'))[0]).toBe('convert_currency')
  })

  test('a synonym finds the tool', () => {
    expect(idsOf(index.search('purchase'))).toEqual([])
    expect(idsOf(index.search('photograph'))).toEqual([])
    expect(idsOf(indexOf(tool('take_picture')).search('photograph'))).toEqual(['take_picture'])
    expect(idsOf(index.search('yen'))[0]).toBe('convert_currency')
  })

  test('a request in two steps finds a tool for each, before more tools for the first', () => {
    const busy = indexOf(
      ...office,
      ...['read', 'delete', 'forward', 'archive'].map((verb) => tool(`${verb}_email`, 'Work on an email message in the inbox')),
    )
    const answer = busy.search('Search the email inbox for messages about the trip. Then book a hotel.', { limit: 3 })
    expect(idsOf(answer)).toEqual(expect.arrayContaining(['search_email', 'book_hotel']))
  })

  test('joined and separate spellings match each other', () => {
    const video = indexOf(tool('getYouTubeVideo'), tool('list_carpark_lots'), tool('other'))
    expect(idsOf(video.search('youtube'))).toEqual(['getYouTubeVideo'])
    expect(idsOf(video.search('car park'))[0]).toBe('list_carpark_lots')
  })

  test('names of one letter and of digits can be searched for', () => {
    const odd = indexOf(
      tool('post', 'Publish a text', { server: 'X' }),
      tool('tickets', 'Train tickets', { server: '12306' }),
      tool('draft'),
    )
    expect(idsOf(odd.search('publish on X'))[0]).toBe('post')
    expect(idsOf(odd.search('12306'))).toEqual(['tickets'])
  })
})

describe('scripts', () => {
  const index = indexOf(
    tool('weather', '查询城市的天气预报'),
    tool('trains', '列車の時刻表を検索する'),
    tool('water', 'ค้นหาข้อมูลระดับน้ำ'),
    tool('news', 'Последние новости из мира'),
    tool('korean', '서울의 날씨를 알려줍니다'),
    tool('menu', 'Crème brûlée and café au lait'),
  )

  test.each([
    ['北京明天的天气怎么样', 'weather'],
    ['天气', 'weather'],
    ['時刻表', 'trains'],
    ['列車を検索', 'trains'],
    ['ข้อมูลน้ำ', 'water'],
    ['новости', 'news'],
    ['날씨', 'korean'],
    ['creme brulee', 'menu'],
  ])('%j finds something', (query, expected) => {
    const answer = index.search(query)
    expect(idsOf(answer)[0]).toBe(expected)
  })

  test('a word that matches partially is not reported as unknown', () => {
    expect(index.search('天气预报员').unmatched).toEqual([])
  })
})

describe('names', () => {
  const index = indexOf(
    ...office,
    tool('get_user', 'Fetch a user', { server: 'okta', id: 'okta:get_user' }),
    tool('getUser', 'Fetch a user get user getUser user', { server: 'auth0', id: 'auth0:getUser' }),
    tool('user', 'get user get user get user'),
  )

  test('a query that is a name finds that tool first, spelling included', () => {
    expect(idsOf(index.search('get_user'))[0]).toBe('okta:get_user')
    expect(idsOf(index.search('getUser'))[0]).toBe('auth0:getUser')
    expect(idsOf(index.search('SEND EMAIL'))[0]).toBe('send_email')
    expect(index.search('send-email').confidence).toBe('strong')
  })

  test('server and name together are a name too', () => {
    for (const query of ['okta get_user', 'okta:get_user', 'okta__getUser']) {
      expect(idsOf(index.search(query))[0]).toBe('okta:get_user')
    }
  })

  test('a title is a name too', () => {
    expect(index.search('pie chart').matches[0]).toMatchObject({ id: 'render_pie_chart', isNamed: true })
  })

  test('a tool that the query mentions comes first', () => {
    const answer = index.search('use list_issues to look up the weather forecast for the city')
    expect(answer.matches[0]).toMatchObject({ id: 'list_issues', isNamed: true })
  })

  test('a name shared by thousands stays fast', () => {
    const many = indexOf(
      ...Array.from({ length: 5_000 }, (_, number) => tool('search', `Number ${number}`, { id: `s${number}` })),
    )
    expect(many.search('search', { limit: 3 }).matches).toHaveLength(3)
  })

  test('every tool of a catalogue is first for its own name', () => {
    const name = fc.array(fc.constantFrom('get', 'list', 'user', 'issue', 'file', 'weather', 'search'), {
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(
        fc.uniqueArray(
          name.map((parts) => parts.join('_')),
          { minLength: 1, maxLength: 30 },
        ),
        (names) => {
          const catalogue = indexOf(...names.map((each) => tool(each, names.join(' '))))
          for (const each of names) expect(idsOf(catalogue.search(each))[0]).toBe(each)
        },
      ),
      { numRuns: 30 },
    )
  })
})

describe('synonyms', () => {
  test('rank below every literal match, regardless of field', () => {
    const far = 'nothing of interest '.repeat(300)
    const index = indexOf(
      tool('movie_movie', 'movie movie movie', { title: 'movie', tags: ['movie'] }),
      tool('zzz', '', {
        parameters: [
          ...Array.from({ length: 30 }, (_, number) => ({ name: `column${number}` })),
          { name: 'film', description: far },
        ],
      }),
    )
    expect(idsOf(index.search('film', { meaning: false }))).toEqual(['zzz', 'movie_movie'])
  })

  test('replacing a synonym by the word itself never lowers the rank', () => {
    const place = fc.constantFrom('name', 'title', 'server', 'group', 'description', 'parameter')
    const documentIn = (id: string, where: string, word: string): SearchDocument => ({
      ...tool('plain', 'something else', { id }),
      ...(where === 'parameter' ? { parameters: [{ name: word }] } : { [where]: word }),
    })
    fc.assert(
      fc.property(place, place, fc.nat(5), (literal, synonym, others) => {
        const index = indexOf(
          documentIn('b-literal', literal, 'film'),
          documentIn('a-synonym', synonym, 'movie'),
          ...Array.from({ length: others }, (_, number) => documentIn(`other${number}`, 'name', 'film')),
        )
        const ids = idsOf(index.search('film', { limit: 20, meaning: false }))
        expect(ids.indexOf('b-literal')).toBeLessThan(ids.indexOf('a-synonym'))
      }),
    )
  })
})

describe('stuffing', () => {
  const honest = tool('send_invoice', 'Send an invoice to a customer')

  test.each([
    ['repeats the words', 'send invoice customer '.repeat(500)],
    [
      'is 50 KB long and contains everything',
      `${'filler words of no use '.repeat(30)}${'send invoice customer pay bill mail '.repeat(1_500)}`,
    ],
    [
      'contains the words once among many',
      `send invoice customer ${Array.from({ length: 190 }, (_, number) => `word${number}`).join(' ')}`,
    ],
  ])('a description that %s does not win', (_, description) => {
    const index = indexOf(honest, tool('aaa', description), tool('other', 'Something else'))
    expect(idsOf(index.search('send an invoice to a customer'))[0]).toBe('send_invoice')
  })

  test('thousands of parameters do not win', () => {
    const parameters = Array.from({ length: 20_000 }, (_, number) => ({
      name: `invoice_${number}`,
      description: 'send invoice customer',
    }))
    const index = indexOf(honest, tool('aaa', '', { parameters }))
    expect(idsOf(index.search('send an invoice to a customer'))[0]).toBe('send_invoice')
  })

  test('one source does not take all places if another has comparable matches', () => {
    const flood = Array.from({ length: 50 }, (_, number) =>
      tool(`send_invoice_${number}`, 'Send an invoice to a customer', { source: 'flood' }),
    )
    const others = Array.from({ length: 200 }, (_, number) =>
      tool(`other_${number}`, 'Something else', { source: `source${number}` }),
    )
    const index = indexOf(...flood, ...others, tool('mail_invoice', 'Send a customer an invoice', { source: 'honest' }))
    expect(idsOf(index.search('send invoice to customer', { limit: 5 }))).toContain('mail_invoice')
    expect(idsOf(index.search('send invoice to customer', { limit: 5, perSource: 1 }))[0]).toBe('mail_invoice')
  })

  test('a source that is the only one with matches may fill all places', () => {
    const own = [
      tool('send_invoice', 'Send an invoice by mail', { source: 'own' }),
      tool('send_invoice_reminder', 'Remind a debtor that payment is overdue', { source: 'own' }),
      tool('send_invoice_draft', 'Show colleagues what a customer would get', { source: 'own' }),
      tool('resend_invoice', 'Send an invoice again after its address was corrected', { source: 'own' }),
      tool('send_all_invoices', 'Deliver everything of this month at once', { source: 'own' }),
    ]
    const index = indexOf(...own, tool('weather', 'An unrelated invoice of weather', { source: 'other' }))
    expect(idsOf(index.search('send invoice', { limit: 5 })).filter((id) => id !== 'weather')).toHaveLength(5)
  })
})

describe('a server that repeats words of others', () => {
  const query = 'weather in Paris'
  const others = [
    tool('get_weather', 'Current weather and forecast for a city', { source: 'weather', server: 'weather' }),
    tool('read_file', 'Read a file from disk', { source: 'files', server: 'files' }),
    tool('write_file', 'Write a file to disk', { source: 'files', server: 'files' }),
    tool('git_log', 'Show commits', { source: 'git', server: 'git' }),
    tool('get_time', 'Current time in a time zone', { source: 'time', server: 'time' }),
  ]
  const kinds: { readonly [kind: string]: (number: number) => SearchDocument } = {
    'in descriptions': (number) => tool(`helper_${number}`, 'weather weather forecast city current'),
    'in names': (number) => tool(`weather_${number}`, 'weather weather weather forecast'),
    'in titles': (number) => tool(`x${number}`, 'anything', { title: 'Weather in Paris' }),
    'of the whole query': (number) => tool(`weather_paris_${number}`, 'weather in paris, paris weather today'),
    'among many': (number) => tool(`util_${number}`, 'weather forecast email invoice calendar file git search'),
    'behind rare names': (number) => tool(`weather_alpha_beta_gamma_${number}`, 'weather '.repeat(30)),
  }
  const stuffed = (kind: string, count: number): readonly SearchDocument[] =>
    Array.from({ length: count }, (_, number) => ({ ...(kinds[kind]?.(number) as SearchDocument), source: 'stuffed' }))

  test.each(Object.keys(kinds).flatMap((kind) => [1, 3, 12, 100].map((count) => [kind, count] as const)))(
    '%s, in %i tools, does not hide the intended tool',
    (kind, count) => {
      const { matches, confidence } = indexOf(...others, ...stuffed(kind, count)).search(query, { limit: 5 })
      expect(confidence).not.toBe('none')
      expect(matches.map(({ id }) => id)).toContain('get_weather')
      expect(matches.filter(({ id }) => !others.some((other) => other.id === id)).length).toBeLessThanOrEqual(2)
    },
  )

  test('does not make a word less important in the tools of others', () => {
    const weightOfWeather = (documents: readonly SearchDocument[]): number => {
      const { matches } = indexOf(...documents).search(query, { explain: true })
      const found = matches.find(({ id }) => id === 'get_weather')
      return found?.why?.words.find(({ word }) => word === 'weather')?.worth ?? 0
    }
    expect(weightOfWeather([...others, ...stuffed('in descriptions', 200)])).toBeGreaterThan(0.7 * weightOfWeather(others))
  })

  test('makes it less important in its own tools', () => {
    const [first] = indexOf(...others, ...stuffed('of the whole query', 12)).search(query).matches
    expect(first?.id).toBe('get_weather')
  })

  test('does not fill the candidates, however many tools it has', () => {
    const { matches } = indexOf(...others, ...stuffed('of the whole query', 3_000)).search(`${query} today`, { limit: 5 })
    expect(matches.map(({ id }) => id)).toContain('get_weather')
  })

  test('counts like any other if there is only one server', () => {
    const alone = [...others, ...stuffed('in descriptions', 12)].map((each) => ({ ...each, source: 'one' }))
    const { matches, confidence } = indexOf(...alone).search(query, { limit: 5, meaning: false })
    expect(confidence).toBe('none')
    expect(matches).toHaveLength(5)
  })
})

describe('tools that are not permitted', () => {
  const word = fc.constantFrom(
    'weather',
    'wether',
    'movie',
    'film',
    'issue',
    'sendEmail',
    'list',
    'get',
    'currency',
    '天气',
    'zyzzyva',
  )
  const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '))
  const document = fc.record({
    id: fc.stringMatching(/^[a-h]$/),
    source: fc.constantFrom('one', 'two'),
    name: fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join('_')),
    description: text,
    title: text,
    server: fc.constantFrom('github', 'mail'),
    tags: fc.array(word, { maxLength: 2 }),
    parameters: fc.array(fc.record({ name: word, description: text }), { maxLength: 3 }),
  })

  test('leave no trace: the result is that of an index without them', () => {
    fc.assert(
      fc.property(fc.array(document, { maxLength: 12 }), fc.array(document, { maxLength: 12 }), text, (shown, hidden, query) => {
        const visible = new Map(shown.map((each) => [`v${each.id}`, { ...each, id: `v${each.id}` }]))
        const secret = hidden.map((each) => ({ ...each, id: `h${each.id}` }))
        const all = indexOf(...secret.slice(0, 6), ...visible.values(), ...secret.slice(6))
        const few = indexOf(...visible.values())
        expect(all.search(query, { filter: (id) => id.startsWith('v'), explain: true })).toEqual(
          few.search(query, { explain: true }),
        )
      }),
    )
  })

  test('an index that was updated returns the same as a rebuilt one', () => {
    const step = fc.oneof(
      document.map((each) => ({ kind: 'set' as const, document: each })),
      fc.stringMatching(/^[a-h]$/).map((id) => ({ kind: 'delete' as const, id })),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), text, (steps, query) => {
        const changed = new SearchIndex()
        const model = new Map<string, SearchDocument>()
        const wrong = steps.filter((each) => {
          if (each.kind === 'delete') return changed.delete(each.id) !== model.delete(each.id)
          changed.set(each.document)
          model.set(each.document.id, each.document)
          return false
        })
        expect(wrong).toEqual([])
        expect(changed.size).toBe(model.size)
        for (const id of 'abcdefgh') expect(changed.has(id)).toBe(model.has(id))
        const built = indexOf(...[...model.values()].reverse())
        expect(changed.search(query, { explain: true })).toEqual(built.search(query, { explain: true }))
      }),
    )
  })

  test('any query gets a result, deterministically', () => {
    const index = indexOf(...office)
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (query) => {
        expect(index.search(query)).toEqual(index.search(query))
      }),
    )
  })
})

describe('confidence', () => {
  const index = indexOf(...office)

  test('is strong if a tool covers the query', () => {
    for (const query of ['convert currency', 'weather forecast for a city', 'search flights']) {
      expect(index.search(query).confidence).toBe('strong')
    }
  })

  test('is none without any match', () => {
    for (const query of ['unclog my toilet', 'launch a rocket', '', '???']) expect(index.search(query).confidence).toBe('none')
  })

  test('is not strong if only a small part of the query is known', () => {
    const answer = index.search('knit a woollen scarf for the city marathon team')
    expect(answer.confidence).not.toBe('strong')
    expect(answer.unmatched).toEqual(expect.arrayContaining(['knit', 'woollen', 'scarf', 'marathon']))
  })

  test('is not strong for a verb and the name of a server', () => {
    const larger = indexOf(...office, tool('read_query', 'Run a query', { server: 'im360john', source: 'im360john' }))
    expect(larger.search('read me John 3:16').confidence).not.toBe('strong')
  })

  test('stems, misspellings and synonyms count as matched', () => {
    expect(index.search('forecasts wether rooms').unmatched).toEqual([])
  })

  test('does not depend on the requested number of matches', () => {
    const query = 'Convert a currency. Then search flights.'
    expect(new Set([0, 1, 5, 10].map((limit) => index.search(query, { limit }).confidence))).toHaveLength(1)
  })
})

describe('limits', () => {
  const index = indexOf(...Array.from({ length: 40 }, (_, number) => tool(`list_${number}x`, 'List of things')))

  test.each([
    [0, 0],
    [-1, 0],
    [2.7, 2],
    [1e9, 40],
    [Number.POSITIVE_INFINITY, 40],
    [Number.NaN, 10],
  ])('a limit of %d returns %d matches', (limit, expected) => {
    const answer = index.search('list things', { limit })
    expect(answer.matches).toHaveLength(expected)
    expect(answer.total).toBe(40)
  })

  test('a result has at most a thousand matches', () => {
    const many = indexOf(...Array.from({ length: 1_500 }, (_, number) => tool(`list_${number}x`)))
    expect(many.search('list', { limit: 1e9 }).matches).toHaveLength(1_000)
  })

  test.each([
    ['a megabyte', 'weather '.repeat(131_072)],
    ['a megabyte without a space', 'a'.repeat(1_048_576)],
    ['a megabyte of one script', '天'.repeat(1_048_576)],
    ['punctuation', '!?.,;:'.repeat(1_000)],
    ['combining marks', '\u0301'.repeat(10_000)],
    ['regular expressions', '(((a+)+)+$ .* [^]] \\ (?<=x){9999}'],
    ['half a surrogate pair', '\ud83d'],
    ['quotation marks', `"'“”`.repeat(1_000)],
  ])('a query of %s is answered quickly', (_, query) => {
    const start = performance.now()
    expect(index.search(query).total).toBe(40)
    expect(performance.now() - start).toBeLessThan(1_000)
  })

  test('a tool with a schema of five megabytes is read partially', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, number) => [
        `parameter_${number}`,
        { type: 'string', description: 'long words '.repeat(23) },
      ]),
    )
    const start = performance.now()
    index.set(
      documentOf(
        { name: 'huge', description: 'y '.repeat(2_000_000), inputSchema: { type: 'object', properties } },
        { source: 's' },
      ),
    )
    expect(performance.now() - start).toBeLessThan(1_000)
    expect(idsOf(index.search('huge'))[0]).toBe('huge')
    index.delete('huge')
  })

  test('an empty index returns a result', () => {
    expect(new SearchIndex().search('anything')).toEqual({
      certainty: 0,
      matches: [],
      total: 0,
      confidence: 'none',
      unmatched: ['anything'],
    })
  })
})

describe('explanation', () => {
  test('explains the term, fields and weight of each word', () => {
    const [match] = indexOf(...office).search('wether for a town', { explain: true }).matches
    expect(match?.id).toBe('get_weather')
    expect(match?.why?.words).toEqual([
      { word: 'wether', term: 'weather', via: 'misspelt', fields: ['name', 'description'], worth: expect.any(Number) },
      {
        word: 'town',
        term: 'citi',
        via: 'synonym',
        fields: ['description', 'parameters', 'parameterDescriptions'],
        worth: expect.any(Number),
      },
    ])
  })

  test('is omitted by default', () => {
    expect(indexOf(...office).search('weather').matches[0]).not.toHaveProperty('why')
  })
})

describe('boost', () => {
  const index = indexOf(tool('a_list', 'List of things'), tool('b_list', 'List of things'), tool('b'))

  test('decides between neighbours', () => {
    const answer = index.search('list things', { boost: (id) => (id === 'b_list' ? 1.2 : 1), explain: true })
    expect(idsOf(answer)).toEqual(['b_list', 'a_list'])
    expect(answer.matches[0]?.why?.boost).toBe(1.2)
  })

  test('does not outrank a name, nor add tools that do not match', () => {
    expect(idsOf(index.search('a list', { boost: (id) => (id === 'a_list' ? 1 : 50) }))).toEqual(['a_list', 'b_list'])
  })

  test('that is not a number is ignored', () => {
    expect(index.search('list things', { boost: () => Number.NaN })).toEqual(index.search('list things'))
  })

  test('can itself search', () => {
    const answer = index.search('list things', {
      boost: (id) => (index.search('b').matches.some((match) => match.id === id) ? 2 : 1),
    })
    expect(idsOf(answer)).toEqual(['b_list', 'a_list'])
  })
})
