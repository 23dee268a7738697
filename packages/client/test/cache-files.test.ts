import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CachedTools, type CacheKey, fileCache, readCached } from '../src/cache/cache.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unfold-cache-files-'))
})
afterAll(() => rm(folder, { recursive: true, maxRetries: 10, retryDelay: 100 }))

const key = (name: string, rest: Partial<CacheKey> = {}): CacheKey => ({ name, server: 's', credential: '', view: '', ...rest })

const entry = (...names: readonly string[]): CachedTools => ({
  tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })),
  identity: names.join(),
  savedAt: 1_700_000_000_000,
  server: { name: 'server', version: '1.0.0' },
  protocolVersion: '2026-07-28',
})

test('concurrent processes can write the same entries without a torn read', async () => {
  const directory = join(folder, 'shared')
  const writer = fileURLToPath(new URL('servers/writer.mjs', import.meta.url))
  const runs = ['a', 'b', 'c'].map((who) => promisify(execFile)(process.execPath, [writer, directory, who, '60']))
  for (const { stdout } of await Promise.all(runs)) expect(stdout).toBe('0')
  const files = await readdir(directory)
  expect(files).toHaveLength(3)
  expect(files.every((file) => file.endsWith('.json'))).toBe(true)
}, 300_000)

test('cached data of a server can be read by name without connecting', async () => {
  const directory = join(folder, 'read')
  const cache = fileCache(directory)
  await cache.set(key('git hub'), entry('issue'))
  await cache.set(key('git hub', { view: 'groups=a' }), entry('issue', 'label'))
  await cache.set(key('git.hub'), entry('other'))
  await writeFile(join(directory, 'git_hub.junk.json'), 'no cache')
  const warnings: string[] = []
  const found = await readCached(directory, 'git hub', { onWarning: (warning) => void warnings.push(warning) })
  expect(found.map(({ view, tools }) => `${view}: ${tools.map(({ name }) => name).join()}`).sort()).toEqual([
    ': issue',
    'groups=a: issue,label',
  ])
  expect(warnings).toHaveLength(1)
  expect(await readCached(directory)).toHaveLength(3)
  expect(await readCached(join(folder, 'nowhere'))).toEqual([])
})

test('files are readable by their owner only, and contain neither credential nor URL', async () => {
  const directory = join(folder, 'private')
  await fileCache(directory).set(key('it', { credential: 'a-secret-token', server: 'address' }), entry('one'))
  const [file = ''] = await readdir(directory)
  expect((await stat(directory)).mode & 0o777).toBe(0o700)
  expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600)
  expect(JSON.stringify(await readCached(directory))).not.toMatch(/a-secret-token|address/u)
})

test('an entry can be deleted, also a missing one', async () => {
  const cache = fileCache(join(folder, 'deleted'))
  await cache.set(key('it'), entry('one'))
  await cache.delete(key('it'))
  await cache.delete(key('it'))
  expect(await cache.get(key('it'))).toBeUndefined()
})

test('names that are not valid file names cannot escape the folder', async () => {
  const directory = join(folder, 'names')
  const cache = fileCache(directory)
  for (const name of ['../../escape', '', '.', 'a/b', '\u0000', 'x'.repeat(500)]) await cache.set(key(name), entry(name))
  expect(await readdir(directory)).toHaveLength(6)
  expect((await readCached(directory, '../../escape')).map(({ name }) => name)).toEqual(['../../escape'])
})

test('the folder is pruned: the oldest entries, and temporary files of killed processes', async () => {
  const directory = join(folder, 'many')
  const cache = fileCache(directory)
  await cache.set(key('first'), entry('one'))
  const old = new Date(Date.now() - 86_400_000)
  for (let i = 0; i < 510; i++) {
    const path = join(directory, `old.${i}.json`)
    await writeFile(path, '{}')
    await utimes(path, old, old)
  }
  await writeFile(join(directory, 'left.tmp'), 'half')
  await utimes(join(directory, 'left.tmp'), old, old)
  await fileCache(directory).set(key('last'), entry('two'))
  const files = await readdir(directory)
  expect(files).toHaveLength(500)
  expect(files).not.toContain('left.tmp')
  expect(await cache.get(key('first'))).toBeDefined()
  expect(await cache.get(key('last'))).toBeDefined()
})
