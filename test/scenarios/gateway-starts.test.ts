import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type FakeLauncher, fakeLauncher, installing } from '../../packages/client/test/launcher.ts'
import { until } from '../../packages/client/test/processes.ts'
import { processesWith } from '../../packages/gateway/test/faults/strays.ts'
import { server, watched } from '../../packages/gateway/test/upstreams.ts'
import { verifies } from '../verifies.ts'

/** Returns the maximum number of concurrent installations. */
async function maxConcurrent(npx: FakeLauncher): Promise<number> {
  let [now, most] = [0, 0]
  for (const { what } of await npx.events()) {
    if (what === 'installing') most = Math.max(most, ++now)
    if (what === 'installed' || what === 'rolled-back') now--
  }
  return most
}

verifies('U01', async () => {
  await using npx = await fakeLauncher()
  await using all = watched()
  const names = ['a', 'b', 'c', 'd', 'e']
  const config = (name: string) => ({ target: npx.target(name), startTimeoutMs: 4_000 })
  await all.upstreams.apply(Object.fromEntries(names.map((name) => [name, config(name)])))
  await installing(npx, 2)
  const states = () => all.upstreams.statuses().map(({ state, isQueued = false }) => `${state}${isQueued ? ', queued' : ''}`)
  await until(() => states().includes('starting, queued'), 'the others are queued')
  expect(states().toSorted()).toEqual(['installing', 'installing', 'starting, queued', 'starting, queued', 'starting, queued'])
  const [first] = all.upstreams.statuses().filter(({ state }) => state === 'installing')
  await until(
    () => (all.upstreams.get(first?.name ?? '')?.status.forMs ?? 0) > 5_000,
    'the installation takes longer than startTimeoutMs',
    30_000,
  )
  expect(all.upstreams.get(first?.name ?? '')?.status).toMatchObject({
    state: 'installing',
    attempt: 1,
    lastOutput: `Downloading ${first?.name}`,
  })
  await npx.finish(...names)
  for (const name of names) await until(() => all.names(name).length === 1, `the tool of ${name}`)
  expect(await maxConcurrent(npx)).toBe(2)
  expect((await npx.events()).filter(({ what }) => what === 'begun')).toHaveLength(names.length)
  expect(all.of('installed')).toHaveLength(names.length)
})

verifies('U02', async () => {
  await using npx = await fakeLauncher()
  const all = watched()
  // Longer than the usual grace period before SIGKILL.
  const env = { LAUNCHER_ROLLBACK_MS: '5000' }
  await all.upstreams.apply({ a: { target: npx.target('a', env) }, b: { target: npx.target('b', env) } })
  await installing(npx, 2)
  await all.upstreams.close()
  expect((await npx.events()).filter(({ what }) => what === 'rolled-back')).toHaveLength(2)
  expect(await npx.halfInstalled()).toEqual([])
})

verifies('U03', async () => {
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

verifies('U04', async () => {
  await using npx = await fakeLauncher()
  await using all = watched()
  const folder = join(npx.cache, '_npx', '5b2dd62b9d0bddd4')
  await mkdir(folder, { recursive: true })
  await npx.finish('damaged')
  await all.upstreams.apply({ up: { target: npx.target('damaged') } })
  await all.reaches('up', 'failed')
  expect(all.upstreams.get('up')?.status.lastError).toContain(
    `The npx folder ${folder} is incomplete. Delete it, or run "unfold doctor --fix".`,
  )
  // The server was started only once: a second process would fail in the same way.
  expect((await npx.events()).filter(({ what }) => what === 'begun')).toHaveLength(1)
  await rm(folder, { recursive: true })
  all.upstreams.restart('up')
  await all.reaches('up', 'ready')
})

verifies('U05', async () => {
  await using all = watched({ pace: { initialRetryMs: 20 } })
  await all.upstreams.apply({ up: { target: server('raw.mjs', 'unlisted') }, other: { target: server('raw.mjs') } })
  await until(() => all.of('list_failed').length >= 2, 'two attempts')
  await all.reaches('other', 'ready')
  expect(all.upstreams.get('up')?.status).toMatchObject({
    state: 'degraded',
    lastError: 'server "up" is ready, tools/list failed: not today (-32603)',
  })
  expect(all.of('state', 'up').at(-1)).toMatchObject({ state: 'degraded' })
})

verifies('U06', async () => {
  await using all = watched()
  await all.upstreams.apply({ slow: { target: server('toolbox.mjs', 'slow'), startTimeoutMs: 200 } })
  await until(() => all.of('state').some(({ attempt }) => attempt === 2), 'two attempts')
  expect(all.of('state').find(({ attempt }) => attempt === 2)).toMatchObject({
    state: 'failed',
    error: expect.stringMatching(/^failed to start: no response within 0\.2 s\. .*increase "startTimeoutMs" \(200\)/u),
    retryInMs: expect.any(Number),
  })
})

verifies('U07', async () => {
  if (process.platform !== 'linux') return
  const mark = `stray-${randomUUID()}`
  {
    await using all = watched()
    await all.upstreams.apply({ up: { target: { ...server('raw.mjs', 'strays'), env: { MARK: mark } } } })
    await all.reaches('up', 'ready')
    await until(async () => (await processesWith(mark)).length >= 5, 'all processes run')
  }
  expect(await processesWith(mark)).toEqual([])
})
