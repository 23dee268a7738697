import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { home, main } from './command.ts'
import { keys, person } from './terminal.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 })

test('a client is told after a yes, and forgets; what else its file holds stays to the byte', async () => {
  await using at = await home()
  const path = join(at.folder, '.claude.json')
  const before =
    '\uFEFF{\r\n\t"mine": 1, // kept\r\n\t"mcpServers": {\r\n\t\t"git": { "command": "x", "env": { "KEY": "sk-of-git" } }\r\n\t}\r\n}'
  await writeFile(path, before)
  const words = ['connect', 'claude', '--token', 'unf_secret', '--profile', 'work']
  const blocked = await at.unfold(words)
  expect(blocked).toMatchObject({ code: 6, stderr: expect.stringContaining('--yes') })
  expect(await readFile(path, 'utf8')).toBe(before)
  await using asked = person(words, { env: at.env, cwd: at.folder })
  await asked.sees('"unfold": {')
  await asked.sees('Connect Claude Code to the gateway?')
  asked.types('y')
  asked.types(keys.enter)
  expect(await asked.ended).toBe(0)
  expect(asked.seen).not.toMatch(/unf_secret|sk-of-git/u)
  expect(await readFile(path, 'utf8')).toContain('"url": "http://127.0.0.1:7420/mcp/work"')
  expect(await readFile(`${path}.bak.1`, 'utf8')).toBe(before)
  const again = await at.unfold([...words, '--json', '--no-input'])
  expect(JSON.parse(again.stdout)).toMatchObject({ client: 'claude', changed: false })
  expect((await at.unfold(['disconnect', 'claude', '--yes'])).code).toBe(0)
  expect(await readFile(path, 'utf8')).toBe(before)
  await writeFile(path, '{ "mcpServers": ')
  expect(await at.unfold([...words, '--yes'])).toMatchObject({ code: 1, stderr: expect.stringContaining('left alone') })
  expect(await readFile(path, 'utf8')).toBe('{ "mcpServers": ')
})

test('a client that takes no address starts a gateway of its own; others get the address of the configuration', async () => {
  await using at = await home()
  expect(await at.unfold(['connect', 'claude-desktop', '--yes'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no unfold.json'),
  })
  const config = join(at.folder, 'unfold.json')
  await writeFile(config, `{ "listen": { "port": 7999 }, "tokens": [{ "name": "a", "hash": "sha256:${'0'.repeat(64)}" }] }`)
  expect((await at.unfold(['connect', 'claude-desktop', '--yes'])).code).toBe(0)
  const desktop = join(at.folder, '.config', 'Claude', 'claude_desktop_config.json')
  expect(JSON.parse(await readFile(desktop, 'utf8'))).toEqual({
    mcpServers: { unfold: { command: process.execPath, args: [main, 'serve', config, '--stdio'] } },
  })
  expect(await at.unfold(['connect', 'cursor', '--profile', 'work', '--yes'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no profile "work"'),
  })
  const cursor = await at.unfold(['connect', 'cursor', '--yes', '--json'])
  expect(JSON.parse(cursor.stdout).url).toBe('http://127.0.0.1:7999/mcp')
  expect(cursor.stderr).toContain('asks for a token')
})

test('whoever connects is told which of its own servers are behind the gateway as well', async () => {
  await using at = await home()
  const own = { git: { command: 'git-mcp', args: ['--all'] }, other: { command: 'x' } }
  await mkdir(join(at.folder, '.cursor'))
  await writeFile(join(at.folder, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: own }))
  // Reached from everywhere, it is reached from here by the address of this machine.
  const listen = { host: '0.0.0.0', port: 7998 }
  const tokens = [{ name: 'a', hash: `sha256:${'0'.repeat(64)}` }]
  await writeFile(join(at.folder, 'unfold.json'), JSON.stringify({ mcpServers: { git: own.git }, listen, tokens }))
  const { stdout, stderr } = await at.unfold(['connect', 'cursor', '--token', 't', '--yes', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ url: 'http://127.0.0.1:7998/mcp', twice: ['git'] })
  expect(stderr).toContain('Cursor has git of its own as well')
})
