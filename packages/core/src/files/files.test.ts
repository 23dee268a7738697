import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FileKindError, openRegularFile, readRegularFile, readRegularFileSync, replaceFile } from './index.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unfold-files-'))
})
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

test('a file is replaced with its permissions, and nothing else is left in the folder', async () => {
  const file = join(folder, 'a.json')
  expect(await replaceFile(file, 'one')).toBe(true)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await replaceFile(file, Buffer.from('two'), { mode: 0o664, isDurable: false })).toBe(true)
  expect(await readFile(file, 'utf8')).toBe('two')
  expect((await stat(file)).mode & 0o777).toBe(0o664)
  expect(await readdir(folder)).toEqual(['a.json'])
})

test('a failure, or a confirmation that is denied, leaves the old file', async () => {
  const file = join(folder, 'a.json')
  await writeFile(file, 'old')
  expect(await replaceFile(file, 'new', { confirm: async () => false })).toBe(false)
  const failing = replaceFile(file, 'new', {
    confirm: async () => {
      throw new Error('no space')
    },
  })
  await expect(failing).rejects.toThrow('no space')
  await expect(replaceFile(folder, 'new')).rejects.toThrow('rename')
  expect(await readFile(file, 'utf8')).toBe('old')
  expect(await readdir(folder)).toEqual(['a.json'])
})

describe.skipIf(process.platform === 'win32')('only regular files are read', () => {
  test('through symbolic links too', async () => {
    await writeFile(join(folder, 'file'), 'text')
    await symlink('file', join(folder, 'link'))
    expect((await readRegularFile(join(folder, 'link'))).toString()).toBe('text')
    expect(readRegularFileSync(join(folder, 'link')).toString()).toBe('text')
    await expect(openRegularFile(join(folder, 'link'), { isLinkRejected: true })).rejects.toThrow('ELOOP')
    await expect(readRegularFile(join(folder, 'none'))).rejects.toThrow('ENOENT')
  })

  test('and the error names what else it is', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')])
    await symlink('pipe', join(folder, 'link'))
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(join(folder, 'socket'), resolve))
    try {
      for (const [path, kind] of [
        [join(folder, 'pipe'), 'a named pipe'],
        [join(folder, 'link'), 'a named pipe'],
        [join(folder, 'socket'), 'a socket'],
        [folder, 'a folder'],
        ['/dev/null', 'a device'],
      ] as const) {
        await expect(readRegularFile(path)).rejects.toEqual(new FileKindError(path, kind))
        expect(() => readRegularFileSync(path)).toThrow(`${path} is ${kind}, not a regular file`)
      }
    } finally {
      server.close()
    }
  })

  test('also if the path is replaced by a pipe while it is opened', async () => {
    const file = join(folder, 'file')
    for (let round = 0; round < 20; round++) {
      await writeFile(file, 'text')
      const reading = readRegularFile(file).catch((error: unknown) => error)
      await rm(file)
      execFileSync('mkfifo', [file])
      const read = await reading
      expect(Buffer.isBuffer(read) || read instanceof Error).toBe(true)
      await rm(file)
    }
  })
})
