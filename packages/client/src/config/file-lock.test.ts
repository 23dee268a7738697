import { access, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withLock } from './file-lock.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unfold-lock-'))
})
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

const locking = { staleMs: 60_000, timeoutMs: 10_000 }

test('work under a lock is serialized, and a failure releases it', async () => {
  const file = join(folder, 'made', 'one.lock')
  let running = 0
  const most = await Promise.all(
    Array.from({ length: 5 }, (_, at) =>
      withLock(file, locking, async () => {
        const now = ++running
        await new Promise((resolve) => setTimeout(resolve, 5))
        running--
        if (at === 2) throw new Error('it failed')
        return now
      }).catch((error: Error) => error.message),
    ),
  )
  expect(most).toEqual([1, 1, 'it failed', 1, 1])
  await expect(access(file)).rejects.toThrow('ENOENT')
})

test('waiting for a held lock times out, and a stale lock is taken over', async () => {
  const file = join(folder, 'two.lock')
  await writeFile(file, '')
  const work = () => Promise.resolve('done')
  await expect(withLock(file, { ...locking, timeoutMs: 30 }, work)).rejects.toThrow(`${file} is locked by another process`)
  const before = new Date(Date.now() - 2 * locking.staleMs)
  await utimes(file, before, before)
  expect(await withLock(file, locking, work)).toBe('done')
})
