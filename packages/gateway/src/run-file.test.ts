import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runningGateways, writeRunFile } from './run-file.ts'

const record = {
  pid: process.pid,
  url: 'http://127.0.0.1:1/mcp',
  admin: 'unfold_admin_x',
  config: '/a',
  startedAt: '2026-01-01T00:00:00.000Z',
}

test('those that are gone are forgotten, and what is no record is not believed', async () => {
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
    expect(new Set(await readdir(join(home, 'run')))).toEqual(new Set([`${process.pid}.json`, `${ppid}.json`, 'notes.txt']))
    await writeRunFile(home, { ...record, admin: 'unfold_admin_y' })
    await takeBack()
    expect(await runningGateways(home)).toMatchObject([{ admin: 'unfold_admin_y' }])
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
})
