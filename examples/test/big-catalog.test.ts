import { replyData, testContext, testServer, testTransports } from '@unfold-mcp/server/testing'
import { describe, expect, test } from 'vitest'
import { workshop } from '../src/big-catalog/workshop.ts'
import { connected } from './connected.ts'

const made = workshop()

describe('about a thousand tools', () => {
  test('there are about a thousand tools with unique names', async () => {
    await using everything = await testContext(made, { view: 'exposure=everything' })
    expect(everything.tools().length).toBeGreaterThan(950)
    expect(everything.tools().length).toBeLessThan(1_100)
  })

  test('a session with exposure=groups sees one activator per group, activates one, and calls its tools', async () => {
    await using session = await connected(made, { view: 'exposure=groups' })
    const fresh = await session.toolNames()
    expect(fresh).toContain('activate_length')
    expect(fresh).toContain('deactivate')
    expect(fresh.length).toBeLessThan(30)
    await session.call('activate_length')
    expect(await session.data('miles_to_kilometres', { value: 26.2 })).toEqual({ value: 42.1648128, unit: 'km' })
    await expect.poll(() => session.notices).toBe(1)
  })

  test('a session with exposure=lazy enables the tool it needs', async () => {
    await using session = await connectedTo('exposure=lazy')
    expect(session.toolNames()).toEqual(['manage_tools'])
    await session.call('manage_tools', { action: 'enable', tools: 'easter_sunday' })
    expect(session.toolNames()).toEqual(['manage_tools', 'easter_sunday'])
    expect(text(await session.call('easter_sunday', { year: 2026 }))).toBe('2026-04-05')
  })

  test.each(['session', 'stateless'] as const)(
    'searching finds the instrument and call_tool runs it, in the era %s',
    async (era) => {
      await using client = await connected(made, { era })
      expect(await client.toolNames()).toEqual(['search_tools', 'describe_tools', 'call_tool'])
      const reply = await client.call('search_tools', { query: 'convert pounds to kilograms' })
      const found = replyData(reply) as { names: string[]; total: number }
      expect(found.names.slice(0, 2)).toContain('pounds_to_kilograms')
      expect(found.total).toBeGreaterThan(950)
      expect(await client.data('call_tool', { name: 'pounds_to_kilograms', arguments: { value: 10 } })).toEqual({
        value: 4.5359237,
        unit: 'kg',
      })
    },
  )

  test.each([
    ['volume of a cylinder', 'cylinder_volume'],
    ['decode base64', 'decode_base64'],
    ['sha256 checksum of text', 'hash_sha256'],
    ['what time is it in Tokyo', 'time_in_tokyo'],
    ['celsius to fahrenheit', 'degrees_celsius_to_degrees_fahrenheit'],
    ['count words', 'count_words'],
    ['contrast of two colours', 'colour_contrast'],
    ['standard deviation', 'standard_deviation_of_numbers'],
    ['dorian scale', 'dorian_scale'],
    ['greatest common divisor', 'greatest_common_divisor'],
  ])('"%s" finds %s first', async (query, name) => {
    await using client = await connectedTo('exposure=search')
    expect((replyData(await client.call('search_tools', { query })) as { names: string[] }).names[0]).toBe(name)
  })

  test('a search without matches says so', async () => {
    await using client = await connectedTo('exposure=search')
    expect(text(await client.call('search_tools', { query: 'send an invoice' }))).toContain('No match for')
  })
})

test.each(testTransports)('exposure=search works over $transport ($era)', async (testTransport) => {
  await using server = await testServer(made, testTransport)
  await using client = await server.connect({ view: 'exposure=search' })
  expect(replyData(await client.call('search_tools', { query: 'easter' }))).toMatchObject({
    names: ['easter_sunday'],
    confidence: 'strong',
  })
  const { content } = await client.call('call_tool', { name: 'easter_sunday', arguments: { year: 2_027 } })
  expect(content).toEqual([{ type: 'text', text: '2027-03-28' }])
})

describe('tools', () => {
  test.each([
    ['degrees_celsius_to_degrees_fahrenheit', { value: 100 }, { value: 212, unit: '°F' }],
    ['kelvins_to_degrees_celsius', { value: 0 }, { value: -273.15, unit: '°C' }],
    ['gibibytes_to_megabytes', { value: 1 }, { value: 1_073.741824, unit: 'MB' }],
    ['hours_to_minutes', { value: 1.5 }, { value: 90, unit: 'min' }],
    ['turns_to_degrees', { value: 0.25 }, { value: 90, unit: '°' }],
    ['circle_area', { radius: 2 }, { area: 12.5663706144 }],
    ['right_triangle_hypotenuse', { a: 3, b: 4 }, { hypotenuse: 5 }],
    ['regular_hexagon_area', { side: 1 }, { area: 2.59807621135 }],
    ['triangle_area', { a: 3, b: 4, c: 5 }, { area: 6 }],
    ['prime_factors', { n: 360 }, { factors: [2, 2, 2, 3, 3, 5] }],
    ['is_prime', { n: 1 }, { prime: false }],
    ['next_prime', { n: 13 }, { prime: 17 }],
    ['from_roman_numeral', { numeral: 'MMXXVI' }, { n: 2_026 }],
    ['percent_change', { before: 80, after: 100 }, { value: 25 }],
    ['least_common_multiple', { a: 4, b: 6 }, { lcm: 12 }],
    ['standard_deviation_of_numbers', { values: [2, 4, 4, 4, 5, 5, 7, 9] }, { value: 2 }],
    ['median_of_numbers', { values: [3, 1, 2, 10] }, { value: 2.5 }],
    ['most_frequent_numbers', { values: [1, 2, 2, 3, 3] }, { values: [2, 3], times: 2 }],
    ['linear_trend', { x: [1, 2, 3], y: [3, 5, 7] }, { slope: 2, intercept: 1, correlation: 1 }],
    ['count_words', { text: 'It’s a well-made thing.' }, { count: 4 }],
    [
      'extract_email_addresses',
      { text: 'Ask ada@example.com, or bob@example.org.' },
      { found: ['ada@example.com', 'bob@example.org'] },
    ],
    ['edit_distance', { one: 'kitten', other: 'sitting' }, { distance: 3 }],
    ['is_palindrome', { text: 'Never odd or even' }, { palindrome: true }],
    ['colour_contrast', { one: '#fff', other: '#000' }, { ratio: 21, passesAA: true, passesAAA: true }],
    ['triadic_colours', { colour: '#ff0000' }, { colours: ['#ff0000', '#00ff00', '#0000ff'] }],
    ['days_between', { from: '2026-01-01', to: '2026-07-28' }, { days: 208 }],
    ['business_days_between', { from: '2026-07-24', to: '2026-07-28' }, { business_days: 2 }],
    ['years_between', { from: '2000-02-29', to: '2026-02-28' }, { years: 26 }],
    ['week_number', { date: '2027-01-01' }, { year: 2_026, week: 53 }],
    ['moon_phase', { date: '2026-08-12' }, expect.objectContaining({ phase: 'new moon' })],
    ['to_unix_time', { time: '1970-01-02T00:00:00Z' }, { seconds: 86_400 }],
    ['major_chord', { root: 'Eb' }, { notes: ['D#', 'G', 'A#'] }],
    ['note_frequency', { note: 'C4' }, { hertz: 261.63 }],
    ['nearest_note', { hertz: 445 }, { note: 'A4', cents: 20 }],
    ['interval_between_notes', { from: 'C', to: 'G' }, { interval: 'perfect fifth', semitones: 7 }],
  ])('%s', async (name, args, expected) => {
    await using client = await connectedTo('exposure=search')
    expect((await client.call('call_tool', { name, arguments: args })).structuredContent).toEqual(expected)
  })

  test.each([
    ['hexadecimal_to_binary', { digits: 'ff' }, '11111111'],
    ['to_roman_numeral', { n: 1_994 }, 'MCMXCIV'],
    ['factorial', { n: 25 }, '15511210043330985984000000'],
    ['fibonacci', { n: 100 }, '354224848179261915075'],
    ['combinations', { n: 52, k: 5 }, '2598960'],
    ['to_snake_case', { text: 'someName for Things' }, 'some_name_for_things'],
    ['reverse_text', { text: 'añ👋🏽b' }, 'b👋🏽ña'],
    ['remove_accents', { text: 'Crème brûlée' }, 'Creme brulee'],
    ['encode_base64', { text: 'hé' }, 'aMOp'],
    ['encode_morse', { text: 'SOS now' }, '... --- ... / -. --- .--'],
    ['decode_morse', { text: '... --- ... / -. --- .--' }, 'sos now'],
    ['decode_html', { text: '&lt;b&gt; &amp;amp;' }, '<b> &amp;'],
    ['encode_rot13', { text: 'Hello' }, 'Uryyb'],
    ['encode_atbash', { text: 'abcXYZ' }, 'zyxCBA'],
    ['decode_binary', { text: '01101000 01101001' }, 'hi'],
    ['hash_md5', { text: '' }, 'd41d8cd98f00b204e9800998ecf8427e'],
    ['hex_colour_to_hsl', { colour: '#3366cc' }, 'hsl(220, 60%, 50%)'],
    ['hsl_colour_to_hex', { colour: 'hsl(220, 60%, 50%)' }, '#3366cc'],
    ['hex_colour_to_hsv', { colour: '#3366cc' }, 'hsv(220, 75%, 80%)'],
    ['hsv_colour_to_rgb', { colour: 'hsv(220, 75%, 80%)' }, 'rgb(51, 102, 204)'],
    ['rgb_colour_to_cmyk', { colour: 'rgb(51, 102, 204)' }, 'cmyk(75%, 50%, 0%, 20%)'],
    ['cmyk_colour_to_hex', { colour: 'cmyk(75%, 50%, 0%, 20%)' }, '#3366cc'],
    ['mix_colours', { one: '#000000', other: '#ffffff' }, '#808080'],
    ['add_months', { date: '2026-01-31', count: 1 }, '2026-02-28'],
    ['subtract_business_days', { date: '2026-07-27', count: 1 }, '2026-07-24'],
    ['next_monday', { date: '2026-07-27' }, '2026-08-03'],
    ['previous_monday', { date: '2026-07-28' }, '2026-07-27'],
    ['weekday', { date: '2026-07-28' }, 'Tuesday'],
    ['easter_sunday', { year: 2_025 }, '2025-04-20'],
    ['time_in_tokyo', { time: '2026-07-28T12:00:00Z' }, '2026-07-28 21:00'],
    ['transpose_note', { note: 'A', semitones: 3 }, 'C'],
  ])('%s', async (name, args, expected) => {
    await using client = await connectedTo('exposure=search')
    expect(text(await client.call('call_tool', { name, arguments: args }))).toBe(expected)
  })

  test('every tool has a description, and errors say what to do', async () => {
    await using everything = await testContext(made, { view: 'exposure=everything' })
    expect(everything.tools().filter(({ description = '' }) => !description.endsWith('.'))).toEqual([])
    for (const [name, args, message] of [
      ['triangle_area', { a: 1, b: 1, c: 5 }, 'longer than the other two'],
      ['from_roman_numeral', { numeral: 'IIII' }, '4 is IV'],
      ['binary_to_octal', { digits: '12' }, 'not a digit in base 2'],
      ['hex_colour_to_rgb', { colour: 'blue' }, 'like #3366cc'],
      ['percent_change', { before: 0, after: 1 }, 'no value'],
      ['geometric_mean_of_numbers', { values: [0, -1] }, 'above 0'],
    ] as const) {
      const result = await everything.call(name, args)
      expect({ name, isError: result.isError }).toEqual({ name, isError: true })
      expect(text(result)).toContain(message)
    }
  })

  test('conversions are reversible for every pair of units', async () => {
    await using everything = await testContext(made, { view: 'exposure=everything' })
    const converters = everything
      .toolNames()
      .filter((name) => /_to_/u.test(name) && everything.toolNames().includes(backwards(name)))
    const numeric = converters.filter((name) => schemaOf(everything, name).includes('"value"'))
    expect(numeric.length).toBeGreaterThan(600)
    const lossy: string[] = []
    for (const name of numeric) {
      const { value } = (await everything.call(name, { value: 12.5 })).structuredContent as { value: number }
      const back = (await everything.call(backwards(name), { value })).structuredContent as { value: number }
      if (Math.abs(back.value - 12.5) > 1e-6) lossy.push(name)
    }
    expect(lossy).toEqual([])
  })
})

const connectedTo = (view: string) => testContext(made, { view })

const backwards = (name: string): string => name.split('_to_').toReversed().join('_to_')

const schemaOf = (context: Awaited<ReturnType<typeof testContext>>, name: string): string =>
  JSON.stringify(context.tools().find((tool) => tool.name === name)?.inputSchema)

function text({ content }: { content: readonly { type: string; text?: string }[] }): string {
  return content.map((block) => block.text ?? '').join('\n')
}
