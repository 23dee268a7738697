import { describe, expect, test } from 'vitest'
import { diffConfig } from './diff.ts'
import { parseConfig } from './read.ts'

const config = (value: unknown) => parseConfig(JSON.stringify(value), { file: 'unfold.json', environment: {} }).config
const diff = (before: unknown, after: unknown) => diffConfig(config(before), config(after))

const git = { command: 'git-server', args: ['a'], env: { A: '1', B: '2' } }

describe('the difference between two configurations', () => {
  test('is nothing when only the order and the way of writing differ, or a default was written out', () => {
    const before = { mcpServers: { git, web: { url: 'http://x/' } }, exposure: 'lazy' }
    const after = {
      $schema: './x.json',
      exposure: 'lazy',
      mcpServers: {
        web: { url: 'http://x/', start: 'eager' },
        git: { env: { B: '2', A: '1' }, args: ['a'], command: 'git-server' },
      },
    }
    expect(diff(before, after)).toEqual({ added: [], removed: [], changed: [], adjusted: [], others: [], isEmpty: true })
  })

  test('names the servers that came, went and are reached in another way', () => {
    const before = { mcpServers: { git, web: { url: 'http://x/' }, old: { command: 'o' } } }
    const after = { mcpServers: { git: { ...git, args: ['a', 'b'] }, web: { url: 'http://x/' }, young: { command: 'n' } } }
    expect(diff(before, after)).toMatchObject({ added: ['young'], removed: ['old'], changed: ['git'], adjusted: [], others: [] })
  })

  test.each([
    [{ ...git, env: { A: '1', B: '3' } }, 'changed'],
    [{ ...git, cwd: 'x' }, 'changed'],
    [{ ...git, disabled: true }, 'changed'],
    [{ url: 'http://x/' }, 'changed'],
    [{ ...git, about: 'Git' }, 'adjusted'],
    [{ ...git, tools: { log: { enabled: false } } }, 'adjusted'],
    [{ ...git, deny: ['push'] }, 'adjusted'],
    [{ ...git, concurrency: 1 }, 'adjusted'],
  ])('tells whether %j needs a new connection: %s', (after, kind) => {
    const found = diff({ mcpServers: { git } }, { mcpServers: { git: after } })
    expect([found.changed, found.adjusted]).toEqual(kind === 'changed' ? [['git'], []] : [[], ['git']])
    expect(found.isEmpty).toBe(false)
  })

  test('names what else changed, and leaves the servers alone', () => {
    const after = { mcpServers: { git }, exposure: 'search', profiles: { home: { servers: ['git'] } }, listen: { port: 1 } }
    expect(diff({ mcpServers: { git } }, after)).toMatchObject({ changed: [], others: ['exposure', 'profiles', 'listen'] })
  })
})
