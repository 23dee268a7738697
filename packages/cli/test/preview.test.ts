import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hostProfiles } from '@unfold-mcp/core'
import { createToken } from '@unfold-mcp/gateway/config'
import { expect, test, vi } from 'vitest'
import { home, servers } from './command.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { person } from './terminal.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 })

const [command = '', ...args] = servers.grouped
const grouped = { command, args }

test('a third-party server is previewed in the era that it supports', async () => {
  await using at = await home()
  const { code, stdout, stderr } = await at.unfold(['preview', '--', ...servers.memory])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^memory-server [\d.]+, as seen by any client\n\n +Session \(2025-11-25\)\n/u)
  expect(stdout).toContain('note: This server does not support MCP 2026-07-28. Every client uses a session.')
  expect(stdout).toMatch(/^ {2}create_entities +\d+$/mu)
  // Not a terminal.
  expect(stdout).not.toContain('\u001b')
  const fallen = await at.unfold(['preview', '--host', 'claude-code', '--json', '--', ...servers.memory])
  expect(JSON.parse(fallen.stdout)).toMatchObject({
    host: 'claude-code',
    clients: [{ era: 'session', revision: '2025-11-25', turns: { listed: 2 }, warnings: [] }],
    notes: [
      'This server does not support MCP 2026-07-28. Claude Code uses a session.',
      expect.stringContaining('Claude Code defers tools in some versions'),
    ],
  })
  expect(await at.unfold(['preview', '--era', '2026-07-28', '--', ...servers.memory])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/ does not support MCP 2026-07-28\. Use --era session\.\n$/u),
  })
})

test('every known host can be previewed, in its own era or another', async () => {
  await using at = await home()
  for (const { id, title, era, relists } of hostProfiles) {
    const { code, stdout } = await at.unfold(['preview', '--host', id, '--', ...servers.grouped])
    expect({ id, code }).toEqual({ id, code: 0 })
    expect(stdout).toContain(`grouped 1.0.0, as seen by ${title}\n`)
    const isSession = era === 'session'
    expect(/Session \(/u.test(stdout)).toBe(isSession)
    // A host that re-lists late has call_tool, and calls revealed tools with it.
    const isThrough = isSession && relists !== 'immediately'
    expect(/^ {2}call_tool /mu.test(stdout)).toBe(isThrough)
    expect(stdout.includes('1 new tool (called with call_tool)')).toBe(isThrough)
  }
  const both = await at.unfold(['preview', '--host', 'codex', '--era', 'both', '--json', '--', ...servers.grouped])
  expect(JSON.parse(both.stdout).clients.map(({ era }: { readonly era: string }) => era)).toEqual(['session', 'stateless'])
})

test('gates and parent groups are opened first and count as turns', async () => {
  await using at = await home()
  const { stdout } = await at.unfold(['preview', '--json', '--', ...servers.gated])
  const { clients, notes } = JSON.parse(stdout)
  expect(clients[0]).toMatchObject({
    era: 'session',
    turns: { listed: 2, unlisted: { min: 4, max: 5 } },
    steps: [
      { call: 'activate()', first: [] },
      { call: 'activate_outer()', first: ['activate'], tools: ['shallow'] },
      { call: 'activate_inner()', first: ['activate', 'activate_outer'], tools: ['deep'] },
    ],
    warnings: [],
  })
  expect(notes).toEqual(['Not seen in a session: go_on. Some tools are listed only after another tool succeeded.'])
})

test('the running gateway is previewed by default, with a token if required, and by its URL', async () => {
  await using at = await home()
  const { token, record } = createToken('mine')
  await using gateway = await startGatewayProcess(at, { mcpServers: { grouped }, tokens: [record] })
  const refused = await at.unfold(['preview', '--host', 'codex'])
  expect(refused).toMatchObject({ code: 3, stdout: '' })
  expect(refused.stderr).toBe(
    'error: The gateway requires a valid token. Create one with "unfold token add <name>", and pass it with --header "Authorization: Bearer <token>".\n',
  )
  const header = ['--header', `authorization: Bearer ${token}`]
  const shown = await at.unfold(['preview', '--host', 'codex', ...header])
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('as seen by Codex\n') })
  expect(shown.stdout).toMatch(/^ {2}grouped__write_note +\d+$/mu)
  const searched = await at.unfold(['preview', `${gateway.url}?exposure=search`, '--json', ...header])
  const { clients } = JSON.parse(searched.stdout)
  expect(clients).toHaveLength(2)
  for (const client of clients)
    expect(client).toMatchObject({
      turns: { listed: 2, unlisted: { min: 3, max: 3 } },
      steps: [{ call: 'search_tools(query: "grouped now")', reply: expect.stringContaining('grouped__now(') }],
      tools: expect.arrayContaining([expect.objectContaining({ name: 'grouped__write_note', state: 'found' })]),
    })
})

test('a deferring host is previewed with its own search, or with the short list that connect requests', async () => {
  await using at = await home()
  await using gateway = await startGatewayProcess(at, { mcpServers: { grouped }, budgetTokens: 10 })
  const states = async (address: readonly string[]) => {
    const { stdout } = await at.unfold(['preview', ...address, '--host', 'qwen-code', '--json'])
    const { clients, notes } = JSON.parse(stdout)
    const [{ tools }] = clients
    return { states: [...new Set(tools.map(({ state }: { readonly state: string }) => state))], notes: notes.length }
  }
  expect(await states([])).toEqual({ states: ['named'], notes: 1 })
  expect(await states([`${gateway.url}?exposure=auto`])).toEqual({ states: ['listed', 'found'], notes: 0 })
})

test('with manage_tools, the steps are a search and enabling its first match', async () => {
  await using at = await home()
  await using gateway = await startGatewayProcess(at, { mcpServers: { grouped }, exposure: 'lazy' })
  const { stdout } = await at.unfold(['preview', gateway.url, '--era', 'session', '--json'])
  expect(JSON.parse(stdout).clients[0]).toMatchObject({
    turns: { listed: 2, unlisted: { min: 4, max: 4 } },
    steps: [
      { call: 'manage_tools(action: "search", query: "grouped now")' },
      { call: 'manage_tools(action: "enable", tools: ["grouped__now"])', tools: ['grouped__now'] },
    ],
  })
})

test('a configured server is previewed by name, after approval', async () => {
  await using at = await home()
  await writeFile(join(at.folder, 'unfold.json'), JSON.stringify({ mcpServers: { notes: grouped } }))
  expect(await at.unfold(['preview', 'notes'])).toMatchObject({ code: 6, stderr: expect.stringContaining('--yes') })
  const { code, stdout } = await at.unfold(['preview', 'notes', '--yes', '--era', 'session'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^ {2}write_note +\d+, after activate_notes$/mu)
})

test('errors name the cause and the next step', async () => {
  await using at = await home()
  const failing = async (...line: readonly string[]) => {
    const { code, stdout, stderr } = await at.unfold(['preview', ...line])
    expect(stdout).toBe('')
    return `${code} ${stderr.trimEnd()}`
  }
  const others = 'preview a server: unfold preview <server>, unfold preview <address>, or unfold preview -- node server.js'
  expect(await failing()).toBe(`4 error: No gateway is running. Start it with "unfold serve", or ${others}`)
  expect(await failing('--config', 'my.json')).toBe(
    `4 error: No gateway is running with my.json. Start it with "unfold serve my.json", or ${others}`,
  )
  expect(await failing('--host', 'codx', '--', 'node')).toMatch(/^2 error: Unknown host "codx"\. Nearest: codex\. Known hosts: /u)
  expect(await failing('--era', '2025', '--', 'node')).toBe('2 error: --era must be session, 2026-07-28 or both, not "2025".')
  expect(await failing('a', 'b')).toBe('2 error: Too many arguments: "b". unfold preview takes one server.')
  expect(await failing('a', '--', 'node')).toBe('2 error: Too many arguments: "a". unfold preview takes one server.')
  expect(await failing('--protocol', 'session')).toMatch(/^2 error: Unknown flag --protocol\./u)
  expect(await failing('--', process.execPath, '-e', 'console.error("Error: NOTES_TOKEN is not set"); process.exit(1)')).toMatch(
    /^4 error: .*NOTES_TOKEN is not set/u,
  )
  const script =
    'import("@unfold-mcp/server").then(({ defineToolbox, serve }) => serve(defineToolbox({ name: "a", version: "1.0.0" }).tool("open", { activator: true }, () => "open")))'
  // The library rejects an activator that activates nothing, and the reason is shown.
  const refused = await at.unfold(['preview', '--', process.execPath, '-e', script], { cwd: import.meta.dirname })
  expect(refused).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining('"open"') })
})

test('output is coloured on a terminal, and a narrow terminal shows one era after the other', async () => {
  await using at = await home()
  await using shown = person(['preview', '--', ...servers.grouped], { env: at.env, cwd: at.folder, columns: 50 })
  expect(await shown.ended).toBe(0)
  const lines = shown.seen.split(/\r?\n/u)
  expect(lines.filter((line) => line.startsWith('Listed first'))).toHaveLength(2)
  expect(lines.filter((line) => line.length > 50)).toEqual([])
  expect(shown.raw).toContain('\u001b[1mgrouped 1.0.0, as seen by any client')
})
