import { expect, test } from 'vitest'
import { outlineIn } from './outline.ts'

const identityWith = (groups: object) => ({ catalog: { version: '1', tools: [] }, groups }) as never

test('groups have the description that the server sends', () => {
  const groups = {
    files: { description: 'Files', parent: 'work', activator: 'activate_files' },
    odd: { description: 1 },
    none: 1,
  }
  expect(outlineIn(identityWith(groups))?.groups).toEqual([
    { name: 'files', description: 'Files', parent: 'work', activator: 'activate_files' },
    { name: 'odd' },
    { name: 'none' },
  ])
})

test('"about" of an earlier server is read as the description', () => {
  expect(outlineIn(identityWith({ files: { about: 'Files' }, mail: { about: 'Old', description: 'New' } }))?.groups).toEqual([
    { name: 'files', description: 'Files' },
    { name: 'mail', description: 'New' },
  ])
})
