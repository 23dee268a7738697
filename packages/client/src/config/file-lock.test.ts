import { access, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
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

test('a process that lost its stale lock does not release the lock of the next one', async () => {
  const file = join(folder, 'three.lock')
  const steps: string[] = []
  await withLock(file, locking, async () => {
    // Suspended for longer than a lock may be held.
    const before = new Date(Date.now() - 2 * locking.staleMs)
    await utimes(file, before, before)
    let release: () => void = () => undefined
    const second = withLock(
      file,
      locking,
      () =>
        new Promise<void>((resolve) => {
          steps.push('second')
          release = resolve
        }),
    )
    while (steps.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    setTimeout(() => release(), 50)
    void second.then(() => steps.push('second released'))
  })
  await expect(access(file)).resolves.toBeUndefined()
  await withLock(file, locking, async () => void steps.push('third'))
  expect(steps).toEqual(['second', 'second released', 'third'])
})

test('of many processes that find a stale lock, one at a time takes it over', async () => {
  const file = join(folder, 'four.lock')
  await writeFile(file, '')
  const before = new Date(Date.now() - 2 * locking.staleMs)
  await utimes(file, before, before)
  let running = 0
  const counts = await Promise.all(
    Array.from({ length: 10 }, () =>
      withLock(file, locking, async () => {
        const now = ++running
        await new Promise((resolve) => setTimeout(resolve, 5))
        running--
        return now
      }),
    ),
  )
  expect(counts).toEqual(counts.map(() => 1))
})

test('a stale lock of a program that uses folders as locks is taken over too', async () => {
  const file = join(folder, 'five.lock')
  await mkdir(file)
  const work = () => Promise.resolve('done')
  await expect(withLock(file, { ...locking, timeoutMs: 30 }, work)).rejects.toThrow('is locked by another process')
  const before = new Date(Date.now() - 2 * locking.staleMs)
  await utimes(file, before, before)
  expect(await withLock(file, locking, work)).toBe('done')
})
