import { expect, test } from 'vitest'
import { decodeUri } from './decode-uri.ts'

test.each([
  ['a%20b%2Fc', 'a b/c'],
  ['%E2%82%AC', '€'],
  ['100%', '100%'],
  ['%E2%82', '%E2%82'],
])('%j is decoded to %j', (text, expected) => {
  expect(decodeUri(text)).toBe(expected)
})
