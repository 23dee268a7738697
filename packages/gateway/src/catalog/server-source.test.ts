import type { Tool } from '@unfold-mcp/core'
import { expect, test } from 'vitest'
import { parseConfig } from '../config/read.ts'
import type { Config } from '../config/schema.ts'
import { ServerSource } from './server-source.ts'
import { UpstreamSource } from './source.ts'

const configOf = (mcpServers: object): Config =>
  parseConfig(JSON.stringify({ mcpServers }), { file: 'unfold.json', environment: {} }).config

const x = { command: 'x' }
const tool = (name: string): Tool => ({ name, inputSchema: { type: 'object' } })

function sourceOf(config: Config = configOf({ git: x, notes: x })) {
  const called: string[] = []
  const all = new UpstreamSource(config, {
    callOf: (server) => (own) => `${server} ${called.push(own)}`,
    admit: (_server, tools) => tools,
  })
  const git = new ServerSource(all, 'git')
  const changes = { count: 0 }
  git.subscribe(() => void changes.count++)
  return { all, git, changes, called, names: () => git.entries().map((entry) => entry.tool.name) }
}

test('a single server has its original tool names, no groups, and changes only with its own tools', () => {
  const { all, git, names, changes } = sourceOf()
  all.replace('git', [tool('log'), tool('push.all')])
  expect(names()).toEqual(['log', 'push.all'])
  expect(git.entries().map(({ visibility, source }) => ({ visibility, source }))).toEqual(
    Array.from({ length: 2 }, () => ({ visibility: {}, source: 'git' })),
  )
  expect([changes.count, git.sharedName('log'), git.sharedName('git__log')]).toEqual([1, 'git__log', undefined])
  const [log] = git.entries()
  all.replace('notes', [tool('log')])
  all.describe('git', { instructions: 'Works.' })
  expect(changes.count).toBe(1)
  all.replace('git', [tool('log'), { ...tool('push.all'), description: 'Pushes' }])
  expect(changes.count).toBe(2)
  // Unchanged entries are the same objects.
  expect(git.entries()[0]).toBe(log)
  all.configure(configOf({ notes: x }), () => [tool('log')])
  expect([changes.count, names()]).toEqual([3, []])
})

test('names that are reserved, or that clients could not accept, are replaced by the shared names', () => {
  const long = 'a'.repeat(129)
  const { all, git, names } = sourceOf()
  all.replace('git', [
    tool('git__search_tools'),
    tool('search_tools'),
    tool('activate_x'),
    tool('read_result'),
    tool('a b'),
    tool(long),
  ])
  const shown = names()
  expect(shown.slice(0, 4)).toEqual(['git__git__search_tools', 'git__search_tools', 'activate_x', 'git__read_result'])
  for (const name of shown) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,128}$/u)
  expect(new Set(shown).size).toBe(6)
  // Each maps back to its tool.
  expect(shown.map((name) => git.sharedName(name))).toEqual(all.entriesOf('git').map((entry) => entry.tool.name))
})

test('a configured name is used here too, and takes precedence over a tool with that name', () => {
  const { all, git, names } = sourceOf(configOf({ git: { ...x, tools: { push: { name: 'log' } } } }))
  all.replace('git', [tool('log'), tool('push')])
  expect(names()).toEqual(['git__log', 'log'])
  expect([git.sharedName('git__log'), git.sharedName('log')]).toEqual(['git__log', 'log'])
})
