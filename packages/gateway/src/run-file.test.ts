import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runningGateways, writeRunFile } from './run-file.ts'

const record = {
  pid: process.pid,
  url: 'http://127.0.0.1:1/mcp',
  admin: 'unfold_admin_x',
  config: '/a',
  transport: 'http' as const,
  startedAt: '2026-01-01T00:00:00.000Z',
}

test('stale run files are removed, and invalid ones are ignored', async () => {
  const home = await mkdtemp(join(tmpdir(), 'unfold-run-'))
  try {
    expect(await runningGateways(home)).toEqual([])
    const takeBack = await writeRunFile(home, record)
    const { pid: gone } = spawnSync(process.execPath, ['--version'])
    const { ppid } = process
    await writeFile(join(home, 'run', `${gone}.json`), JSON.stringify({ ...record, pid: gone }))
    await writeFile(join(home, 'run', `${ppid}.json`), '{"pid":')
    await writeFile(join(home, 'run', 'notes.txt'), 'mine')
    expect(await runningGateways(home)).toEqual([record])
    const left = new Set(await readdir(join(home, 'run')))
    expect(left.has(`${gone}.json`)).toBe(false)
    for (const name of [`${process.pid}.json`, `${ppid}.json`, 'notes.txt']) expect(left.has(name)).toBe(true)
    await writeRunFile(home, { ...record, admin: 'unfold_admin_y' })
    await takeBack()
    expect(await runningGateways(home)).toMatchObject([{ admin: 'unfold_admin_y' }])
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
})

test.skipIf(process.platform === 'win32')('links and pipes are not read', async () => {
  const home = await mkdtemp(join(tmpdir(), 'unfold-run-'))
  const folder = join(home, 'run')
  try {
    await mkdir(folder)
    await writeFile(join(home, 'linked.json'), JSON.stringify(record))
    await symlink(join(home, 'linked.json'), join(folder, `${record.pid}.json`))
    spawnSync('sh', ['-c', 'mkfifo "$0"', join(folder, `${process.ppid}.json`)])
    expect(await readdir(folder)).toHaveLength(2)
    expect(await runningGateways(home)).toEqual([])
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
})
