import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fakeLauncher, installing } from '../../client/test/launcher.ts'
import { until } from '../../client/test/processes.ts'
import { npxFolder } from '../src/upstreams/process/npx-cache.ts'
import { fromFile } from './gateway-file.ts'
import { watched } from './upstreams.ts'

describe.skipIf(process.platform === 'win32')('servers that are started through a launcher', () => {
  test('are restarted only after the previous process has cleaned up', async () => {
    await using npx = await fakeLauncher()
    await using all = watched()
    await all.upstreams.apply({ up: { target: npx.target('up', { LAUNCHER_ROLLBACK_MS: '300' }) } })
    await installing(npx, 1)
    all.upstreams.restart('up')
    await until(async () => (await npx.events()).filter(({ what }) => what === 'installing').length === 2, 'the second')
    expect((await npx.events()).map(({ what }) => what)).toEqual(['begun', 'installing', 'rolled-back', 'begun', 'installing'])
    await npx.finish('up')
    await all.reaches('up', 'ready')
    // It is installed now.
    all.upstreams.restart('up')
    await until(() => all.of('connected').length === 2, 'it is running again')
    expect(all.of('state').map(({ state }) => state)).toEqual([
      'starting',
      'installing',
      'starting',
      'installing',
      'starting',
      'ready',
      'starting',
      'ready',
    ])
  })

  test('with the same package: one installs it and the other waits', async () => {
    await using npx = await fakeLauncher()
    await using all = watched()
    await all.upstreams.apply({ one: { target: npx.target('twin') }, two: { target: npx.target('twin') } })
    await installing(npx, 1)
    await until(() => all.upstreams.statuses().some(({ isQueued }) => isQueued === true), 'the other waits')
    expect((await npx.events()).map(({ what }) => what)).toEqual(['begun', 'installing'])
    await npx.finish('twin')
    for (const name of ['one', 'two']) await all.reaches(name, 'ready')
    expect((await npx.events()).map(({ what }) => what)).toEqual(['begun', 'installing', 'installed', 'begun'])
  })

  test('that are in the npx cache are not installed', async () => {
    await using npx = await fakeLauncher()
    await using all = watched()
    const target = npx.target('there')
    const modules = join(npxFolder(['there'], target), 'node_modules')
    await mkdir(modules, { recursive: true })
    await writeFile(join(modules, '.package-lock.json'), '{}')
    await npx.finish('there')
    await all.upstreams.apply({ up: { target } })
    await all.reaches('up', 'ready')
    expect(all.of('state').map(({ state }) => state)).toEqual(['starting', 'ready'])
  })

  test('are logged while they are being installed', async () => {
    await using npx = await fakeLauncher()
    const { messages, running, close } = await fromFile({ mcpServers: { up: npx.target('up') } })
    try {
      await installing(npx, 1)
      await until(() => messages.includes('installing, attempt 1'), 'it is in the log')
      await npx.finish('up')
      await until(() => running.gateway.upstreams.get('up')?.state === 'ready', 'it is ready')
      expect(messages.some((line) => /^installed in [\d.]+ m?s$/u.test(line))).toBe(true)
    } finally {
      await close()
    }
  })
})
