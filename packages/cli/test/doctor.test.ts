import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { guarded } from './authorization.ts'
import { type Home, home, servers } from './command.ts'

async function examined(at: Home, mcpServers: object, ...args: readonly string[]) {
  await writeFile(join(at.folder, '.claude.json'), JSON.stringify({ mcpServers }))
  const { code, stdout } = await at.unfold(['doctor', '--json', ...args])
  const { ok, findings } = JSON.parse(stdout)
  const about = (name: string) => findings.find((finding: { about: string }) => finding.about === name)
  return { code, ok, findings, about }
}

const [command, ...args] = servers.desk

test('all checks pass on a working machine, and each server is shown with its tools and identity', async () => {
  await using at = await home()
  const { code, ok, about } = await examined(at, { desk: { command, args } })
  expect({ code, ok }).toEqual({ code: 0, ok: true })
  expect(about('desk')).toMatchObject({
    state: 'ok',
    tools: 7,
    identity: expect.stringMatching(/^[\da-f-]{36}$/u),
    ms: expect.any(Number),
  })
  expect(about('Node')).toMatchObject({ state: 'ok' })
})

test('each failure has one next step, and the exit code is not 0', async () => {
  await using at = await home()
  const all = {
    missing: { command: 'no-such-command-anywhere' },
    dead: { command: process.execPath, args: ['-e', 'process.exit(1)'] },
    away: { type: 'http', url: 'http://127.0.0.1:9/mcp' },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of a configuration
    broken: { command: 'node', env: { KEY: '${NOT_SET_ANYWHERE}' } },
  }
  const { code, ok, findings, about } = await examined(at, all)
  expect({ code, ok }).toEqual({ code: 1, ok: false })
  expect(about('missing')).toMatchObject({ state: 'failed', message: expect.stringContaining('command not found: ') })
  expect(about('dead')).toMatchObject({ state: 'failed', reason: 'server_died' })
  expect(about('away')).toMatchObject({ state: 'failed', reason: 'unreachable' })
  expect(about(join(at.folder, '.claude.json'))).toMatchObject({
    state: 'failed',
    message: expect.stringContaining('NOT_SET_ANYWHERE'),
  })
  const failed = findings.filter(({ state }: { state: string }) => state === 'failed')
  expect(failed.every(({ next }: { next: unknown }) => typeof next === 'string')).toBe(true)
})

test('a server that requires a sign-in is not a failure, and project servers are not started', async () => {
  await using at = await home()
  await using vault = await guarded()
  const project = join(at.folder, 'project')
  await mkdir(project)
  await writeFile(join(project, '.mcp.json'), JSON.stringify({ mcpServers: { theirs: { command, args } } }))
  await writeFile(join(at.folder, '.claude.json'), JSON.stringify({ mcpServers: { vault: { type: 'http', url: vault.url } } }))
  const { code, stdout } = await at.unfold(['doctor', '--json'], { cwd: project })
  const { findings } = JSON.parse(stdout)
  expect(code).toBe(0)
  expect(findings).toContainEqual(expect.objectContaining({ about: 'vault', state: 'login', next: 'unfold login vault' }))
  expect(findings).toContainEqual(expect.objectContaining({ about: 'theirs', state: 'note', next: 'unfold list theirs' }))
})

test('a cache file from the future means that the clock is wrong', async () => {
  await using at = await home()
  await at.unfold(['list', '--', ...servers.desk])
  const folder = join(at.folder, 'unfold', 'cache', 'tools')
  const { readdir } = await import('node:fs/promises')
  const [file = ''] = await readdir(folder)
  const later = new Date(Date.now() + 86_400_000)
  await utimes(join(folder, file), later, later)
  const { about } = await examined(at, {}, '--offline')
  expect(about(folder)).toMatchObject({ state: 'failed', next: expect.stringContaining('clock') })
})

test('a folder that is not writable is reported', async () => {
  await using at = await home()
  await writeFile(join(at.folder, 'file'), '')
  const folder = join(at.folder, 'file', 'unfold')
  const { code, stdout } = await at.unfold(['doctor', '--json'], { env: { UNFOLD_HOME: folder } })
  expect(code).toBe(1)
  const next = expect.stringContaining('UNFOLD_HOME')
  expect(JSON.parse(stdout).findings).toContainEqual(expect.objectContaining({ about: folder, state: 'failed', next }))
})

test('one server can be checked alone, and people get lines of text', async () => {
  await using at = await home()
  const { code, stdout } = await at.unfold(['doctor', '--', ...servers.desk])
  expect(code).toBe(0)
  expect(stdout).toMatch(/ok {4}.*node: 7 tools, MCP /u)
})
