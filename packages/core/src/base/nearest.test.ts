import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxNearestWork, NearestSearch, nearest, nearestHint } from './nearest.ts'

describe('the nearest names', () => {
  const long = 'some_rather_long_name_of_a_tool_'.repeat(3)
  const names = ['read_file', 'write_file', 'list_issues', 'create_issue', 'delete_repository']

  test.each([
    ['a letter is missing', 'read_fil', 'read_file'],
    ['there is an extra letter', 'creates_issue', 'create_issue'],
    ['letters are swapped', 'raed_file', 'read_file'],
    ['a letter is wrong', 'list_izsues', 'list_issues'],
    ['it is in capitals', 'READ_FILE', 'read_file'],
    ['only a part was given', 'repository', 'delete_repository'],
  ])('include the intended one when %s', (_, wanted, meant) => {
    expect(nearest(wanted, names)[0]).toBe(meant)
  })

  test('are empty if nothing is similar', () => {
    expect(nearest('send_email_to_customer', names)).toEqual([])
    expect(nearest('zzz', names)).toEqual([])
    expect(nearest('read_file', [])).toEqual([])
  })

  test('start with the same name in another letter case', () => {
    expect(nearest('Read', ['can_read', 'read', 'read_all'])).toEqual(['read', 'can_read', 'read_all'])
  })

  test('are sorted by distance, then alphabetically', () => {
    expect(nearest('toool_a', ['tool_c', 'tool_a', 'tool_b'])).toEqual(['tool_a', 'tool_b', 'tool_c'])
  })

  test('are at most three, or as many as requested', () => {
    const many = ['tool_1', 'tool_2', 'tool_3', 'tool_4', 'tool_5']
    expect(nearest('tool_x', many)).toHaveLength(3)
    expect(nearest('tool_x', many, 1)).toEqual(['tool_1'])
  })

  test('are found among thousands of long names with little work', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `${long}${index}`)
    expect(nearest(`${long.replaceAll('o', '0')}7`, many)).toEqual([])
    expect(nearest(`${long}x`, many)).toEqual([`${long}0`, `${long}1`, `${long}2`])
    // Only the first of these are compared, because each takes as long as a real comparison.
    const anagrams = many.map((name) => name.split('').reverse().join(''))
    expect(nearest(`${long}7`, anagrams)).toEqual([])
  })

  test('differ in at most six characters, and in at most a third of a short name', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 3, maxLength: 24 })
    fc.assert(
      fc.property(word, word, (wanted, name) => {
        const reach = Math.min(6, Math.max(2, Math.floor(wanted.length / 3)))
        const isNear = name.includes(wanted) || changes(wanted, name) <= reach
        expect(nearest(wanted, [name])).toEqual(isNear ? [name] : [])
      }),
      { numRuns: 2_000 },
    )
  })

  test('do not depend on the order of the names', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ maxLength: 6 }), { maxLength: 20 }), fc.string({ maxLength: 6 }), (all, wanted) => {
        expect(nearest(wanted, all.toReversed())).toEqual(nearest(wanted, all))
      }),
    )
  })

  test.each([
    ['thousands of long names that are similar', (index: number) => `${long}${index}`, `${long.replaceAll('o', '0')}7`],
    ['thousands of long anagrams', (index: number) => `${index}${long.split('').reverse().join('')}`, `${long}7`],
    ['names of a megabyte', () => 'some_name'.repeat(100_000), 'some_nmae'],
    ['hundreds of thousands of short names', (index: number) => `t${index % 100}`, 'tool'],
  ])('AT-R09-5: are searched for among %s within the limit of work', (_, named, wanted) => {
    let read = 0
    const endless = function* (): Generator<string> {
      for (; ; read++) yield named(read)
    }
    const search = new NearestSearch(wanted, 3, maxNearestWork)
    search.run(endless())
    expect(search.work).toBeLessThanOrEqual(maxNearestWork)
    expect(read).toBeLessThanOrEqual(maxNearestWork)
  })

  test('with the same first letter are found even if the work limit does not allow comparing all names', () => {
    const others = Array.from({ length: 50_000 }, (_, index) => `another_tool_${index}`)
    expect(nearest('get_waether', [...others, 'get_weather'])).toEqual(['get_weather'])
  })

  test('are found quickly for a megabyte of text', () => {
    expect(nearest('x'.repeat(2 ** 20), names)).toEqual([])
  })

  test('of an empty text are only very short ones', () => {
    expect(nearest('', ['ab', 'abc'])).toEqual(['ab'])
  })
})

test('a hint is a sentence, or nothing', () => {
  expect(nearestHint(['a', 'b'])).toBe(' Nearest: a, b.')
  expect(nearestHint([])).toBe('')
})

/** The edit distance, by the textbook algorithm. */
function changes(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
