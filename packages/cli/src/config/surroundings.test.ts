import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { machine } from '../../test/machine.ts'
import { projectRoot } from './surroundings.ts'

describe('the top of a project', () => {
  test('is the nearest folder above with a repository in it', async () => {
    await using place = await machine()
    const below = join(place.project, 'a', 'b')
    await mkdir(below, { recursive: true })
    await mkdir(join(place.project, '.git'))
    expect(await projectRoot({ ...place.surroundings, cwd: below })).toBe(place.project)
  })

  test('is the folder itself when there is no repository', async () => {
    await using place = await machine()
    const below = join(place.project, 'a')
    await mkdir(below)
    expect(await projectRoot({ ...place.surroundings, home: place.project, cwd: below })).toBe(below)
  })

  test('is never the home folder, where some keep a repository of their settings', async () => {
    await using place = await machine()
    const below = join(place.home, 'notes')
    await mkdir(below)
    await mkdir(join(place.home, '.git'))
    expect(await projectRoot({ ...place.surroundings, cwd: below })).toBe(below)
  })
})
