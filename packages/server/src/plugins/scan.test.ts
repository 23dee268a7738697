import { mkdir, mkdtemp, realpath, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scan } from './scan.ts'

async function folder(files: { readonly [name: string]: string }) {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'unfold-scan-')))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true })
    await writeFile(join(path, name), content)
  }
  return {
    path,
    scanned: () => scan(path, { canTypescript: true, most: 10 }),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, maxRetries: 10, retryDelay: 100 }),
  }
}

describe('a folder with a manifest', () => {
  test.each([
    ['{"main":"gone.js"}', 'there is no gone.js in it. Name the module as "main" in plugin.json'],
    ['{}', 'there is no index.js, index.mjs, index.ts in it. Name the module as "main" in plugin.json'],
    ['{"main":"."}', 'it leads out of its folder, and is not loaded. Copy it into the folder'],
    ['{"main":"plugin.json"}', 'its module must end in .js, .mjs, .ts'],
  ])('without a module that can be loaded says so: %s', async (manifest, message) => {
    await using place = await folder({ 'pack/plugin.json': manifest })
    expect(await place.scanned()).toMatchObject({ candidates: [], refusals: [{ key: 'pack', message }] })
  })

  test('is another plugin whenever any of its files was saved', async () => {
    await using place = await folder({
      'pack/plugin.json': '{}',
      'pack/index.js': '',
      'pack/lib/deep/part.js': '1',
      'one.js': '',
    })
    const stamps = async () => (await place.scanned()).candidates.map(({ stamp }) => stamp)
    const [one, pack] = await stamps()
    expect(await stamps()).toEqual([one, pack])
    await writeFile(join(place.path, 'pack/lib/deep/part.js'), '2')
    await utimes(join(place.path, 'pack/lib/deep/part.js'), 1, 1)
    const [sameOne, otherPack] = await stamps()
    expect(sameOne).toBe(one)
    expect(otherPack).not.toBe(pack)
  })
})

test('plugins come in the order of their names, whatever the disk says', async () => {
  await using place = await folder({ 'c.js': '', 'a/plugin.json': '{}', 'a/index.mjs': '', 'b.ts': '', 'B.mjs': '' })
  expect((await place.scanned()).candidates.map(({ key }) => key)).toEqual(['B.mjs', 'a/', 'b.ts', 'c.js'])
})
