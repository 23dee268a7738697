import { describe, expect, test } from 'vitest'
import { manifestOf } from './manifest.ts'

describe('a manifest', () => {
  test('says what it says, and no more', () => {
    const tools = [{ name: 'a', description: 'A' }]
    const text = `\uFEFF${JSON.stringify({ name: 'n', main: 'm.js', group: 'g', disabled: false, tools, more: 1 })}`
    expect(manifestOf(text)).toEqual({ name: 'n', main: 'm.js', group: 'g', tools })
    expect(manifestOf('{"disabled":true}')).toEqual({ disabled: true })
  })

  test.each([
    ['{', /^plugin\.json is not JSON: /],
    ['[]', 'plugin.json must hold an object'],
    ['null', 'plugin.json must hold an object'],
    ['{"main":5}', '"main" in plugin.json must be a text'],
    ['{"name":""}', '"name" in plugin.json must be a text'],
    ['{"disabled":"yes"}', '"disabled" in plugin.json must be true or false'],
    ['{"tools":{}}', '"tools" in plugin.json must be a list of objects, each with a name'],
    ['{"tools":[{}]}', '"tools" in plugin.json must be a list of objects, each with a name'],
  ])('that is none says why: %s', (text, message) => {
    expect(() => manifestOf(text)).toThrow(message)
  })
})
