import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gatewayFolder } from '../../test/gateway-file.ts'
import { AuditFile } from './audit-file.ts'
import { verifyChain } from './verify.ts'

interface Line {
  readonly type: string
  readonly n?: number
  readonly missing?: number
}

const allLines = async (path: string): Promise<readonly Line[]> =>
  (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/** Without the first record of every file. */
const lines = async (path: string): Promise<readonly Line[]> => (await allLines(path)).filter(({ type }) => type !== 'file')

test('records are written in order, readable by the owner only, and a removed file is created again', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'calls.jsonl')
  const file = new AuditFile(path, { onStatus: () => undefined })
  await Promise.all([1, 2, 3].map((n) => file.write('call', { n })))
  expect((await lines(path)).map(({ n }) => n)).toEqual([1, 2, 3])
  expect((await stat(path)).mode & 0o077).toBe(process.platform === 'win32' ? 0o066 : 0)
  await rm(path)
  expect(await file.write('call', { n: 4 })).toBe(true)
  expect((await lines(path)).map(({ n }) => n)).toEqual([4])
  await file.close()
})

test.skipIf(!existsSync('/dev/full'))(
  'while a disk stays full, records beyond the limit are dropped, and their number is written',
  async () => {
    await using folder = await gatewayFolder()
    const path = join(folder.path, 'calls.jsonl')
    await symlink('/dev/full', path)
    const onStatus: (string | undefined)[] = []
    const file = new AuditFile(path, { onStatus: (problem) => onStatus.push(problem) })
    expect(await file.write('call', { n: 0 })).toBe(false)
    expect(onStatus).toEqual([expect.stringContaining('ENOSPC')])
    await Promise.all(Array.from({ length: 1_010 }, (_, at) => file.write('call', { n: at + 1 })))
    await rm(path)
    await file.close()
    const written = await lines(path)
    expect(written.slice(0, -1).map(({ n }) => n)).toEqual(Array.from({ length: 1_001 }, (_, at) => at))
    expect(written.at(-1)).toMatchObject({ type: 'missing', missing: 10 })
    expect(onStatus.at(-1)).toBeUndefined()
  },
)

test('records continue in a new file when the old one is moved, and through a symbolic link; a folder is reported', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'calls.jsonl')
  const onStatus: (string | undefined)[] = []
  const file = new AuditFile(path, { onStatus: (problem) => onStatus.push(problem) })
  await file.write('call', { n: 1 })
  await rename(path, `${path}.1`)
  await symlink(`${path}.2`, path)
  expect(await file.write('call', { n: 2 })).toBe(true)
  await rm(path)
  await mkdir(path)
  expect(await file.write('call', { n: 3 })).toBe(false)
  expect(onStatus.at(-1)).toContain('is a folder')
  await rm(path, { recursive: true })
  await file.close()
  expect((await Promise.all([`${path}.1`, `${path}.2`, path].map(lines))).flat().map(({ n }) => n)).toEqual([1, 2, 3])
  expect(await verifyChain(path)).toMatchObject({ records: 6, notes: [], last: { seq: 6 } })
})

test.skipIf(process.platform === 'win32')('a pipe without a reader is reported, and nothing waits for it', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'calls.jsonl')
  spawnSync('sh', ['-c', 'mkfifo "$0"', path])
  const onStatus: (string | undefined)[] = []
  const file = new AuditFile(path, { onStatus: (problem) => onStatus.push(problem) })
  expect(await file.write('call', { n: 1 })).toBe(false)
  expect(onStatus).toEqual([expect.stringContaining('ENXIO')])
  // For reading and writing, so that opening does not wait for a reader.
  await using reader = await open(path, 'r+')
  expect(await file.write('call', { n: 2 })).toBe(true)
  const { buffer, bytesRead } = await reader.read(Buffer.alloc(1_000), 0, 1_000)
  expect(buffer.toString('utf8', 0, bytesRead)).toMatch(
    /"n":1,"previous":"[0-9a-f]{64}"\}\n.*"n":2,"previous":"[0-9a-f]{64}"\}\n$/u,
  )
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
