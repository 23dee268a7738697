import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gatewayFolder } from '../../test/gateway-file.ts'
import { AuditFile } from './audit-file.ts'

const lines = async (path: string): Promise<readonly { readonly n?: number; readonly missing?: number }[]> =>
  (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

test('lines are written in order, the file is readable by its owner only, and a deleted file is created again', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'calls.jsonl')
  const file = new AuditFile(path, { onStatus: () => undefined })
  await Promise.all([1, 2, 3].map((n) => file.write({ n })))
  expect((await lines(path)).map(({ n }) => n)).toEqual([1, 2, 3])
  expect((await stat(path)).mode & 0o077).toBe(process.platform === 'win32' ? 0o066 : 0)
  await rm(path)
  expect(await file.write({ n: 4 })).toBe(true)
  expect((await lines(path)).map(({ n }) => n)).toEqual([4])
  await file.close()
})

test.skipIf(!existsSync('/dev/full'))('a full disk loses at most some lines, and their number is written', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'calls.jsonl')
  await symlink('/dev/full', path)
  const onStatus: (string | undefined)[] = []
  const file = new AuditFile(path, { onStatus: (problem) => onStatus.push(problem) })
  expect(await file.write({ n: 0 })).toBe(false)
  expect(onStatus).toEqual([expect.stringContaining('ENOSPC')])
  await Promise.all(Array.from({ length: 1_010 }, (_, at) => file.write({ n: at + 1 })))
  await rm(path)
  await file.close()
  const written = await lines(path)
  expect(written.slice(0, -1).map(({ n }) => n)).toEqual(Array.from({ length: 1_001 }, (_, at) => at))
  expect(written.at(-1)).toMatchObject({ missing: 10 })
  expect(onStatus.at(-1)).toBeUndefined()
})

test('after the file is moved, lines go to a new one, following symbolic links; a folder in its place is reported', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'calls.jsonl')
  const onStatus: (string | undefined)[] = []
  const file = new AuditFile(path, { onStatus: (problem) => onStatus.push(problem) })
  await file.write({ n: 1 })
  await rename(path, `${path}.1`)
  await symlink(`${path}.2`, path)
  expect(await file.write({ n: 2 })).toBe(true)
  await rm(path)
  await mkdir(path)
  expect(await file.write({ n: 3 })).toBe(false)
  expect(onStatus.at(-1)).toContain('EISDIR')
  await rm(path, { recursive: true })
  await file.close()
  expect((await Promise.all([`${path}.1`, `${path}.2`, path].map(lines))).flat().map(({ n }) => n)).toEqual([1, 2, 3])
})

test.skipIf(process.platform === 'win32')('a pipe without a reader is reported, and nothing waits for it', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'calls.jsonl')
  spawnSync('sh', ['-c', 'mkfifo "$0"', path])
  const onStatus: (string | undefined)[] = []
  const file = new AuditFile(path, { onStatus: (problem) => onStatus.push(problem) })
  expect(await file.write({ n: 1 })).toBe(false)
  expect(onStatus).toEqual([expect.stringContaining('ENXIO')])
  // For reading and writing, so that opening does not wait for a reader.
  await using reader = await open(path, 'r+')
  expect(await file.write({ n: 2 })).toBe(true)
  const { buffer, bytesRead } = await reader.read(Buffer.alloc(1_000), 0, 1_000)
  expect(buffer.toString('utf8', 0, bytesRead)).toMatch(/"n":1\}\n.*"n":2\}\n$/u)
  expect(onStatus.at(-1)).toBeUndefined()
  await file.close()
})

test('a file that cannot be created is reported on open, before the first line', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'missing', 'calls.jsonl')
  const onStatus: (string | undefined)[] = []
  const file = new AuditFile(path, { onStatus: (problem) => onStatus.push(problem) })
  await file.open()
  expect(onStatus).toEqual([expect.stringContaining('ENOENT')])
  await mkdir(join(folder.path, 'missing'))
  await file.open()
  expect(onStatus).toEqual([expect.any(String), undefined])
  expect(await readFile(path, 'utf8')).toBe('')
  await file.close()
})
