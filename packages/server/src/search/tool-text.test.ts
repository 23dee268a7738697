import { expect, test } from 'vitest'
import { contentOf, toolText } from './tool-text.ts'

const tool = {
  name: 'findHire_car',
  title: 'Find a car',
  description: 'Cars for hire near a place.',
  inputSchema: { type: 'object', properties: { place: { type: 'string', description: 'A town' }, maxPrice: { type: 'number' } } },
} as const

test('an embedder reads words, not code', () => {
  expect(toolText(tool)).toBe('Find a car (find Hire car)\nCars for hire near a place.\nplace: A town; max Price')
})

test('a definition of any size has a text of bounded size', () => {
  const properties = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`p${i}`, { description: 'x'.repeat(10_000) }]))
  const huge = { ...tool, description: 'y'.repeat(5_000_000), inputSchema: { type: 'object' as const, properties } }
  expect(toolText(huge).length).toBeLessThanOrEqual(1_500)
})

test('the same text has the same content, whatever else the tools differ in', () => {
  expect(contentOf({ ...tool, _meta: { calls: 1 } })).toBe(contentOf({ ...tool, annotations: { readOnlyHint: true } }))
  expect(contentOf({ ...tool, description: 'Cars to buy.' })).not.toBe(contentOf(tool))
})
