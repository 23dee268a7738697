import { expect, test, vi } from 'vitest'
import { home, servers } from './command.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 })

test('list prints the signature of each tool, as search does', async () => {
  await using at = await home()
  const listed = await at.unfold(['list', '--quiet', '--', ...servers.grouped])
  expect(listed.stdout).toBe('now() — The time\nwrite_note(text: string, pinned?: boolean) — Writes a note\n')
  const found = await at.unfold(['search', 'write', 'a', 'note', '--limit', '1', '--', ...servers.grouped])
  expect(listed.stdout).toContain(found.stdout)
})

test('list notes, for people only, if session clients see different tools', async () => {
  await using at = await home()
  const grouped = await at.unfold(['list', '--', ...servers.grouped])
  expect(grouped.stderr.trim().split('\n').slice(1)).toEqual([
    'Session clients (before MCP 2026-07-28) first see 3 tools: activate_notes, deactivate, now (show with --protocol session).',
  ])
  const session = await at.unfold(['list', '--protocol', 'session', '--', ...servers.grouped])
  expect(session.stdout).toMatch(/^activate_notes\(/u)
  expect(session.stderr).not.toContain('Session clients')
  const same = await at.unfold(['list', '--', ...servers.desk])
  expect(same.stderr).toContain('7 tools, ~')
  expect(same.stderr).not.toContain('Session clients')
  const json = await at.unfold(['list', '--json', '--', ...servers.grouped])
  expect(Object.keys(JSON.parse(json.stdout))).toEqual(['server', 'tools'])
  expect(json.stderr).toBe('')
})
