import { describe, expect, test } from 'vitest'
import { formatRecords, mergeRecords, parseRecords } from './exchange.ts'
import { accept, block, emptyRecord, type Item, RecordIndex } from './record.ts'

const tool = (name: string, description: string): Item => ({ kind: 'tool', name, definition: { name, description } })
const record = block(accept(emptyRecord, [tool('a', 'one')], 'person', 1), [tool('b', 'bad')], 2)
const text = formatRecords(new Map([['notes', record]]))

test('an exported file contains every decision', () => {
  expect(parseRecords(text)).toEqual(new Map([['notes', record]]))
})

describe('a file is refused as a whole', () => {
  const edited = (from: string, to: string): string => {
    expect(text).toContain(from)
    return text.replace(from, to)
  }
  test.each([
    ['no JSON', '{', 'not JSON'],
    ['a text that was changed', edited('"one"', '"two"'), 'digest or the name of tool "a"'],
    ['a blocked text that was changed', edited('"bad"', '"good"'), 'digest or the name of tool "b"'],
    ['a name that was changed', edited('"name": "a"', '"name": "z"'), 'digest or the name'],
    ['another version', edited('"version": 1', '"version": 2'), 'another version of unfold'],
    ['an unknown kind', edited('"kind": "tool"', '"kind": "spell"'), 'kind'],
    ['an unknown key', edited('"version"', '"more": 1, "version"'), 'the file'],
    ['an unknown decider', edited('"person"', '"model"'), 'by'],
  ])('%s', (_, broken, problem) => {
    expect(() => parseRecords(broken)).toThrow(problem)
  })
})

describe('merging', () => {
  test('keeps own decisions and adds others', () => {
    const own = accept(emptyRecord, [tool('a', 'two')], 'watch', 3)
    const merged = mergeRecords(own, record)
    const index = new RecordIndex(merged)
    expect([tool('a', 'one'), tool('a', 'two'), tool('b', 'bad')].map((each) => index.isAccepted(each))).toEqual([
      true,
      true,
      false,
    ])
    expect(index.previous(tool('a', ''))?.definition).toEqual(tool('a', 'two').definition)
  })

  test('a block wins over an approval, on either side', () => {
    const approved = accept(emptyRecord, [tool('b', 'bad')], 'person', 3)
    for (const [own, other] of [
      [approved, record],
      [record, approved],
    ] as const) {
      const index = new RecordIndex(mergeRecords(own, other))
      expect([index.isBlocked(tool('b', 'bad')), index.isAccepted(tool('b', 'bad'))]).toEqual([true, false])
    }
  })

  test('an approval by a person is kept over an automatic one', () => {
    const automatic = accept(emptyRecord, [tool('a', 'one')], 'watch', 3)
    expect(mergeRecords(automatic, record).accepted).toMatchObject([{ by: 'person' }])
  })
})
