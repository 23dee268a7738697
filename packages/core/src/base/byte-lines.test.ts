import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ByteLines } from './byte-lines.ts'

const allocate = (size: number): Buffer => Buffer.allocUnsafe(size)

/** Chunks of a text, cut at the given positions. */
const cut = (text: string, places: readonly number[]): readonly Buffer[] => {
  const bytes = Buffer.from(text)
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

const linesOf = (lines: ByteLines<Buffer>, chunks: readonly Buffer[]): readonly (string | undefined)[] =>
  chunks.flatMap((chunk) => [...lines.add(chunk)].map((line) => line?.toString()))

describe('lines', () => {
  test('are the same regardless of chunk boundaries', () => {
    const text = fc.array(fc.constantFrom('a', 'é', '\r', '\n', '\n', '😀'), { maxLength: 60 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (whole, places) => {
        const lines = new ByteLines<Buffer>({ allocate })
        const expected = whole.split('\n')
        expect([...linesOf(lines, cut(whole, places)), lines.rest()?.toString() ?? '']).toEqual(expected)
      }),
    )
  })

  test('include the line feed on request, so that joined they are the stream', () => {
    const lines = new ByteLines<Buffer>({ allocate, keepsEnds: true })
    expect(linesOf(lines, cut('one\n\r\n\ntwo\nrest', [2, 5, 9]))).toEqual(['one\n', '\r\n', '\n', 'two\n'])
    expect(lines.pending).toBe(4)
  })

  test.each([false, true])('over the limit are dropped, and the next is read (line feed kept: %s)', (keepsEnds) => {
    const end = keepsEnds ? '\n' : ''
    for (const places of [[], [2], [7], [1, 3, 9]]) {
      const lines = new ByteLines<Buffer>({ allocate, limit: 4, keepsEnds })
      expect(linesOf(lines, cut('12345\n1234\n', places))).toEqual([undefined, `1234${end}`])
    }
  })

  test('over the limit are counted until they end', () => {
    const lines = new ByteLines<Buffer>({ allocate, limit: 4 })
    for (let sent = 0; sent < 3; sent++) expect([...lines.add(Buffer.from('12345'))]).toEqual([])
    expect(lines.pending).toBe(15)
    expect(lines.rest()).toBeUndefined()
    expect(lines.pending).toBe(0)
  })

  test('that arrive byte by byte are not copied for each byte', () => {
    let allocated = 0
    const counting = (size: number): Buffer => {
      allocated += size
      return Buffer.allocUnsafe(size)
    }
    const lines = new ByteLines<Buffer>({ allocate: counting })
    for (let sent = 0; sent < 10_000; sent++) for (const _ of lines.add(Buffer.from('x'))) expect.unreachable()
    expect(lines.rest()).toHaveLength(10_000)
    expect(allocated).toBeLessThan(50_000)
  })

  test('stay unchanged when the next ones arrive', () => {
    const lines = new ByteLines<Buffer>({ allocate })
    const [first] = [...lines.add(Buffer.from('on')), ...lines.add(Buffer.from('e\ntw'))]
    for (const _ of lines.add(Buffer.from('oooo\n'))) expect(first?.toString()).toBe('one')
  })
})
