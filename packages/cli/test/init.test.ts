import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { home, run, servers } from './command.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 })

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))

test('a new server compiles, runs and is found by name', async () => {
  await using at = await home()
  const ended = await at.unfold(['init', 'My Notes', '--no-install', '--json'])
  expect(ended.code).toBe(0)
  const { name, folder, next } = JSON.parse(ended.stdout)
  expect({ name, next }).toEqual({ name: 'my-notes', next: ['cd My Notes', 'npm install', 'unfold list my-notes'] })
  // These are the keys of MCP.
  const source = await readFile(join(folder, 'src', 'server.ts'), 'utf8')
  expect(source).toContain("description: 'Write a note'")
  expect(source).not.toMatch(/\b(?:about|input|output):/u)
  await symlink(modules, join(folder, 'node_modules'))
  const compiler = join(modules, 'typescript', 'bin', 'tsc')
  expect(await run(process.execPath, [compiler], { env: { PATH: process.env.PATH }, cwd: folder })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  })
  const listed = await at.unfold(['list', name, '--names', '--yes'], { cwd: folder })
  expect(listed).toMatchObject({ code: 0 })
  expect(listed.stdout).toContain('now')
  const noted = await at.unfold(['call', 'now', '--', 'node', 'dist/server.js'], { cwd: folder })
  expect(noted.stdout).toMatch(/^\d{4}-\d\d-\d\dT/u)
})

test('in a clone, npm installs a new server and a generated client without a registry, and both run', async () => {
  await using at = await home()
  const env = { ...at.env, npm_config_cache: join(at.folder, 'cache'), npm_config_offline: 'true' }
  /** npm for the packages of the clone; registry packages are taken from this installation. */
  const install = async (folder: string): Promise<void> => {
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const all = Object.entries<string>({ ...manifest.dependencies, ...manifest.devDependencies })
    const own = all.filter(([name]) => name.startsWith('@unfold-mcp/'))
    expect(own.map(([, version]) => version)).toEqual(own.map(() => expect.stringMatching(/^file:\//u)))
    const offline = { ...manifest, dependencies: Object.fromEntries(own), devDependencies: {}, scripts: {} }
    await writeFile(join(folder, 'package.json'), JSON.stringify(offline))
    const npm = await run('npm', ['install', '--no-audit', '--no-fund', '--no-update-notifier'], { env, cwd: folder })
    expect(npm).toMatchObject({ code: 0 })
    for (const [name] of all.filter(([each]) => !each.startsWith('@unfold-mcp/'))) {
      await mkdir(dirname(join(folder, 'node_modules', name)), { recursive: true })
      await symlink(join(modules, name), join(folder, 'node_modules', name))
    }
    const compiler = join(modules, 'typescript', 'bin', 'tsc')
    expect(await run(process.execPath, [compiler], { env: at.env, cwd: folder })).toEqual({ code: 0, stdout: '', stderr: '' })
  }
  const clone = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[\\/]$/u, '')
  const made = JSON.parse((await at.unfold(['init', 'notes', '--no-install', '--json'])).stdout)
  expect(made).toMatchObject({ clone, installed: false })
  await install(made.folder)
  const called = await at.unfold(['call', 'write_note', '--text', 'Hi', '--', 'node', 'dist/server.js'], { cwd: made.folder })
  expect(called.stdout).toContain('"Hi"')
  const generated = await at.unfold(['generate', '--output', '../client', '--json', '--', 'node', 'dist/server.js'], {
    cwd: made.folder,
  })
  const { folder, clone: from } = JSON.parse(generated.stdout)
  expect(from).toBe(clone)
  await install(folder)
  const now = await run(process.execPath, [join(folder, 'bin.mjs'), 'now'], { env: at.env, cwd: made.folder })
  expect(now.stdout).toMatch(/^\d{4}-\d\d-\d\dT/u)
})

test('a configuration created in a clone refers to an existing schema', async () => {
  await using at = await home()
  await at.unfold(['add', 'desk', '--', ...servers.desk])
  const { $schema } = JSON.parse(await readFile(join(at.folder, 'unfold', 'unfold.json'), 'utf8'))
  const schema = JSON.parse(await readFile(new URL($schema), 'utf8'))
  expect(schema.properties).toHaveProperty('mcpServers')
})

test('a folder that is not empty is rejected', async () => {
  await using at = await home()
  await writeFile(join(at.folder, 'mine.txt'), '')
  const { code, stderr } = await at.unfold(['init', '.', '--no-install'])
  expect(code).toBe(2)
  expect(stderr).toContain('is not empty')
  expect(await readdir(at.folder)).toEqual(['mine.txt'])
})
