import { expect, test } from 'vitest'
import { Journal } from './journal.ts'

const line = (message: string, level: 'debug' | 'info' = 'info') => ({ level, message, data: {} })

test('the stderr output of a server is kept, however much another one writes', () => {
  const journal = new Journal()
  journal.write('stderr', { upstream: 'quiet', line: 'once' })
  for (let index = 0; index < 1_000; index++) journal.write('stderr', { upstream: 'loud', line: String(index) })
  expect(journal.last('stderr', 10, ({ upstream }) => upstream === 'quiet').map(({ data }) => data.line)).toEqual(['once'])
  expect(journal.last('stderr', 1_000)).toHaveLength(201)
  expect(journal.last('stderr', 2).map(({ data }) => data.line)).toEqual(['998', '999'])
})

test('the latest entries are kept in order, and a flood of one kind evicts no other kind', () => {
  const journal = new Journal()
  journal.write('config', { isApplied: true })
  journal.write('log', line('early'))
  for (let index = 0; index < 10_000; index++) journal.write('log', line(`detail ${index}`, 'debug'))
  journal.write('log', line('late'))
  const all = journal.last('log', 5_000)
  expect(all).toHaveLength(1_002)
  expect(all.map(({ data }) => data.message).filter((message) => !message.startsWith('detail'))).toEqual(['early', 'late'])
  expect(journal.last('log', 2).map(({ data }) => data.message)).toEqual(['detail 9999', 'late'])
  expect(journal.after(0, new Set(['config'])).map(({ id }) => id)).toEqual([1])
  expect(journal.after(10_001, new Set(['config', 'log'])).map(({ id }) => id)).toEqual([10_002, 10_003])
})
