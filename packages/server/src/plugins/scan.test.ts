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
    scan: () => scan(path, { canTypescript: true, maxPlugins: 10 }),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, maxRetries: 10, retryDelay: 100 }),
  }
}

describe('a folder with a manifest', () => {
  test.each([
    ['{"main":"gone.js"}', 'it has no gone.js. Set "main" in plugin.json to the path of the module'],
    ['{}', 'it has no index.js, index.mjs, index.ts. Set "main" in plugin.json to the path of the module'],
    ['{"main":"."}', 'it resolves to a path outside its folder. Copy it into the folder'],
    ['{"main":"plugin.json"}', 'its module must have one of the extensions .js, .mjs, .ts'],
  ])('is rejected without a loadable module: %s', async (manifest, message) => {
    await using dir = await folder({ 'pack/plugin.json': manifest })
    expect(await dir.scan()).toMatchObject({ candidates: [], refusals: [{ key: 'pack', message }] })
  })

  test('gets a new stamp when any of its files is saved', async () => {
    await using dir = await folder({
      'pack/plugin.json': '{}',
      'pack/index.js': '',
      'pack/lib/deep/part.js': '1',
      'one.js': '',
    })
    const stamps = async () => (await dir.scan()).candidates.map(({ stamp }) => stamp)
    const [one, pack] = await stamps()
    expect(await stamps()).toEqual([one, pack])
    await writeFile(join(dir.path, 'pack/lib/deep/part.js'), '2')
    await utimes(join(dir.path, 'pack/lib/deep/part.js'), 1, 1)
    const [sameOne, otherPack] = await stamps()
    expect(sameOne).toBe(one)
    expect(otherPack).not.toBe(pack)
  })
})

test('plugins are sorted by name, not in directory order', async () => {
  await using dir = await folder({ 'c.js': '', 'a/plugin.json': '{}', 'a/index.mjs': '', 'b.ts': '', 'B.mjs': '' })
  expect((await dir.scan()).candidates.map(({ key }) => key)).toEqual(['B.mjs', 'a/', 'b.ts', 'c.js'])
})
