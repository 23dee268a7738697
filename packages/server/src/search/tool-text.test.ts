import { expect, test } from 'vitest'
import { textHash, toolText } from './tool-text.ts'

const tool = {
  name: 'findHire_car',
  title: 'Find a car',
  description: 'Cars for hire near a place.',
  inputSchema: { type: 'object', properties: { place: { type: 'string', description: 'A town' }, maxPrice: { type: 'number' } } },
} as const

test('names are split into words', () => {
  expect(toolText(tool)).toBe('Find a car (find Hire car)\nCars for hire near a place.\nplace: A town; max Price')
})

test('the text of a large definition is cut off', () => {
  const properties = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`p${i}`, { description: 'x'.repeat(10_000) }]))
  const huge = { ...tool, description: 'y'.repeat(5_000_000), inputSchema: { type: 'object' as const, properties } }
  expect(toolText(huge).length).toBeLessThanOrEqual(1_500)
})

test('tools with the same text have the same hash', () => {
  expect(textHash({ ...tool, _meta: { calls: 1 } })).toBe(textHash({ ...tool, annotations: { readOnlyHint: true } }))
  expect(textHash({ ...tool, description: 'Cars to buy.' })).not.toBe(textHash(tool))
})
