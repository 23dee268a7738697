import type { Tool } from '@unfold-mcp/core'
import { expect, test } from 'vitest'
import { parseConfig } from '../config/read.ts'
import type { Config } from '../config/schema.ts'
import { UpstreamSource } from './source.ts'

const configOf = (mcpServers: object, more: object = {}): Config =>
  parseConfig(JSON.stringify({ mcpServers, ...more }), { file: 'unfold.json', environment: {} }).config

const x = { command: 'x' }
const tool = (name: string): Tool => ({ name, inputSchema: { type: 'object' } })

/** A source of two servers, with the number of change notifications. */
function sourceOf(config: Config = configOf({ git: x, notes: x })) {
  const source = new UpstreamSource(config, { callOf: () => () => undefined, admit: (_server, tools) => tools })
  const changes = { count: 0 }
  source.subscribe(() => void changes.count++)
  return { source, changes, names: () => source.entries().map((entry) => entry.tool.name) }
}

test('entries follow the order of the configuration, whichever server started first', () => {
  const { source, names, changes } = sourceOf()
  source.replace('notes', [tool('add')])
  source.replace('git', [tool('log')])
  expect(names()).toEqual(['git__log', 'notes__add'])
  expect(changes.count).toBe(2)
  expect(source.toolOf('git', 'log')?.name).toBe('git__log')
  expect(source.toolOf('git', 'git__log')).toBeUndefined()
})

test('a change of one server keeps the entries of all other servers, and of its unchanged tools, identical', () => {
  const { source } = sourceOf()
  source.replace('notes', [tool('add')])
  source.replace('git', [tool('log'), tool('push')])
  const [log, push, add] = source.entries()
  source.replace('git', [tool('log'), { ...tool('push'), description: 'Another' }])
  const after = source.entries()
  expect([after[0] === log, after[1] === push, after[2] === add]).toEqual([true, false, true])
  source.configure(configOf({ git: { ...x, sweepMs: 1 }, notes: { ...x, tools: { add: { pinned: true } } } }), (server) =>
    server === 'git' ? [tool('log')] : [tool('add')],
  )
  // Settings that clients do not see create no new entries.
  expect(source.entries()[0]).toBe(log)
  expect(source.entries()[1]).not.toBe(add)
})

test('only groups with tools exist, with their ancestors', () => {
  const groups = { all: { description: 'All', groups: ['dev'] }, dev: { description: 'Development', servers: ['git'] } }
  const { source } = sourceOf(configOf({ git: x, notes: x }, { groups }))
  expect(source.groups()).toEqual({})
  source.describe('git', { instructions: 'Works with repositories.' })
  source.replace('git', [tool('log')])
  expect(source.groups()).toEqual({
    all: { description: 'All' },
    dev: { description: 'Development', parent: 'all' },
    git: { title: 'git', parent: 'dev' },
  })
  source.replace('git', [])
  expect(source.groups()).toEqual({})
})

test('an identical self-description is not a change', () => {
  const { source, changes } = sourceOf()
  source.describe('git', { title: 'Git', instructions: 'Works.' })
  source.describe('git', { title: 'Git', instructions: 'Works.' })
  expect(changes.count).toBe(1)
})

test('a removed or disabled server leaves nothing behind, not even its self-description for a new server of the same name', () => {
  const { source, names } = sourceOf()
  const tools = (): readonly Tool[] => [tool('log')]
  source.describe('git', { instructions: 'Works with repositories.' })
  source.configure(configOf({ git: { ...x, disabled: true }, notes: x }), tools)
  expect(names()).toEqual(['notes__log'])
  source.configure(configOf({ notes: x }), tools)
  source.replace('git', [tool('log')])
  expect(names()).toEqual(['notes__log'])
  source.configure(configOf({ git: { command: 'another' } }), tools)
  expect(source.groups()).toEqual({ git: { title: 'git' } })
})
