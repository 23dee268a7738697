import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { dimensions, MeaningTable, meaningTable } from './table.ts'
import { tableData } from './table-data.ts'

/** Changes only with the pairs or the training: `npm run train -- meaning` prints it. */
const checksum = '9c4e79abb9a6c4f6998b259eca6ef0b4a4d5def8205b6d5060e199d205bbd011'

/** Row of a table: scale and one four-bit value (-8 to 7) per dimension. */
function rowOf(scale: number, values: (dimension: number) => number): Buffer {
  const row = Buffer.alloc(4 + dimensions / 2)
  row.writeFloatLE(scale)
  for (let i = 0; i < dimensions; i += 2) row[4 + i / 2] = (values(i) + 8) | ((values(i + 1) + 8) << 4)
  return row
}

const axis = (wanted: number, value: number) => (dimension: number) => (dimension === wanted ? value : 0)

/** Three rows of 54 bytes: no padding in base64. */
const small = new MeaningTable(
  'refund rain weak',
  Buffer.concat([rowOf(1, axis(0, 7)), rowOf(1, axis(1, -8)), rowOf(0.5, axis(99, 2))]).toString('base64'),
)

describe('a table', () => {
  test('decodes scale and sign of each value', () => {
    expect(small.vectorOf(new Map([['refund', 1]]))?.[0]).toBe(1)
    expect(small.vectorOf(new Map([['rain', 1]]))?.[1]).toBe(-1)
    expect(small.vectorOf(new Map([['weak', 3]]))?.[99]).toBe(1)
  })

  test('a text is the normalized sum of its words and their weights', () => {
    const words = new Map([
      ['refund', 1],
      ['weak', 7],
    ])
    const vector = small.vectorOf(words)
    expect(vector?.[0]).toBeCloseTo(Math.SQRT1_2)
    expect(vector?.[99]).toBeCloseTo(Math.SQRT1_2)
  })

  test('unknown words add nothing; without known words there is no vector', () => {
    const known = small.vectorOf(new Map([['refund', 1]]))
    const words = new Map([
      ['refund', 1],
      ['Erstattung', 5],
    ])
    expect(small.vectorOf(words)).toEqual(known)
    expect(small.vectorOf(new Map([['Erstattung', 1]]))).toBeUndefined()
    expect(small.vectorOf(new Map())).toBeUndefined()
    expect(small.has('refund')).toBe(true)
    expect(small.has('toString')).toBe(false)
  })
})

describe('the built-in table', () => {
  const { rows, words: text } = tableData()
  const words = text.split(' ')

  test('is the one that the training made', () => {
    const source = readFileSync(new URL('./table-data.ts', import.meta.url))
    expect(createHash('sha256').update(source).digest('hex')).toBe(checksum)
  })

  test('has a row for each of its sorted words', () => {
    expect(words).toHaveLength(14_000)
    expect(words).toEqual([...new Set(words)].sort())
    expect(words.filter((word) => !/^[a-z]{2,}$/u.test(word))).toEqual([])
    expect(rows).toHaveLength((words.length * (4 + dimensions / 2) * 4) / 3)
  })

  test('every row decodes to a unit vector', () => {
    const table = meaningTable()
    const lengths = words.map((word) => Math.hypot(...(table.vectorOf(new Map([[word, 1]])) ?? [])))
    expect(lengths.filter((length) => !(Math.abs(length - 1) < 1e-5))).toEqual([])
  })

  test('words with the same use are closer than others', () => {
    const table = meaningTable()
    const cosine = (one: string, other: string): number => {
      const a = table.vectorOf(new Map([[one, 1]])) ?? new Float32Array(dimensions)
      const b = table.vectorOf(new Map([[other, 1]])) ?? new Float32Array(dimensions)
      return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
    }
    expect(cosine('refund', 'reimburse')).toBeGreaterThan(cosine('refund', 'rain') + 0.2)
    expect(cosine('rain', 'weather')).toBeGreaterThan(cosine('rain', 'invoice') + 0.2)
  })
})
