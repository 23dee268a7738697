import { expect, test } from 'vitest'
import { parseBoolean } from './boolean.ts'

test('a switch is on, off or unset, in any spelling', () => {
  for (const text of ['true', '1', 'Yes', 'y', 'ON', ' TRUE ']) expect(parseBoolean('A', text)).toBe(true)
  for (const text of ['false', '0', 'No', 'n', 'OFF']) expect(parseBoolean('A', text)).toBe(false)
  for (const text of [undefined, '', ' ']) expect(parseBoolean('A', text)).toBeUndefined()
})

test('any other text is an error that names the setting', () => {
  expect(() => parseBoolean('LAZY_MODE', 'maybe')).toThrow('LAZY_MODE is "maybe". Use true or false')
})
