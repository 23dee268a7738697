import { readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { home, run } from './command.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 })

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))

test('a new server compiles, runs and is found by its name', async () => {
  await using at = await home()
  const ended = await at.unfold(['init', 'My Notes', '--no-install', '--json'])
  expect(ended.code).toBe(0)
  const { name, folder, next } = JSON.parse(ended.stdout)
  expect({ name, next }).toEqual({ name: 'my-notes', next: ['cd My Notes', 'npm install', 'unfold list my-notes'] })
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

test('a folder that is in use is left alone', async () => {
  await using at = await home()
  await writeFile(join(at.folder, 'mine.txt'), '')
  const { code, stderr } = await at.unfold(['init', '.', '--no-install'])
  expect(code).toBe(2)
  expect(stderr).toContain('is not empty')
  expect(await readdir(at.folder)).toEqual(['mine.txt'])
})
