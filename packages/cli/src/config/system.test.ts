import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { machine } from '../../test/machine.ts'
import { projectRoot } from './system.ts'

describe('the top of a project', () => {
  test('is the nearest folder above with a repository in it', async () => {
    await using fixture = await machine()
    const below = join(fixture.project, 'a', 'b')
    await mkdir(below, { recursive: true })
    await mkdir(join(fixture.project, '.git'))
    expect(await projectRoot({ ...fixture.system, cwd: below })).toBe(fixture.project)
  })

  test('is the folder itself when there is no repository', async () => {
    await using fixture = await machine()
    const below = join(fixture.project, 'a')
    await mkdir(below)
    expect(await projectRoot({ ...fixture.system, home: fixture.project, cwd: below })).toBe(below)
  })

  test('is never the home folder, where some keep a repository of their settings', async () => {
    await using fixture = await machine()
    const below = join(fixture.home, 'notes')
    await mkdir(below)
    await mkdir(join(fixture.home, '.git'))
    expect(await projectRoot({ ...fixture.system, cwd: below })).toBe(below)
  })
})
