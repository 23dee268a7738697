import { expect, test } from 'vitest'
import { accept, block, emptyRecord, type Item } from './records/record.ts'
import { reviewables } from './reviewable.ts'

const tool = (name: string, description: string): Item => ({ kind: 'tool', name, definition: { name, description } })
const nothing = { held: [], blocked: [] }

test('a change that was served without a person is listed with the definition before it, until a person approves it', () => {
  const first = accept(emptyRecord, [tool('a', 'one'), tool('b', 'one')], 'baseline', 1)
  const changed = accept(first, [tool('a', 'two'), tool('c', 'new')], 'watch', 2)
  expect(reviewables(changed, nothing)).toMatchObject([
    { state: 'changed', item: tool('a', 'two'), previous: { definition: { description: 'one' } } },
    { state: 'changed', item: tool('c', 'new'), previous: undefined },
  ])
  const approved = accept(changed, [tool('a', 'two'), tool('c', 'new')], 'person', 3)
  expect(reviewables(approved, nothing)).toEqual([])
})

test('a blocked definition is listed once, under the name that the server gives it now', () => {
  const record = block(emptyRecord, [tool('a', 'bad'), tool('b', 'worse')], 1)
  const listed = reviewables(record, { held: [], blocked: [tool('renamed', 'bad')] })
  expect(listed.map(({ state, item }) => [state, item.name])).toEqual([
    ['blocked', 'renamed'],
    ['blocked', 'b'],
  ])
})
