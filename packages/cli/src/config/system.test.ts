import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { machine } from '../../test/machine.ts'
import { projectRoot } from './system.ts'

describe('the project root', () => {
  test('is the nearest ancestor with a repository', async () => {
    await using fixture = await machine()
    const below = join(fixture.project, 'a', 'b')
    await mkdir(below, { recursive: true })
    await mkdir(join(fixture.project, '.git'))
    expect(await projectRoot({ ...fixture.system, cwd: below })).toBe(fixture.project)
  })

  test('is the folder itself without a repository', async () => {
    await using fixture = await machine()
    const below = join(fixture.project, 'a')
    await mkdir(below)
    expect(await projectRoot({ ...fixture.system, home: fixture.project, cwd: below })).toBe(below)
  })

  test('is never the home folder, which may be a dotfiles repository', async () => {
    await using fixture = await machine()
    const below = join(fixture.home, 'notes')
    await mkdir(below)
    await mkdir(join(fixture.home, '.git'))
    expect(await projectRoot({ ...fixture.system, cwd: below })).toBe(below)
  })
})
