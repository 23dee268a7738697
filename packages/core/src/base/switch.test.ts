import { expect, test } from 'vitest'
import { parseSwitch } from './switch.ts'

test('a switch is on, off or unset, however it is spelt', () => {
  for (const text of ['true', '1', 'Yes', 'y', 'ON', ' TRUE ']) expect(parseSwitch('A', text)).toBe(true)
  for (const text of ['false', '0', 'No', 'n', 'OFF']) expect(parseSwitch('A', text)).toBe(false)
  for (const text of [undefined, '', ' ']) expect(parseSwitch('A', text)).toBeUndefined()
})

test('any other text is an error that names the setting', () => {
  expect(() => parseSwitch('LAZY_MODE', 'maybe')).toThrow('LAZY_MODE is "maybe", which is neither yes nor no.')
})
