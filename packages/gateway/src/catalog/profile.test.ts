import { declareGroups } from '@unfold-mcp/core'
import { describe, expect, test } from 'vitest'
import { shorten } from '../base/visible-text.ts'
import { parseConfig } from '../config/read.ts'
import { matcher } from '../names/pattern.ts'
import { buildGroups } from './groups.ts'
import { profilePermits } from './profile.ts'

const { config } = parseConfig(
  JSON.stringify({
    mcpServers: {
      aws: { command: 'x', group: 'cloud' },
      gcp: { command: 'x' },
      git: { command: 'x', description: 'Version control' },
      'My Notes': { command: 'x' },
      off: { command: 'x', disabled: true },
    },
    groups: {
      work: { description: 'Work', groups: ['cloud'], servers: ['git'] },
      cloud: { description: 'Clouds', servers: ['gcp'] },
    },
    profiles: {
      all: {},
      safe: { except: ['*__delete_*'] },
      ops: { groups: ['cloud'] },
      job: { groups: ['work'], except: ['git__push'] },
      mixed: { servers: ['My Notes'], tools: ['aws__list_*', 'history'] },
      none: { tools: [] },
    },
  }),
  { file: 'unfold.json', environment: {} },
)

const entries = [
  ['aws', 'aws__list_all'],
  ['aws', 'aws__delete_all'],
  ['gcp', 'gcp__list_all'],
  ['git', 'git__push'],
  ['git', 'history'],
  ['My Notes', 'My_Notes__read'],
].map(([source = '', name = '']) => ({ source, tool: { name } }))

describe('a profile', () => {
  test.each([
    ['all', ['aws__list_all', 'aws__delete_all', 'gcp__list_all', 'git__push', 'history', 'My_Notes__read']],
    ['safe', ['aws__list_all', 'gcp__list_all', 'git__push', 'history', 'My_Notes__read']],
    ['ops', ['aws__list_all', 'aws__delete_all', 'gcp__list_all']],
    ['job', ['aws__list_all', 'aws__delete_all', 'gcp__list_all', 'history']],
    ['mixed', ['aws__list_all', 'history', 'My_Notes__read']],
    ['none', []],
  ])('%s has %j', (name, expected) => {
    const profile = config.profiles[name]
    if (profile === undefined) throw new Error('no profile')
    expect(entries.filter(profilePermits(config, profile)).map(({ tool }) => tool.name)).toEqual(expected)
  })
})

describe('the groups of a gateway', () => {
  test('are its servers, nested as configured, and can be declared', () => {
    const info = { name: 'aws-server', version: '1.0.0', title: 'Amazon \u200bWeb Services' }
    const groups = buildGroups(config, (server) => (server === 'aws' ? { info, instructions: 'Call list_all first.' } : {}))
    expect(groups).toEqual({
      work: { description: 'Work' },
      cloud: { description: 'Clouds', parent: 'work' },
      aws: { title: 'Amazon Web Services', parent: 'cloud' },
      gcp: { title: 'gcp', parent: 'cloud' },
      git: { description: 'Version control', parent: 'work' },
      My_Notes: { title: 'My Notes' },
    })
    expect(declareGroups(groups).byName.size).toBe(6)
  })

  test('are named after a short title of the server without hidden characters', () => {
    const titled = (title: string) => buildGroups(config, () => ({ info: { name: 'x', version: '1', title } })).gcp?.title
    const long = titled(`Use\u200b me.\u001b[31m ${'Again and again. '.repeat(10_000)}`)
    expect(long).toMatch(/^Use me\.\[31m Again/u)
    expect(long?.length).toBeLessThanOrEqual(60)
    expect(titled('\u200b\n ')).toBe('gcp')
  })

  test('are truncated between words and never inside a character', () => {
    expect(shorten('word '.repeat(50), 20)).toBe('word word word…')
    expect(shorten('😀'.repeat(50), 20)).toMatch(/^(?:😀)+…$/u)
  })
})

describe('a pattern', () => {
  test.each([
    ['a*', 'abc', true],
    ['*c', 'abc', true],
    ['a*c', 'abc', true],
    ['a*b*c', 'aXbYc', true],
    ['abc', 'abc', true],
    ['*', '', true],
    ['ab*bc', 'abc', false],
    ['a.c', 'abc', false],
    ['A*', 'abc', false],
    ['abc', 'abcd', false],
  ])('%s matches %s: %s', (pattern, text, expected) => {
    expect(matcher([pattern])(text)).toBe(expected)
  })

  test('with many stars matches in linear time', () => {
    expect(matcher(['*a'.repeat(90)])(`${'a'.repeat(100_000)}b`)).toBe(false)
  })
})
