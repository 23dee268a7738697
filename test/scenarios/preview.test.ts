import { createToken } from '@unfold-mcp/gateway/config'
import { defineToolbox, listen } from '@unfold-mcp/server'
import { expect, vi } from 'vitest'
import { home, servers } from '../../packages/cli/test/command.ts'
import { startGatewayProcess } from '../../packages/cli/test/gateway-process.ts'
import { verifies } from '../verifies.ts'

// Each test starts several processes, which takes long on a busy machine.
vi.setConfig({ testTimeout: 300_000 })

interface Shown {
  readonly clients: readonly {
    readonly era: string
    readonly steps: readonly { readonly call: string }[]
    readonly warnings: readonly { readonly kind: string; readonly message: string }[]
  }[]
  readonly notes: readonly string[]
}

verifies('W01', async () => {
  await using at = await home()
  const { code, stdout, stderr } = await at.unfold(['preview', '--', ...servers.grouped])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.split('\n')).toEqual([
    'grouped 1.0.0, as seen by any client',
    '',
    expect.stringMatching(/^ +Session \(2025-11-25\) +2026-07-28$/u),
    expect.stringMatching(/^Listed first +3 tools, \d+ tokens +2 tools, \d+ tokens$/u),
    expect.stringMatching(/^Instructions +\d+ tokens +\d+ tokens$/u),
    expect.stringMatching(/^Not listed +1 tool, \d+ tokens +none$/u),
    expect.stringMatching(/^Turns to a tool +2; not listed: 3 +2$/u),
    '',
    expect.stringMatching(/^Tool +Tokens +Tokens$/u),
    expect.stringMatching(/^ {2}activate_notes +\d+ +-$/u),
    expect.stringMatching(/^ {2}deactivate +\d+ +-$/u),
    expect.stringMatching(/^ {2}now +\d+ +\d+$/u),
    expect.stringMatching(/^ {2}write_note +\d+, after activate_notes +\d+$/u),
    '',
    'Steps: Session (2025-11-25)',
    expect.stringMatching(/^ {2}1\. activate_notes\(\): reply \d+ tokens, 1 new tool \(\d+ tokens\)$/u),
    '     | Activated: notes.',
    '     | 1 tool is now available:',
    '     | - write_note(text: string, pinned?: boolean) — Writes a note',
    '     | Call them by name.',
    '',
  ])
})

verifies('W02', async () => {
  await using at = await home()
  const found = new Map<string, readonly string[]>()
  for (const host of ['claude-code', 'codex', 'gemini-cli', 'opencode']) {
    const { stdout } = await at.unfold(['preview', '--host', host, '--json', '--', ...servers.troubled])
    const { clients } = JSON.parse(stdout) as Shown
    found.set(
      host,
      clients.flatMap(({ warnings }) => warnings.map(({ kind, message }) => `${kind}: ${message}`)),
    )
  }
  const long = 'a_tool_with_a_name_that_is_longer_than_most_hosts_can_take_here'
  const missing = 'missing_description: undescribed has no description'
  const empty = 'unreachable_group: group "empty" has no tools that this client can reach'
  const groups = [
    empty,
    'unreachable_group: activate_broken fails: Group "broken" could not be activated: the database is down. Nothing was changed.',
    'dropped_activator: group "locked" cannot be activated: its activator "unlock" is not listed',
  ]
  expect(Object.fromEntries(found)).toEqual({
    opencode: [missing, ...groups],
    'gemini-cli': [
      missing,
      ...groups,
      `long_name: ${long} has a name that is too long: Gemini CLI accepts 63 characters including its own prefix, such as "mcp__troubled__"`,
    ],
    codex: [
      missing,
      ...groups,
      'dropped_keywords: Codex does not pass these schema keywords to the model: pattern (strict), minLength (strict)',
    ],
    'claude-code': [
      missing,
      empty,
      'unreachable_group: group "broken" has no tools that this client can reach',
      'truncated_description: verbose has a description that is too long: Claude Code truncates descriptions to 2,048 characters',
      'truncated_instructions: the instructions have 3,300 characters: Claude Code truncates them to 2,048',
    ],
  })
})

verifies('W03', async () => {
  await using at = await home()
  const calls: string[] = []
  const toolbox = defineToolbox({
    name: 'shared',
    version: '1.0.0',
    groups: { notes: { description: 'Notes' }, admin: { description: 'Administration' } },
  })
  toolbox.tool('now', { description: 'The time' }, () => void calls.push('now'))
  toolbox.tool('write_note', { group: 'notes', description: 'Writes a note' }, () => void calls.push('write_note'))
  toolbox.tool('reset', { group: 'admin', description: 'Resets' }, () => void calls.push('reset'))
  toolbox.tool('become_admin', { activator: 'admin', description: 'Pages an administrator' }, (_, ctx) => {
    calls.push('become_admin')
    return ctx.activate('admin')
  })
  const served = await listen(toolbox, { port: 0 })
  try {
    const { code, stdout } = await at.unfold(['preview', served.url, '--era', 'session', '--json'])
    expect(code).toBe(0)
    const { clients, notes } = JSON.parse(stdout) as Shown
    expect(clients.flatMap(({ steps }) => steps.map(({ call }) => call))).toEqual(['activate_notes()'])
    expect(clients.flatMap(({ warnings }) => warnings)).toEqual([])
    expect(notes).toEqual(['Not called (need arguments or may have side effects): become_admin.'])
    expect(calls).toEqual([])
  } finally {
    await served.close()
  }
  // All sessions of this token share activations.
  const { token, record } = createToken('mine')
  const [command = '', ...args] = servers.grouped
  const config = { mcpServers: { desk: { command, args } }, tokens: [record], exposure: 'groups', remember: 'principal' }
  await using gateway = await startGatewayProcess(at, config)
  const header = ['--header', `authorization: Bearer ${token}`]
  const listed = async () =>
    (await at.unfold(['list', gateway.url, '--names', '--protocol', 'session', '--no-cache', '--quiet', ...header])).stdout
  const before = await listed()
  expect(before).toContain('activate_desk')
  const previewed = await at.unfold(['preview', gateway.url, '--era', 'session', ...header])
  expect(previewed.stdout).toMatch(/^ {2}desk__now +\d+, after activate_desk$/mu)
  expect(await listed()).toBe(before)
})
