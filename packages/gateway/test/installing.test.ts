import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { type FakeLauncher, fakeLauncher } from '../../client/test/launcher.ts'
import { until } from '../../client/test/processes.ts'
import { npxFolder } from '../src/upstreams/npx-cache.ts'
import { fromFile } from './gateway-file.ts'
import { watched } from './upstreams.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 })

const installing = (npx: FakeLauncher, count: number): Promise<void> =>
  until(async () => (await npx.halfInstalled()).length === count, `${count} are being installed`, 30_000)

/** How many were installed at once, at most. */
async function mostAtOnce(npx: FakeLauncher): Promise<number> {
  let [now, most] = [0, 0]
  for (const { what } of await npx.events()) {
    if (what === 'installing') most = Math.max(most, ++now)
    if (what === 'installed' || what === 'rolled-back') now--
  }
  return most
}

describe.skipIf(process.platform === 'win32')('servers that are started through a launcher', () => {
  test('U01: are installed two at a time, and startTimeoutMs ends none of them', async () => {
    await using npx = await fakeLauncher()
    await using all = watched()
    const names = ['a', 'b', 'c', 'd', 'e']
    const config = (name: string) => ({ target: npx.target(name), startTimeoutMs: 4_000 })
    await all.upstreams.apply(Object.fromEntries(names.map((name) => [name, config(name)])))
    await installing(npx, 2)
    const states = () => all.upstreams.statuses().map(({ state, isQueued = false }) => `${state}${isQueued ? ', queued' : ''}`)
    await until(() => states().includes('starting, queued'), 'the others wait')
    expect(states().toSorted()).toEqual(['installing', 'installing', 'starting, queued', 'starting, queued', 'starting, queued'])
    const [first] = all.upstreams.statuses().filter(({ state }) => state === 'installing')
    await until(() => (all.upstreams.get(first?.name ?? '')?.status.forMs ?? 0) > 5_000, 'longer than a start may take', 30_000)
    expect(all.upstreams.get(first?.name ?? '')?.status).toMatchObject({
      state: 'installing',
      attempt: 1,
      lastOutput: `Downloading ${first?.name}`,
    })
    await npx.finish(...names)
    for (const name of names) await until(() => all.names(name).length === 1, `the tool of ${name}`, 30_000)
    expect(await mostAtOnce(npx)).toBe(2)
    expect((await npx.events()).filter(({ what }) => what === 'begun')).toHaveLength(names.length)
    expect(all.of('installed')).toHaveLength(names.length)
  })

  test('U02: end with the gateway when they have cleaned up, and not in the middle of it', async () => {
    await using npx = await fakeLauncher()
    const all = watched()
    // Longer than other servers have before they are killed.
    const env = { LAUNCHER_ROLLBACK_MS: '5000' }
    await all.upstreams.apply({ a: { target: npx.target('a', env) }, b: { target: npx.target('b', env) } })
    await installing(npx, 2)
    await all.upstreams.close()
    expect((await npx.events()).filter(({ what }) => what === 'rolled-back')).toHaveLength(2)
    expect(await npx.halfInstalled()).toEqual([])
  })

  test('are started again only when the one before has cleaned up', async () => {
    await using npx = await fakeLauncher()
    await using all = watched()
    await all.upstreams.apply({ up: { target: npx.target('up', { LAUNCHER_ROLLBACK_MS: '300' }) } })
    await installing(npx, 1)
    all.upstreams.restart('up')
    await until(async () => (await npx.events()).filter(({ what }) => what === 'installing').length === 2, 'the second', 30_000)
    expect((await npx.events()).map(({ what }) => what)).toEqual(['begun', 'installing', 'rolled-back', 'begun', 'installing'])
    await npx.finish('up')
    await all.reaches('up', 'ready')
    // It is installed now.
    all.upstreams.restart('up')
    await until(() => all.of('connected').length === 2, 'it is there again', 30_000)
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

  test('share a package: one installs it and the other waits for that', async () => {
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

  test('that npx has in its cache are not installed', async () => {
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

  test('U03: that fail say the first line that tells why, and are not tried again at once', async () => {
    await using npx = await fakeLauncher()
    await using all = watched()
    await all.upstreams.apply({ station: { target: npx.target('unset') } })
    await all.reaches('station', 'failed')
    const { lastError, attempt } = all.upstreams.get('station')?.status ?? {}
    expect(lastError).toBe(
      'server "station" failed to start: STATION_TOKEN is not set. Set it, or remove the server with "unfold remove station".',
    )
    expect(attempt).toBe(1)
    const { retryInMs = 0 } = all.of('state').at(-1) ?? {}
    expect(retryInMs).toBeGreaterThanOrEqual(2_500)
  })

  test('U04: that npx left half installed name the folder to delete, and start once it is gone', async () => {
    await using npx = await fakeLauncher()
    await using all = watched()
    const folder = join(npx.folder, '_npx', '5b2dd62b9d0bddd4')
    await mkdir(folder, { recursive: true })
    await npx.finish('damaged')
    await all.upstreams.apply({ up: { target: npx.target('damaged') } })
    await all.reaches('up', 'failed')
    expect(all.upstreams.get('up')?.status.lastError).toContain(
      `The npx folder ${folder} is incomplete. Delete it, or run "unfold doctor --fix".`,
    )
    // It was started once: nothing would have changed for a second process.
    expect((await npx.events()).filter(({ what }) => what === 'begun')).toHaveLength(1)
    await rm(folder, { recursive: true })
    all.upstreams.restart('up')
    await all.reaches('up', 'ready')
  })

  test('are in the log while they are being installed', async () => {
    await using npx = await fakeLauncher()
    const { said, running, close } = await fromFile({ mcpServers: { up: npx.target('up') } })
    try {
      await installing(npx, 1)
      await until(() => said.includes('installing, attempt 1'), 'it is in the log')
      await npx.finish('up')
      await until(() => running.gateway.upstreams.get('up')?.state === 'ready', 'it is ready', 30_000)
      expect(said.some((line) => /^installed in [\d.]+ m?s$/u.test(line))).toBe(true)
    } finally {
      await close()
    }
  })
})
