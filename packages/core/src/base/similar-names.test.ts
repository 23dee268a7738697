import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { confusableKey, confusableNames, unambiguous } from './similar-names.ts'

describe('names that are easily confused', () => {
  test.each([
    ['letter case', 'read_file', 'Read_File'],
    ['hyphen and underscore', 'read_file', 'read-file'],
    ['l and 1', 'list_all', '1ist_al1'],
    ['O and 0', 'go_to', 'g0_t0'],
    ['canonical composition', 'caf\u{e9}', 'cafe\u{301}'],
    ['full width', 'search', '\u{ff53}\u{ff45}\u{ff41}\u{ff52}\u{ff43}\u{ff48}'],
    ['a ligature', 'file_find', '\u{fb01}le_find'],
    ['a space at the end', 'search', 'search '],
    ['a no-break space at the end', 'search', 'search\u{a0}'],
    ['a dot at the end', 'search', 'search.'],
    ['spaces and dots at the end', 'search', 'search. .'],
    ['an invisible character', 'search', 'sea\u{200b}rch'],
    ['Cyrillic letters', 'search_copy', 's\u{435}\u{430}r\u{441}h_\u{441}\u{43e}\u{440}\u{443}'],
    ['Cyrillic capitals', 'HTTP_POST', '\u{41d}\u{422}\u{422}\u{420}_\u{420}\u{41e}ST'],
    ['Greek letters', 'kotlin', '\u{3ba}\u{3bf}\u{3c4}lin'],
    ['Greek capitals', 'NOTE', '\u{39d}\u{39f}\u{3a4}\u{395}'],
    ['Armenian letters', 'hour', '\u{570}\u{585}\u{57d}r'],
    ['another hyphen', 'read-file', 'read\u{2011}file'],
  ])('differ in %s', (_, one, other) => {
    expect(one).not.toBe(other)
    expect(confusableNames([one, 'unrelated', other])).toEqual([[one, other]])
  })

  test.each([
    ['café', 'cafe'],
    ['read_file', 'read_files'],
    ['a.b', 'ab'],
    ['поиск', 'запись'],
    ['検索', '保存'],
  ])('do not include %s and %s', (one, other) => {
    expect(confusableNames([one, other])).toEqual([])
  })

  test('a repeated name is not confused with itself', () => {
    expect(confusableNames(['a', 'a', 'b'])).toEqual([])
  })

  test('every text has a key, which normalisation does not change', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (name) => {
        expect(confusableKey(name.normalize('NFC'))).toBe(confusableKey(name.normalize('NFD')))
        expect(confusableKey(`${name} .`)).toBe(confusableKey(name))
      }),
    )
  })

  test('are shown so that the difference is visible', () => {
    expect(unambiguous('s\u{435}arch ')).toBe('"s\\u{435}arch "')
    expect(unambiguous('x'.repeat(500)).length).toBeLessThan(130)
  })
})
