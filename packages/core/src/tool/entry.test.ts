import { expect, test } from 'vitest'
import { always, group, type Snapshot, when } from './entry.ts'

const hasData = ({ facts }: Snapshot): boolean => facts.buffer === 'full'

test('a tool is visible always, with its group, or if a predicate holds', () => {
  expect(always).toEqual({})
  expect(group('files')).toEqual({ group: 'files' })
  expect(when(hasData)).toEqual({ when: hasData })
})
