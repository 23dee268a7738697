import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { packageVersion } from './package-version.ts'

test('the version is that of the nearest package.json with one, also through a symbolic link, and 0.0.0 if there is none', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'unfold-version-')))
  try {
    const script = join(folder, 'app', 'dist', 'main.js')
    const save = async (file: string, text: string): Promise<void> => {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
    }
    await save(script, '')
    await save(join(folder, 'app', 'package.json'), '{ "name": "app", "version": "3.2.1" }')
    await save(join(folder, 'package.json'), '{ "version": "9.9.9" }')
    expect(packageVersion(script)).toBe('3.2.1')
    await save(join(folder, 'app', 'dist', 'package.json'), '{ "type": "module" }')
    expect(packageVersion(script)).toBe('3.2.1')
    await save(join(folder, 'app', 'package.json'), 'no JSON')
    expect(packageVersion(script)).toBe('9.9.9')
    await symlink(script, join(folder, 'link'))
    await save(join(folder, 'app', 'package.json'), '{ "version": "3.2.1" }')
    expect(packageVersion(join(folder, 'link'))).toBe('3.2.1')
    expect(packageVersion(join(folder, 'nowhere.js'))).toBe('0.0.0')
    expect(packageVersion(undefined)).not.toBe('')
  } finally {
    await rm(folder, { recursive: true, maxRetries: 10, retryDelay: 100 })
  }
})
