import { expect, test } from 'vitest'
import { locatedText } from './located.ts'

test('a message continues the path, or follows it as a sentence', () => {
  const at = { line: 2, column: 3 }
  expect(locatedText({ ...at, path: 'listen.port', message: 'must be a number.' })).toBe('2:3: listen.port must be a number.')
  expect(locatedText({ ...at, path: 'env.KEY', message: 'KEY is not set.' })).toBe('2:3: env.KEY: KEY is not set.')
  expect(locatedText({ ...at, path: '', message: 'is empty.' })).toBe('2:3 is empty.')
})
