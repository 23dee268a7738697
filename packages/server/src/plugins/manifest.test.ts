import { describe, expect, test } from 'vitest'
import { parseManifest } from './manifest.ts'

describe('a manifest', () => {
  test('keeps the known fields and drops the rest', () => {
    const tools = [{ name: 'a', description: 'A' }]
    const text = `\uFEFF${JSON.stringify({ name: 'n', main: 'm.js', group: 'g', disabled: false, tools, more: 1 })}`
    expect(parseManifest(text)).toEqual({ name: 'n', main: 'm.js', group: 'g', tools })
    expect(parseManifest('{"disabled":true}')).toEqual({ disabled: true })
  })

  test.each([
    ['{', /^plugin\.json is not valid JSON: /],
    ['[]', 'plugin.json must be a JSON object'],
    ['null', 'plugin.json must be a JSON object'],
    ['{"main":5}', '"main" in plugin.json must be a non-empty string'],
    ['{"name":""}', '"name" in plugin.json must be a non-empty string'],
    ['{"disabled":"yes"}', '"disabled" in plugin.json must be true or false'],
    ['{"tools":{}}', '"tools" in plugin.json must be an array of objects, each with a name'],
    ['{"tools":[{}]}', '"tools" in plugin.json must be an array of objects, each with a name'],
  ])('is rejected with the reason: %s', (text, message) => {
    expect(() => parseManifest(text)).toThrow(message)
  })
})
