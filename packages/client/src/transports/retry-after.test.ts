import { expect, test } from 'vitest'
import { retryAfterMs } from './retry-after.ts'

const now = Date.parse('2026-11-16T12:00:00Z')

const pause = (value: string | undefined, status = 503): number | undefined =>
  retryAfterMs(new Response(null, { status, ...(value !== undefined && { headers: { 'retry-after': value } }) }), now)

test('Retry-After is read in seconds and as a date, and limited to an hour', () => {
  expect(pause('2')).toBe(2_000)
  expect(pause('0', 429)).toBe(0)
  expect(pause('Mon, 16 Nov 2026 12:00:30 GMT')).toBe(30_000)
  expect(pause('Mon, 16 Nov 2026 11:00:00 GMT')).toBe(0)
  expect(pause('999999999999')).toBe(3_600_000)
})

test('other values and other statuses are ignored', () => {
  for (const value of [undefined, '', 'soon', '-5', '1.5 s']) expect(pause(value)).toBeUndefined()
  expect(pause('2', 500)).toBeUndefined()
  expect(pause('2', 200)).toBeUndefined()
})
