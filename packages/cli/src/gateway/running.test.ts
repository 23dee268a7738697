import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeRunFile } from '@unfold-mcp/gateway/run-file'
import { expect, onTestFinished, test } from 'vitest'
import { restartServers } from './running.ts'

test('a hanging gateway times out', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-home-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))
  let asked = 0
  const silent = createServer(() => void asked++)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    silent.closeAllConnections()
    silent.close()
  })
  await writeRunFile(folder, {
    pid: process.pid,
    url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/mcp`,
    admin: 'unfold_admin_of_the_test',
    config: 'unfold.json',
    transport: 'http',
    startedAt: new Date(0).toISOString(),
  })
  const io = { env: { UNFOLD_HOME: folder }, home: folder, cwd: folder, signal: new AbortController().signal }
  expect(await restartServers(() => true, io, 200)).toEqual([])
  expect(asked).toBe(1)
})
