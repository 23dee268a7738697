import { expect, test, vi } from 'vitest'
import { home, servers } from './command.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000 })

test('list prints the signature of each tool, as search does', async () => {
  await using at = await home()
  const listed = await at.unfold(['list', '--quiet', '--', ...servers.grouped])
  expect(listed.stdout).toBe('now() — The time\nwrite_note(text: string, pinned?: boolean) — Writes a note\n')
  const found = await at.unfold(['search', 'write', 'a', 'note', '--limit', '1', '--', ...servers.grouped])
  expect(listed.stdout).toContain(found.stdout)
})

test('list says when clients with sessions are listed something else, in one line, and only to people', async () => {
  await using at = await home()
  const grouped = await at.unfold(['list', '--', ...servers.grouped])
  expect(grouped.stderr.trim().split('\n').slice(1)).toEqual([
    'Clients with sessions (before MCP 2026-07-28) are first listed 3 tools: activate_notes, deactivate, now (--protocol session shows them).',
  ])
  const session = await at.unfold(['list', '--protocol', 'session', '--', ...servers.grouped])
  expect(session.stdout).toMatch(/^activate_notes\(/u)
  expect(session.stderr).not.toContain('Clients with sessions')
  const same = await at.unfold(['list', '--', ...servers.desk])
  expect(same.stderr).toContain('7 tools, about')
  expect(same.stderr).not.toContain('Clients with sessions')
  const json = await at.unfold(['list', '--json', '--', ...servers.grouped])
  expect(Object.keys(JSON.parse(json.stdout))).toEqual(['server', 'tools'])
  expect(json.stderr).toBe('')
})
