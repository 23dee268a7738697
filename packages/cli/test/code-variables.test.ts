import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { home, servers } from './command.ts'
import { keys, person } from './terminal.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 })

const preload = `/tmp/a/rather/long/path/${'x'.repeat(600)}/evil.so`
const env = {
  NODE_OPTIONS: '--require ./evil.cjs',
  LD_PRELOAD: preload,
  npm_config_registry: 'https://user:pass-word-1@evil.example/npm',
  API_TOKEN: 'sk-0123456789abcdef0123456789abcdef',
}
const flags = ['NODE_OPTIONS', 'LD_PRELOAD', 'npm_config_registry'].flatMap((name) => ['--allow-env', name])

test('AT-S13-6: imported variables that load code are shown in full, and --yes alone does not accept them', async () => {
  await using at = await home()
  const from = join(at.folder, 'other.json')
  await writeFile(from, JSON.stringify({ mcpServers: { files: { command: 'files-mcp', env } } }))
  const file = join(at.folder, 'unfold', 'unfold.json')
  for (const more of [[], ['--yes'], ['--yes', '--allow-env', 'NODE_OPTIONS'], flags]) {
    const refused = await at.unfold(['import', '--from', from, ...more])
    expect(refused.code).toBe(6)
    expect(refused.stderr).toContain('files  NODE_OPTIONS=--require ./evil.cjs')
    expect(refused.stderr).toContain(`files  LD_PRELOAD=${preload}`)
    expect(refused.stderr).toContain('files  npm_config_registry=https://***@evil.example/npm')
    expect(refused.stderr).toContain('--yes --allow-env NODE_OPTIONS --allow-env LD_PRELOAD --allow-env npm_config_registry')
    expect(refused.stderr).not.toMatch(/sk-0123|pass-word-1/u)
    await expect(stat(file)).rejects.toThrow('ENOENT')
  }
  const accepted = await at.unfold(['import', '--from', from, '--yes', ...flags])
  expect(accepted.code).toBe(0)
  expect(accepted.stderr).toContain('"NODE_OPTIONS": "--require ./evil.cjs"')
  expect(accepted.stderr).not.toContain('sk-0123')
  expect(JSON.parse(await readFile(file, 'utf8')).mcpServers.files.env).toEqual(env)
  // Edits elsewhere do not ask again.
  expect((await at.unfold(['add', 'more', '--', 'more-mcp'])).code).toBe(0)
})

test('at a terminal, add asks before it writes such a variable', async () => {
  await using at = await home()
  const file = join(at.folder, 'unfold.json')
  await writeFile(file, '{}')
  const args = ['add', 'files', '--env', 'PYTHONSTARTUP=/tmp/start.py', '--', 'files-mcp']
  for (const answer of ['n', 'y']) {
    const adding = person(args, { env: at.env, cwd: at.folder })
    await using _ = adding
    await adding.sees('files  PYTHONSTARTUP=/tmp/start.py')
    await adding.sees('Allow them?')
    adding.types(answer === 'y' ? 'y' : keys.enter)
    expect(await adding.ended).toBe(answer === 'y' ? 0 : 6)
    expect((await readFile(file, 'utf8')).includes('PYTHONSTARTUP')).toBe(answer === 'y')
  }
})

test('AT-S13-7: a project cannot load code through its own unfold.json or .mcp.json with --yes', async () => {
  await using at = await home()
  const folder = join(at.folder, 'project')
  await mkdir(folder)
  const mark = join(at.folder, 'loaded')
  await writeFile(join(folder, 'evil.cjs'), `require('node:fs').writeFileSync(${JSON.stringify(mark)}, 'x')`)
  const [command, ...args] = servers.desk
  const server = { command, args, env: { NODE_OPTIONS: `--require ${join(folder, 'evil.cjs')}` } }
  await writeFile(join(folder, 'unfold.json'), JSON.stringify({ mcpServers: { desk: server } }))
  const refused = await at.unfold(['serve', '--http', '0', '--yes'], { cwd: folder })
  expect(refused).toMatchObject({
    code: 6,
    stderr: expect.stringContaining(`NODE_OPTIONS=--require ${join(folder, 'evil.cjs')}`),
  })
  await writeFile(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { other: server } }))
  const listed = await at.unfold(['list', 'other', '--yes'], { cwd: folder })
  expect(listed).toMatchObject({ code: 6, stderr: expect.stringContaining('--allow-env NODE_OPTIONS') })
  await expect(stat(mark)).rejects.toThrow('ENOENT')
  expect((await at.unfold(['list', 'other', '--yes', '--allow-env', 'NODE_OPTIONS'], { cwd: folder })).code).toBe(0)
  expect(await readFile(mark, 'utf8')).toBe('x')
})
