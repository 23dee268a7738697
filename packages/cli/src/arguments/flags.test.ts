import type { JsonSchema, Tool } from '@unfold-mcp/core'
import { describe, expect, test } from 'vitest'
import { common, verbs } from '../grammar/verbs.ts'
import { flagsOf, reservedNames } from './flags.ts'

const tool = (properties: JsonSchema): Tool => ({ name: 'act', inputSchema: { type: 'object', properties } })

const textsOf = (properties: JsonSchema): readonly string[] => flagsOf(tool(properties)).map(({ text }) => text)

describe('the flags of a tool', () => {
  test('follow the schema order, nested properties after their object', () => {
    const user = { type: 'object', properties: { name: {}, address: { type: 'object', properties: { city: {} } } } }
    expect(textsOf({ title: {}, user, z: {} })).toEqual([
      '--title',
      '--user',
      '--user.name',
      '--user.address',
      '--user.address.city',
      '--z',
    ])
  })

  test('are cached per tool', () => {
    const given = tool({ a: {} })
    expect(flagsOf(given)).toBe(flagsOf(given))
  })

  test.each([
    ['ours', 'json', '--arg:json'],
    ['ours by its negation', 'no-color', '--arg:no-color'],
    ['empty', '', '--arg:""'],
    ['a flag already', '--help', '--arg:--help'],
    ['with spaces', 'my param', '--arg:my param'],
    ['with an equals sign', 'a=b', '--arg:"a=b"'],
    ['with a colon', 'a:b', '--arg:"a:b"'],
    ['with quotes', 'a"b', '--arg:"a\\"b"'],
    ['with something unseen', 'a\u001b\u200b', '--arg:"a\\u001b\\u200b"'],
    ['half of a pair', '\ud83d', '--arg:"\\ud83d"'],
  ])('are escaped with --arg: if the name %s', (_, name, text) => {
    expect(textsOf({ [name]: {} })).toEqual([text])
  })

  test.each(['title', 'Größe', '__proto__', 'constructor', 'a.b', 'a/b', '$ref', 'x-y_z', '日本'])('for %s need none', (name) => {
    expect(textsOf(JSON.parse(`{${JSON.stringify(name)}:{}}`) as JsonSchema)).toEqual([`--${name}`])
  })

  test('have a negation if they can be false and it is unambiguous', () => {
    const negations = flagsOf(
      tool({
        draft: { type: 'boolean' },
        either: { type: ['boolean', 'string'] },
        text: { type: 'string' },
        x: { type: 'boolean' },
        'no-x': { type: 'string' },
        color: { type: 'boolean' },
        input: { type: 'boolean' },
      }),
    ).map(({ text, negation }) => [text, negation])
    expect(negations).toEqual([
      ['--draft', '--no-draft'],
      ['--either', '--no-either'],
      ['--text', undefined],
      ['--x', undefined],
      ['--no-x', undefined],
      ['--arg:color', undefined],
      ['--input', undefined],
    ])
  })

  test('are empty for a tool without parameters', () => {
    expect(flagsOf({ name: 'act', inputSchema: { type: 'object' } })).toEqual([])
  })
})

test('all flags of call are reserved names', () => {
  const ours = [...Object.keys(common), ...Object.keys(verbs.call?.flags ?? {})]
  expect(ours.filter((name) => !reservedNames.has(name))).toEqual([])
})
