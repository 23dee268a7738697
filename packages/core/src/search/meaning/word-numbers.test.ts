import { describe, expect, test } from 'vitest'
import { tableData } from './table-data.ts'
import { WordNumbers } from './word-numbers.ts'

describe('numbers of words', () => {
  const { words } = tableData()
  const numbers = new WordNumbers(words)

  test('each word of the table has its place as its number', () => {
    const all = words.split(' ')
    expect(all.filter((word, index) => numbers.numberOf(word) !== index)).toEqual([])
  })

  test('other texts have none, also parts of words and of the list', () => {
    const others = ['', ' ', 'aa ab', 'refun', 'refundx', 'Refund', 'Erstattung', words]
    expect(others.filter((text) => numbers.numberOf(text) !== undefined)).toEqual([])
  })
})
