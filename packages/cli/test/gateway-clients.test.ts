import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { home, main } from './command.ts'
import { keys, person } from './terminal.ts'

test('a client is connected after confirmation, and disconnected; the rest of its file stays byte-identical', async () => {
  await using at = await home()
  const path = join(at.folder, '.claude.json')
  const before =
    '\uFEFF{\r\n\t"mine": 1, // kept\r\n\t"mcpServers": {\r\n\t\t"git": { "command": "x", "env": { "KEY": "sk-of-git" } }\r\n\t}\r\n}'
  await writeFile(path, before)
  // A gateway of the person who runs the tests may use the default port.
  const args = ['connect', 'claude', '--token', 'unf_secret', '--profile', 'work', '--no-verify']
  const blocked = await at.unfold(args)
  expect(blocked).toMatchObject({ code: 6, stderr: expect.stringContaining('--yes') })
  expect(await readFile(path, 'utf8')).toBe(before)
  await using asked = person(args, { env: at.env, cwd: at.folder })
  await asked.sees('"unfold": {')
  await asked.sees('Connect Claude Code to the gateway?')
  asked.types('y')
  asked.types(keys.enter)
  expect(await asked.ended).toBe(0)
  expect(asked.seen).not.toMatch(/unf_secret|sk-of-git/u)
  expect(await readFile(path, 'utf8')).toContain('"url": "http://127.0.0.1:7420/mcp/work?host=claude-code&exposure=native"')
  expect(asked.seen).toContain('Connected Claude Code to the gateway. Restart it, or reconnect with /mcp.')
  expect(await readFile(`${path}.bak.1`, 'utf8')).toBe(before)
  const again = await at.unfold([...args, '--json', '--no-input'])
  expect(JSON.parse(again.stdout)).toMatchObject({ client: 'claude', host: 'claude-code', exposure: 'native', changed: false })
  expect((await at.unfold(['disconnect', 'claude', '--yes'])).code).toBe(0)
  expect(await readFile(path, 'utf8')).toBe(before)
  await writeFile(path, '{ "mcpServers": ')
  expect(await at.unfold([...args, '--yes'])).toMatchObject({ code: 1, stderr: expect.stringContaining('was not changed') })
  expect(await readFile(path, 'utf8')).toBe('{ "mcpServers": ')
})

test('a client without URL support gets a command; others get the URL from the configuration', async () => {
  await using at = await home()
  expect(await at.unfold(['connect', 'claude-desktop', '--yes'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('No unfold.json in this folder'),
  })
  const config = join(at.folder, 'unfold.json')
  await writeFile(config, `{ "listen": { "port": 7999 }, "tokens": [{ "name": "a", "hash": "sha256:${'0'.repeat(64)}" }] }`)
  expect((await at.unfold(['connect', 'claude-desktop', '--yes', '--no-verify'])).code).toBe(0)
  const desktop = join(at.folder, '.config', 'Claude', 'claude_desktop_config.json')
  expect(JSON.parse(await readFile(desktop, 'utf8'))).toEqual({
    mcpServers: {
      unfold: {
        command: process.execPath,
        args: [main, 'serve', config, '--stdio', '--host', 'claude-desktop'],
        env: { UNFOLD_HOME: at.env.UNFOLD_HOME },
      },
    },
  })
  expect(await at.unfold(['connect', 'cursor', '--profile', 'work', '--yes'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Unknown profile "work"'),
  })
  const refused = await at.unfold(['connect', 'cursor', '--yes', '--json'])
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('token_required') })
  const cursor = await at.unfold(['connect', 'cursor', '--yes', '--json', '--token', 'unf_x'])
  expect(JSON.parse(cursor.stdout).url).toBe('http://127.0.0.1:7999/mcp?host=cursor')
})

test('connect reports servers that the client also has in its own configuration', async () => {
  await using at = await home()
  const own = { git: { command: 'git-mcp', args: ['--all'] }, other: { command: 'x' } }
  await mkdir(join(at.folder, '.cursor'))
  await writeFile(join(at.folder, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: own }))
  // A gateway on all interfaces is reached locally at the loopback address.
  const listen = { host: '0.0.0.0', port: 7998 }
  const tokens = [{ name: 'a', hash: `sha256:${'0'.repeat(64)}` }]
  await writeFile(join(at.folder, 'unfold.json'), JSON.stringify({ mcpServers: { git: own.git }, listen, tokens }))
  const { stdout, stderr } = await at.unfold(['connect', 'cursor', '--token', 't', '--yes', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ url: 'http://127.0.0.1:7998/mcp?host=cursor', duplicates: ['git'] })
  expect(stderr).toContain('Cursor also has git in its own configuration')
})

test('the exposure depends on the settings of the host, the flag and the configuration', async () => {
  await using at = await home()
  const state = join(at.folder, '.claude.json')
  const entry = async (): Promise<unknown> => JSON.parse(await readFile(state, 'utf8')).mcpServers.unfold
  const off = { ENABLE_TOOL_SEARCH: 'false' }
  const connected = await at.unfold(['connect', 'claude', '--yes'], { env: off })
  expect(connected.stderr).toContain('Exposure: auto. ENABLE_TOOL_SEARCH is "false".')
  expect(await entry()).toEqual({ type: 'http', url: 'http://127.0.0.1:7420/mcp?host=claude-code', alwaysLoad: true })
  await mkdir(join(at.folder, '.claude'))
  await writeFile(join(at.folder, '.claude', 'settings.json'), '{ "env": { "ENABLE_TOOL_SEARCH": "true" } }')
  await at.unfold(['connect', 'claude', '--yes'], { env: off })
  expect(await entry()).toEqual({ type: 'http', url: 'http://127.0.0.1:7420/mcp?host=claude-code&exposure=native' })
  await at.unfold(['connect', 'claude', '--yes', '--exposure', 'search'])
  expect(await entry()).toMatchObject({ url: 'http://127.0.0.1:7420/mcp?host=claude-code&exposure=search', alwaysLoad: true })
  await writeFile(join(at.folder, 'unfold.json'), '{ "exposure": "groups" }')
  const configured = await at.unfold(['connect', 'claude', '--yes'])
  expect(configured.stderr).toContain('Exposure: groups. Set by the gateway configuration.')
  expect(await entry()).toMatchObject({ url: 'http://127.0.0.1:7420/mcp?host=claude-code', alwaysLoad: true })
  await at.unfold(['connect', 'claude', '--yes', '--stdio', '--exposure', 'native', '--no-verify'])
  expect(await entry()).toMatchObject({
    args: expect.arrayContaining(['--stdio', '--host', 'claude-code', '--exposure', 'native']),
  })
  expect(await at.unfold(['connect', 'claude', '--exposure', 'all'])).toMatchObject({ code: 2 })
})

test('a version of Claude Code that does not defer behind a proxy is detected', async () => {
  await using at = await home()
  const bin = join(at.folder, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'claude'), '#!/bin/sh\necho "2.1.197 (Claude Code)"\n', { mode: 0o755 })
  const env = { PATH: `${bin}:${process.env.PATH}`, ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }
  const { stderr } = await at.unfold(['connect', 'claude', '--dry-run'], { env })
  expect(stderr).toContain('Exposure: auto. Claude Code 2.1.197 does not defer tools with a foreign ANTHROPIC_BASE_URL.')
})
